// Makes the lists of the tasks from their classes: src/worker/tasks/FOLDER/index.ts, src/worker/tasks/index.ts,
// src/worker/tasks/exports.ts, src/worker/tasks/architectures.ts, src/worker/tasks/compared.ts, and for the gallery demo/any/handlers.ts. A file of a folder of tasks is a handler if its
// class has an `@answer` in its docblock; its `@sample` is an input, and params, with which the gallery begins.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { format } from 'oxfmt';

const ROOT = new URL('../', import.meta.url);
const read = (path) => readFileSync(new URL(path, ROOT), 'utf8');
const WORKER = 'src/worker';
const MADE = 'made from the classes by `npm run generate`';

/** What a folder's list has of a class, in this order. */
const FACTS = [
  'takes',
  'architectures',
  'modelTypes',
  'label',
  'keys',
  'encoders',
  'processor',
  'readsTexts',
  'hasClasses',
  'models',
  'main',
  'beside',
  'besideTypes',
  'besideKeys',
  'divided',
  'besideModel',
  'nodes',
  'nodeProcessors',
  'generates',
  'sentenceTransformers',
  'files',
  'nearest',
  'ultralytics',
];

/** What only a class that is loaded can say. */
const FUNCTIONS = new Set(['handlerConfig', 'filesOf']);

/**
 * Returns the files of the handlers: those of `handlers/` first, then those of each folder of tasks.
 * @returns {readonly { readonly name: string, readonly folder: string, readonly path: string, readonly docblock: string, readonly sample?: object, readonly className: string, readonly isGeneric: boolean }[]}
 * @throws for a file that is meant as a handler and is none, and for two of one name
 */
export function handlerSources() {
  const sources = ['handlers', ...folders().map((name) => `tasks/${name}`)].flatMap((folder) =>
    readdirSync(new URL(`${WORKER}/${folder}/`, ROOT))
      .filter((file) => file.endsWith('.ts'))
      .toSorted()
      .flatMap((file) => handlerOf(folder, file) ?? []),
  );
  for (const [at, { name, path }] of sources.entries()) {
    const other = sources.findIndex((one) => one.name === name);
    if (other < at) throw new Error(`${path}: there is a handler ${name} already, ${sources[other].path}.`);
  }
  return sources;
}

/** Returns what the file of a handler says; undefined for another file. */
function handlerOf(folder, file) {
  const path = `${WORKER}/${folder}/${file}`;
  const text = read(path);
  const [, whole, className, isGeneric] =
    /\n(\/\*\*\n(?: \*.*\n)* \*\/)\nexport class (\w+)(<)?/.exec(`\n${text}`) ?? [];
  if (!whole?.includes('\n * @answer ')) {
    const isMeant =
      /export (?:default )?class/.test(text) && /static override readonly (?:huggingFace|nearest)\b/.test(text);
    if (!isMeant || folder === 'handlers') return undefined;
    throw new Error(
      `${path} needs \`export class\`, after a docblock of several lines that ends with @answer: what it answers.`,
    );
  }
  const name = file.slice(0, -3).replaceAll('-', '_');
  const expected = name.replace(/(^|_)(\w)/g, (_, __, letter) => letter.toUpperCase());
  if (!/^[a-z][a-z\d]*(?:_[a-z\d]+)*$/.test(name) || className !== expected)
    throw new Error(`${path}: the class of a handler is named as its file, ${expected} in ${file.toLowerCase()}.`);
  if (whole.includes('<!--')) throw new Error(`${path}: its docblock goes into the pages, and cannot have "<!--".`);
  const [tag = '', sample] = /\n \* @sample ((?:(?!\n \* @)[^])*)/.exec(whole) ?? [];
  return {
    name,
    folder,
    path,
    docblock: whole.replace(tag, ''),
    sample: sample && sampleOf(path, sample.replaceAll(/\n \* */g, ' ')),
    className,
    isGeneric: isGeneric !== undefined,
  };
}

function sampleOf(path, text) {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`${path}: @sample must be followed by JSON: ${cause.message}`, { cause });
  }
}

function folders() {
  return readdirSync(new URL(`${WORKER}/tasks/`, ROOT), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => {
      if (/^[a-z][a-z\d-]*$/.test(name)) return name;
      throw new Error(
        `${WORKER}/tasks/${name}: a folder's name begins with a letter, and has lowercase letters and "-".`,
      );
    })
    .toSorted();
}

/**
 * Returns the lists by their paths.
 * @param {(path: string) => Promise<Record<string, any>>} load returns a module of the repository
 */
