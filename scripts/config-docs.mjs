// Makes docs/model-config.schema.json, the pages of methods, the tables in docs/ (of handlers, keys, settings and error
// codes), the code blocks of the pages, and what the code must know of a handler's class before it is loaded: each from
// the code itself. It is the first part of `npm run generate`, which is run after every change of one of these; unit
// tests compare.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { ROOMS } from './lint/rooms.mjs';
import { methodPages, methodSections } from './method-docs.mjs';
import { paramSchemas, settingTexts } from './param-schemas.mjs';
import { handlerSources, taskLists } from './task-lists.mjs';
import { SPECS } from './tests/map.mjs';

const ROOT = new URL('../', import.meta.url);
const SCHEMA = new URL('../docs/model-config.schema.json', import.meta.url);
const DOCS = new URL('../docs/', import.meta.url);
/** The pages for users, by their paths from docs/, without those that are made as a whole. */
const WRITTEN = readdirSync(DOCS, { recursive: true })
  .filter((name) => /^(?!decisions|methods\/).*\.md$/.test(name))
  .toSorted();
/** The pages that have such tables, by their paths from docs/. */
export const PAGES = [...WRITTEN, '../ARCHITECTURE.md', '../CONTRIBUTING.md'].filter((name) =>
  /<!-- (?:keys|table) of /.test(readFileSync(new URL(name, DOCS), 'utf8')),
);
const SOURCES = {
  registry: 'worker/handlers/registry',
  schema: 'shared/schema',
  models: 'worker/models/config',
  transforms: 'worker/transforms/transforms-schema',
  errors: 'contract/errors',
  meanings: 'contract/error-meanings',
  settings: 'contract/settings',
  metrics: 'shared/metrics/built-in',
  threads: 'shared/threads',
  budget: 'page/workers/budget',
};

/** What an app's developer does about an error, by its code. */
export const ADVICE = {
  network: 'Call `initialize()` again. What has been downloaded is kept.',
  'model-not-found':
    'Check the URL in the message. A dev server often answers a missing file with its `index.html`, and that counts as missing too.',
  'model-format':
    'Compare the file with the original. Git LFS pointers and truncated uploads are the usual causes. After a file was edited, [update its hash](command-line.md#hashes).',
  'model-config': 'Correct the key that the message names; [model-config.md](model-config.md) says what it may be.',
  'unknown-handler':
    'Name a built-in handler, or connect to a worker of your own ([handlers.md](handlers.md)). A Python handler does not run in a browser.',
  'backend-failed': 'Nothing, as long as another backend runs. Otherwise `diagnose()` has the reason of each backend.',
  'backend-wrong': 'Nothing, as long as another backend runs. Please report the model and the GPU to the engine.',
  'no-backend':
    'Read the reasons in the message. Usually `backends` allows too few of them, or the model has an operator that no engine has.',
  'invalid-input': 'Correct the input or the option that the message names.',
  'image-decode': 'Tell the user. HEIC and TIFF, for instance, are not decoded by most browsers.',
  'image-too-large': 'Scale the image down first, or raise `maxImagePixels` in the config.',
  'inference-failed': "Compare the input's dims with `describe().inputs`; the engine's own error is the `cause`.",
  'state-lost': 'Send the whole input again.',
  'handler-failed': "Read `stage` and `cause`: the error is in the handler's own code.",
  'batch-contract': 'Make the stage return one result for each row, in the same order.',
  'not-cloneable': 'Pass (or return) plain data: no functions, no DOM nodes, no class instances.',
  'not-initialized': 'Wait for `initialize()`, or use `load()`, which does.',
  disposed: 'Make another client.',
  aborted: 'Nothing: your own signal asked for it.',
  timeout: 'Show it to the user, raise `timeout`, or send fewer requests.',
  'queue-full':
    'Try again later, or send less: `jobQueueStatus` says how much room is left. `jobQueueSize` raises the limit.',
  'worker-failed':
    "Check that the worker's URL in the message loads, that the Content-Security-Policy allows it, and that the module calls `expose`. Vite and webpack build the built-in worker: publish all files of the build. esbuild, Rollup and Parcel do not build it: `npx tabserve copy` and the option `assets` supply it ([hosting](hosting.md#esbuild-rollup-and-parcel)).",
  'worker-lost': 'Call again. Another worker is being opened already.',
  'device-lost': 'Call again. Another worker is being opened already.',
  'out-of-memory': 'Use a smaller input, batch or model. `maxMemory` replaces a worker before it gets there.',
  unsupported: 'Choose another way; the message says which there are.',
};

/** Adds the texts of settings to their entries. */
function withTexts(entries) {
  const texts = settingTexts();
  return Object.fromEntries(
    Object.entries(entries).map(([key, entry]) => [key, { ...entry, description: texts[key] }]),
  );
}

/** Returns the handler classes by name. */
async function classes({ loadHandler, HANDLER_NAMES }) {
  return Object.fromEntries(await Promise.all(HANDLER_NAMES.map(async (name) => [name, await loadHandler(name)])));
}

/** Returns the schema of a class with descriptions: its own keys, and those of its base classes. */
function schemaOf(handler, described) {
  const parent = Object.getPrototypeOf(handler);
  return {
    ...(parent && parent !== Function.prototype ? schemaOf(parent, described) : {}),
    ...described[handler.name],
  };
}

/** Returns the keys of `engine:`, which the docs describe as the types do. */
function engineSchema({ ENGINE_SCHEMA }, described) {
  return Object.fromEntries(
    Object.entries(ENGINE_SCHEMA).map(([key, schema]) => [
      key,
      { ...schema, description: described.EngineOptions[key].description },
    ]),
  );
}

/** The levels of the schema down to the keys of a definition. */
const LEVELS = 4;

/** Returns JSON with a line for each member down to a level: a change of a key is a change of a line, and what is installed is short. */
function inLines(value, levels) {
  if (levels === 0 || typeof value !== 'object' || Array.isArray(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${inLines(one, levels - 1)}`);
  return `{\n${members.join(',\n')}\n}`;
}

export async function configSchema({ registry, models, transforms }, described) {
  const section = (properties, description) => ({
    type: 'object',
    description,
    properties,
    additionalProperties: false,
  });
  const schemas = Object.entries(await classes(registry)).map(([name, handler]) => [
    name,
    schemaOf(handler, described),
  ]);
  // A handler's own schema leaves the steps to parseTransforms; an editor can complete them.
  const steps = {
    ...transforms.TRANSFORMS_SCHEMA,
    ...schemas.find(([, { imageProcessing }]) => imageProcessing)[1].imageProcessing,
  };
  const detailed = (schema) =>
    schema.imageProcessing ? { ...schema, imageProcessing: { $ref: '#/definitions/imageProcessing' } } : schema;
  const { handler, engine, ...serving } = withTexts(models.CONFIG_SCHEMA);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'model-config.yaml of TabServe',
    type: 'object',
    properties: {
      handler: {
        description: handler.description,
        anyOf: schemas.map(([name]) => ({ $ref: `#/definitions/${name}` })),
      },
      engine: section(engineSchema(models, described), engine.description),
      ...serving,
    },
    definitions: {
      ...Object.fromEntries(schemas.map(([name, schema]) => [name, section(detailed(schema), `handler: of ${name}.`)])),
      imageProcessing: steps,
    },
  };
}