export async function taskLists(load) {
  const sources = handlerSources();
  await checkOrders(sources, load);
  const lists = {};
  const names = [];
  for (const folder of new Set(sources.map((one) => one.folder))) {
    if (folder === 'handlers') continue;
    const own = sources.filter((one) => one.folder === folder);
    const name = folder.slice('tasks/'.length);
    names.push({ name, constant: constantOf(name) });
    lists[`${WORKER}/${folder}/index.ts`] = `/** The tasks of this folder, ${MADE}. */
import type { TaskDescriptor } from '../../../contract/task.js';
${typeImports(own, './')}
/** By the handler's name. */
export const ${constantOf(name)} = {
${(await Promise.all(own.map((one) => entryOf(one, './', load)))).join('\n')}
} as const satisfies Readonly<Record<string, TaskDescriptor>>;
`;
  }
  const base = sources.filter((one) => one.folder === 'handlers');
  lists[`${WORKER}/tasks/index.ts`] = `/** All tasks, and the handlers that they extend: ${MADE}. */
import type { TaskDescriptor } from '../../contract/task.js';
${typeImports(base, '../handlers/')}
${names.map(({ name, constant }) => `import { ${constant} } from './${name}/index.js';`).join('\n')}

/** By the handler's name. */
export const BUILT_IN = {
${(await Promise.all(base.map((one) => entryOf(one, '../handlers/', load)))).join('\n')}
${names.map(({ constant }) => `  ...${constant},`).join('\n')}
} as const satisfies Readonly<Record<string, TaskDescriptor>>;

/** The same, for any name. */
export const TASKS: Readonly<Record<string, TaskDescriptor>> = BUILT_IN;
`;
  lists[`${WORKER}/tasks/exports.ts`] = `/**
 * The public names of the tasks: ${MADE}.
 *
 * \`sideEffects\` of \`package.json\` names this file. Otherwise Vite without any config, which puts a worker into one
 * script, never runs the modules that it exports.
 */
${sources
  .filter(({ folder }) => folder !== 'handlers')
  .map(({ path }) => `export * from './${path.slice(`${WORKER}/tasks/`.length, -3)}.js';`)
  .join('\n')}
`;
  const entries = sources.map(async ({ name, path, className, sample }) => {
    const { takes, huggingFace } = (await load(path))[className];
    const parts = Object.values(huggingFace?.nodes ?? {}).flat();
    return `  ${name}: ${JSON.stringify({ takes, ...(parts.length > 1 && { parts }), ...sample })},`;
  });
  lists['demo/any/handlers.ts'] = `/** What the gallery knows of each handler: ${MADE}. */
import type { HandlerName } from '../../src/worker/handlers/registry.js';
import type { KnownHandler } from './task.js';

export const HANDLERS: { readonly [Name in HandlerName]: KnownHandler } = {
${(await Promise.all(entries)).join('\n')}
};
`;
  const handlers = {};
  for (const { name, path, className } of sources) handlers[name] = (await load(path))[className];
  lists[`${WORKER}/tasks/architectures.ts`] = architectureList(handlers);
  lists[`${WORKER}/tasks/compared.ts`] = comparedList();
  const options = JSON.parse(read('.oxfmtrc.json'));
  const formatted = await Promise.all(
    Object.entries(lists).map(async ([path, text]) => [path, (await format(path, text, options)).code]),
  );
  return Object.fromEntries(formatted);
}

/** @throws if two tasks have one `order`: which of them is the nearest would follow from their names */
async function checkOrders(sources, load) {
  const known = new Map();
  for (const { path, className } of sources) {
    const { [className]: Class } = await load(path);
    for (const { order } of Object.hasOwn(Class, 'nearest') ? Class.nearest : []) {
      if (known.has(order))
        throw new Error(`${path}: the order ${order} of \`nearest\` is that of ${known.get(order)}.`);
      known.set(order, path);
    }
  }
}

/** Returns imports of the classes with type parameters, which get their types: inference would lose their defaults. */
function typeImports(sources, from) {
  return sources
    .filter(({ isGeneric }) => isGeneric)
    .map(({ path, className }) => `import type { ${className} } from '${from}${fileOf(path)}.js';`)
    .join('\n');
}

async function entryOf({ name, path, className, isGeneric }, from, load) {
  const { [className]: Class } = await load(path);
  const type = isGeneric ? `: Promise<new () => ${className}>` : '';
  const { huggingFace, takes } = Class;
  const own = (key) => (Object.hasOwn(Class, key) ? Class[key] : undefined);
  const facts = { ...huggingFace, takes, nearest: own('nearest'), ultralytics: own('ultralytics') };
  const unknown = Object.keys(facts).find((key) => !FACTS.includes(key) && !FUNCTIONS.has(key));
  if (unknown !== undefined) throw new Error(`${path}: add ${unknown} to FACTS of scripts/task-lists.mjs.`);
  const given = FACTS.filter((key) => facts[key] !== undefined && facts[key] !== false);
  return `  ${name}: {
    load: async ()${type} => (await import('${from}${fileOf(path)}.js')).${className},
${given.map((key) => `    ${key}: ${JSON.stringify(facts[key])},`).join('\n')}
  },`;
}