export async function tablesOf(
  { registry, schema: { expected }, models, transforms, errors, meanings, settings, metrics, threads, budget },
  described,
) {
  const { image_classifier, text_classifier, ...others } = await classes(registry);
  const handlers = [image_classifier, text_classifier, ...Object.values(others)];
  // Several handlers may have the keys of a class that is no handler itself.
  const own = [...new Set([...handlers.map(Object.getPrototypeOf), ...handlers])].map((handler) => [
    handler.name,
    described[handler.name] ?? {},
  ]);
  const steps = transforms.TRANSFORMS_SCHEMA.items.anyOf
    .filter(({ properties }) => properties)
    .map(({ properties }) => Object.entries(properties)[0]);
  const { handler: _handler, engine: _engine, nodes: _nodes, ...serving } = models.CONFIG_SCHEMA;
  const sections = taskSections(await classes(registry), expected, described);
  const placed = new Set(
    WRITTEN.flatMap((name) =>
      Array.from(
        readFileSync(new URL(name, DOCS), 'utf8').matchAll(/<!-- table of task (\w+) -->/g),
        ([, task]) => task,
      ),
    ),
  );
  return {
    ...Object.fromEntries(own.map(([name, schema]) => [name, keyTable(schema, expected, true)])),
    steps: table(
      ['Step', 'What it does', 'Options'],
      steps.map(([name, schema]) => [code(name), schema.description, optionsOf(schema, expected)]),
    ),
    'explain images': keyTable(described.ImageExplainParams, expected),
    'explain texts': keyTable(described.TextExplainParams, expected),
    'explain tokens': keyTable(described.TokenExplainParams, expected),
    'explain answers': keyTable(described.AnswerExplainParams, expected),
    engine: keyTable(engineSchema(models, described), expected),
    serving: keyTable(withTexts(serving), expected),
    settings: settingsTable(withTexts(settings.SERVING), expected),
    'client settings': settingsTable(withTexts(settings.CLIENT_SETTINGS), expected),
    'keys over HTTP': keyTable(withTexts({ ...settings.OVER_HTTP, useJobTicket: serving.useJobTicket }), expected),
    'sequence settings': settingsTable(withTexts(settings.SEQUENCE_SETTINGS), expected),
    'request settings': settingsTable(withTexts(settings.REQUEST_SETTINGS), expected),
    errors: errorTable(errors, meanings),
    metrics: metricsTable(metrics),
    threads: threadsTable(threads, budget),
    handlers: handlersTable(await classes(registry)),
    ...Object.fromEntries(sections.map(([name, section]) => [`task ${name}`, section])),
    // A task without a page of its own.
    tasks: sections
      .filter(([name]) => !placed.has(name))
      .map(([, section]) => section)
      .join('\n\n'),
    ...methodSections(),
    rooms: roomsTable(),
    specs: specsTable(),
  };
}

export function withTables(page, tables) {
  return page.replace(/(<!-- (?:keys|table) of (\w[\w ]*) -->\n)[^]*?(?=<!-- end -->)/g, (_, start, name) => {
    if (tables[name] === undefined) throw new Error(`There is no table of ${name}.`);
    return `${start}\n${tables[name]}\n\n`;
  });
}

/** Returns the source of a handler's class, by the handler's name. */
function handlerSource(name) {
  return handlerSources().find((one) => one.name === name);
}

const INPUTS = {
  image: 'an image',
  text: 'a text',
  'image-or-text': 'an image, or a text',
  audio: 'audio',
  'audio-or-text': 'audio, or a text',
  tensors: 'a tensor, or tensors by name; lists in lists, or one element, stand for a tensor',
};

/** Returns the table of handlers. The answer of each is the tag `@answer` of its class. */
function handlersTable(handlers) {
  const rows = Object.entries(handlers).map(([name, { takes, huggingFace }]) => {
    const { docblock } = handlerSource(name);
    const [, answer] = /\n \* @answer ([^]*?)\n \*\/$/.exec(docblock);
    const [, input] = /\n \* @input (.*)\n/.exec(docblock) ?? [];
    const architectures = huggingFace?.architectures ?? [];
    return [
      code(name),
      input ?? INPUTS[takes],
      answer.replace(/\s*\n \*\s*/g, ' '),
      architectures.map((ending) => code(`…${ending}`)).join(', '),
    ];
  });
  return table(['Handler', 'Input', 'Answer', '`architectures` of Hugging Face'], rows);
}

/**
 * Returns a section for each task, by its handler's name, whose answers are compared with transformers' pipelines: what the class's docblock says, its
 * keys, and the architectures of `test/models/tasks`.
 */
function taskSections(handlers, expected, described) {
  return Object.entries(handlers).flatMap(([name, handler]) => {
    const rows = new URL(`test/models/tasks/${name}.json`, ROOT);
    if (!existsSync(rows)) return [];
    const { docblock } = handlerSource(name);
    const [, text, , answer] = /^\/\*\*\n([^]*?)(\n \* @input .*)?\n \* @answer ([^]*?)\n \*\/$/.exec(docblock);
    const [, input = INPUTS[handler.takes]] = /\n \* @input (.*)\n/.exec(docblock) ?? [];
    const lines = (part) =>
      part
        .replace(/\n \*$/gm, '\n')
        .replace(/^ \* ?/gm, '')
        // A paragraph is one line, as is an item of a list.
        .replace(/(\S) *\n(?!\n|- )\s*/g, '$1 ')
        .replace(/(?<!\n)\n(?=- )/g, '\n\n')
        .replace(/(?<=\n- .*\n)\n(?=- )/g, '');
    const own = described[handler.name] ?? {};
    const architectures = JSON.parse(readFileSync(rows, 'utf8')).rows.map(({ architecture }) => code(architecture));
    const section = [
      `## ${name}`,
      lines(text),
      `It takes ${input}, and answers ${lines(answer)}.`,
      ...(Object.keys(own).length > 0 ? [keyTable(own, expected, true)] : []),
      `Compared with Python: ${[...new Set(architectures)].join(', ')}.`,
    ];
    return [[name, section.join('\n\n')]];
  });
}

/** Returns the table of a handler's keys. A request may give all but the `readOnly` ones. */
function keyTable(schema, expected, ofHandler = false) {
  const rows = keysOf(schema).map(([key, one]) => [
    code(key),
    cell(expected(one)),
    ...(ofHandler ? [key.includes('.') || one.readOnly ? '' : 'yes'] : []),
    [one.description, one.default === undefined ? [] : `Default ${code(JSON.stringify(one.default))}.`]
      .flat()
      .join(' '),
  ]);
  return table(['Key', 'Value', ...(ofHandler ? ['`params`'] : []), 'Meaning'], rows);
}

/**
 * Returns a page with its code blocks made anew: a block after `<!-- path -->` is that file. Of a test it is a part, from its
 * first `test(` on.
 */