/** Returns the module with the classes of transformers of which an ending says nothing, or the wrong task. */
function architectureList(handlers) {
  const { transformers, groups } = JSON.parse(read('scripts/architectures/classes.json'));
  const endings = Object.entries(handlers)
    .filter(([, { huggingFace: { label, keys, encoders } = {} }]) => (label ?? keys ?? encoders) === undefined)
    .flatMap(([name, { huggingFace }]) => (huggingFace?.architectures ?? []).map((ending) => [ending, name]))
    .toSorted(([one], [other]) => other.length - one.length);
  const rows = groups.flatMap(({ task, handler, classes }) => {
    // The repository's files say which of two it is, or that it is none.
    if (handler?.includes(' or ') || task.startsWith('features of')) return [];
    const byEnding = {};
    for (const name of classes) {
      const [ending, byName] = endings.find(([one]) => name.endsWith(one)) ?? [];
      // A class that a handler names in full is that handler's, whatever the file says: the handler may be newer.
      if (ending === name) continue;
      if (byName === (handler ?? undefined) && (handler || !name.endsWith('Model'))) continue;
      const end = ending ?? /(?:For[A-Z]\w*|Model)$/.exec(name)?.[0] ?? '';
      (byEnding[end] ??= []).push(name.slice(0, name.length - end.length));
    }
    return Object.entries(byEnding).map(
      ([ending, names]) =>
        `{ task: '${task}', ${handler ? `handler: '${handler}', ` : ''}ending: '${ending}', beginnings: '${names.join(' ')}' },`,
    );
  });
  return `/** Architectures that are known by their whole names, ${MADE} and \`scripts/architectures\`. */

/** Classes of one task, with one ending. */
export interface KnownArchitectures {
  /** Their task, in words. */
  readonly task: string;
  /** The handler that runs them; without it, none does. */
  readonly handler?: string;
  readonly ending: string;
  /** The names without the ending, separated by spaces. */
  readonly beginnings: string;
}

/** Of transformers ${transformers}: the classes whose endings say nothing, or the wrong task. */
const KNOWN: readonly KnownArchitectures[] = [
${rows.join('\n')}
];

/** Returns what is known of a class; undefined if its ending says its task. */
export function knownArchitecture(name: string): KnownArchitectures | undefined {
  return KNOWN.find(
    ({ ending, beginnings }) =>
      name.endsWith(ending) && beginnings.split(' ').includes(name.slice(0, name.length - ending.length)),
  );
}

/** Returns a class's task in words; undefined if its name does not say it. */
export function taskOfArchitecture(name: string): string | undefined {
  const [, task] = /For([A-Z]\\w*)$/.exec(name) ?? [];
  return knownArchitecture(name)?.task ?? task?.replace(/\\B(?=[A-Z][a-z])/g, ' ').toLowerCase();
}
`;
}

/** The folders of tiny models, whose answers are compared with Python's. */
const MODELS = ['tasks', 'generation', 'pictures', 'sounds'].map((name) => `test/models/${name}`);

/** Returns the classes that tests compare with Python, by the rows of the tasks and by the models' own files. */
export function comparedClasses() {
  const found = new Set();
  for (const folder of MODELS)
    for (const name of readdirSync(new URL(folder, ROOT))) {
      const path = `${folder}/${name}`;
      if (existsSync(new URL(`${path}/config.json`, ROOT)))
        for (const one of JSON.parse(read(`${path}/config.json`)).architectures ?? []) found.add(one);
      if (folder === MODELS[0] && name.endsWith('.json'))
        for (const { architecture } of JSON.parse(read(path)).rows) found.add(architecture);
    }
  return [...found].filter((name) => /^[A-Z]\w*$/.test(name)).toSorted();
}

/** Returns the list of the classes that are compared, by their endings. */
function comparedList() {
  const byEnding = {};
  for (const name of comparedClasses()) {
    const ending = /(?:For[A-Z]\w*|Model)$/.exec(name)?.[0] ?? '';
    (byEnding[ending] ??= []).push(name.slice(0, name.length - ending.length));
  }
  const rows = Object.entries(byEnding).map(([ending, names]) => `'${ending}': '${names.join(' ')}',`);
  return `/** The classes of models whose answers tests compare with Python's, ${MADE} and from \`test/models\`. */

/** By the ends of their names: how these begin, separated by spaces. */
const COMPARED: Readonly<Record<string, string>> = {
${rows.join('\n')}
};

/** Returns whether a test compares the answers of a class with Python's. @param name of the class, as in config.json */
export function isCompared(name: string): boolean {
  return Object.entries(COMPARED).some(
    ([ending, beginnings]) =>
      name.endsWith(ending) && beginnings.split(' ').includes(name.slice(0, name.length - ending.length)),
  );
}
`;
}

function fileOf(path) {
  return path.slice(path.lastIndexOf('/') + 1, -3);
}

function constantOf(folder) {
  return folder.toUpperCase().replaceAll('-', '_');
}