export function withSnippets(page, read) {
  return page.replace(/(<!-- ((?:public|test|examples)\/\S+\.\w+) -->\n```\w+\n)[^]*?```/g, (_, start, path) => {
    const text = read(path);
    return `${start}${(path.endsWith('.spec.ts') ? text.slice(text.indexOf('\ntest(') + 1) : text).trimEnd()}\n\`\`\``;
  });
}

function settingsTable(settings, expected) {
  const rows = Object.entries(settings).map(([key, one]) => [
    code(key),
    one.default === undefined ? '' : String(one.default),
    cell(expected(one)),
    one.description,
  ]);
  return table(['Setting', 'Default', 'Value', 'Meaning'], rows);
}

function metricsTable({ BUILT_IN }) {
  const rows = Object.entries(BUILT_IN).map(([name, { type, unit, help }]) => [code(name), type, unit, help]);
  return table(['Metric', 'Type', 'Unit', 'Meaning'], rows);
}

const CORES = [2, 4, 8, 16];
const MAX_WORKERS = [1, 2, 4];

/** Returns the table of the workers of a client that is alone on its page, while requests wait, and the threads of each. */
function threadsTable({ defaultThreads }, { CoreBudget }) {
  const head = ['Page', 'Cores', ...MAX_WORKERS.map((maxWorkers) => code(`maxWorkers: ${maxWorkers}`))];
  const row = (page, cores, threadsOf) => [
    page,
    String(cores),
    ...MAX_WORKERS.map((maxWorkers) => {
      const threads = threadsOf(maxWorkers);
      return `${workersOf(new CoreBudget(cores), threads, maxWorkers)} × ${threads}`;
    }),
  ];
  return table(head, [
    ...CORES.map((cores) => row('isolated', cores, (maxWorkers) => defaultThreads(cores, maxWorkers))),
    ...CORES.map((cores) => row('not isolated', cores, () => 1)),
  ]);
}

/** Counts workers. The first one gets its cores in any case, the others as long as there are some. */
function workersOf(budget, threads, maxWorkers) {
  budget.reserve(threads, { must: true });
  let workers = 1;
  while (workers < maxWorkers && budget.reserve(threads, { must: false })) workers += 1;
  return workers;
}

function roomsTable() {
  const rows = Object.entries(ROOMS).map(([room, { runs, what, imports, types = [], lazy = {} }]) => {
    const allowed = [
      ...imports.map(code),
      ...types.map((one) => `types of ${code(one)}`),
      ...Object.entries(lazy).map(([file, rooms]) => `${rooms.map(code).join(', ')} by \`import()\` of ${code(file)}`),
    ];
    return [code(`${room}/`), runs, what, allowed.join(', ') || 'nothing'];
  });
  return table(['Room of `src/`', 'Runs', 'What is in it', 'May import'], rows);
}

function specsTable() {
  const rows = Object.entries(SPECS).map(([path, specs]) => [
    path === '' ? 'anything else' : code(path),
    Object.entries(specs)
      .map(([project, names]) => `${project}: ${names.join(', ')}`)
      .join('; '),
  ]);
  return table(['Changed', 'Tests'], rows);
}

function errorTable({ ERROR_CODES }, { ERROR_MEANINGS }) {
  const rows = Object.entries(ERROR_CODES).map(([name, { retriable, blames }]) => {
    if (!ADVICE[name]) throw new Error(`scripts/config-docs.mjs has no advice for the error code ${name}.`);
    return [code(name), ERROR_MEANINGS[name], retriable ? 'yes' : '', blames, ADVICE[name]];
  });
  return table(['Code', 'What has happened', 'Retriable', 'Blames', 'What to do'], rows);
}

/** Keys by their full path, those of nested mappings after their own. */
function keysOf(schema, prefix = '') {
  return Object.entries(schema).flatMap(([key, one]) => [
    [prefix + key, one],
    ...keysOf(propertiesOf(one), `${prefix}${key}.`),
  ]);
}

function propertiesOf({ properties, anyOf = [] }) {
  return properties ?? anyOf.find((one) => one.properties)?.properties ?? {};
}

function optionsOf(schema, expected) {
  const properties = Object.entries(propertiesOf(schema));
  return properties.length === 0
    ? cell(expected(schema))
    : properties.map(([name, one]) => `${code(name)}: ${cell(expected(one))}`).join('; ');
}

function table(head, rows) {
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');
}

/** Returns a cell of the table. A mapping's keys have rows of their own. */
function cell(words) {
  return words.replace(/a mapping with (the keys|one of the keys) [^|]*?(?=, or |$)/g, (_, what) =>
    what === 'the keys' ? 'a mapping' : 'a mapping with one key',
  );
}

function code(text) {
  return `\`${text}\``;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { createServer } = await import('vite');
  const vite = await createServer({
    configFile: false,
    appType: 'custom',
    // What is written while it runs is read anew below, and not whenever the file system says so.
    server: { middlewareMode: true, ws: false, watch: null },
    optimizeDeps: { noDiscovery: true },
  });
  const { sources, described } = await paramSchemas();
  for (const [path, text] of Object.entries(sources)) await writeFile(new URL(path, ROOT), text);
  const lists = await taskLists((path) => vite.ssrLoadModule(`/${path}`));
  for (const [path, text] of Object.entries(lists)) await writeFile(new URL(path, ROOT), text);
  vite.moduleGraph.invalidateAll();
  const modules = Object.fromEntries(
    await Promise.all(
      Object.entries(SOURCES).map(async ([name, path]) => [name, await vite.ssrLoadModule(`/src/${path}.ts`)]),
    ),
  );
  await writeFile(SCHEMA, `${inLines(await configSchema(modules, described), LEVELS)}\n`);
  const tables = await tablesOf(modules, described);
  for (const name of PAGES) {
    const page = new URL(`../docs/${name}`, import.meta.url);
    await writeFile(page, withTables(await readFile(page, 'utf8'), tables));
  }
  rmSync(new URL('methods/', DOCS), { recursive: true, force: true });
  mkdirSync(new URL('methods/', DOCS));
  for (const [path, text] of Object.entries(methodPages())) await writeFile(new URL(path, ROOT), text);
  const pages = ['README.md', 'CONTRIBUTING.md', ...WRITTEN.map((name) => `docs/${name}`)];
  for (const name of pages) {
    const page = new URL(name, ROOT);
    await writeFile(
      page,
      withSnippets(await readFile(page, 'utf8'), (path) => readFileSync(new URL(path, ROOT), 'utf8')),
    );
  }
  await vite.close();
}
