// Makes the reference of the methods of classes, and of functions, from their docblocks and types: an index, and a page
// for each method with signature, parameters, result, errors and a sample. `scripts/config-docs.mjs` writes them.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
// TypeScript 7 has no such API yet.
import ts from 'typescript-5.9';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
/** A longer signature has several lines. */
const MAX_LINE = 80;
/** What has a section of the index: the names that it exports, and how an app calls an instance. */
const SOURCES = {
  connect: { file: 'src/page/client/connect.ts', functions: ['load', 'connect'] },
  Client: { file: 'src/page/client/client.ts', instance: 'client' },
  Sequence: { file: 'src/page/sequences/sequence.ts', instance: 'sequence' },
  ModelServer: { file: 'src/server/model-server.ts', instance: 'server' },
};
/** What a parameter may be, by the name of its type: words, and the page that says more. */
const PARAMETERS = {
  'ClientEvents[E]': ['is called with what the event passes'],
  'keyof ClientEvents': ['the name of an event', 'options.md#events'],
  ClientFrames: ['the source of the frames', 'streams.md#frames'],
  ClientInput: ['what the handler takes', 'inputs.md'],
  ClientOptions: ['the model and its options', 'options.md'],
  ConnectOptions: ['the model and its options', 'options.md'],
  ExplainOptions: ['a method and its options', 'explain.md'],
  FramesOptions: ['options of each request', 'streams.md#frames'],
  InitializeOptions: ['`onProgress` and `signal`', 'options.md'],
  KeepableInput: ['an input of images', 'inputs.md'],
  LoadOptions: ['the model’s options', 'options.md'],
  LoadOptionsOf: ['the model’s options, and those below', 'options.md'],
  ModelLocation: ['a URL, or picked files', 'options.md'],
  Request: ['a request of one of these APIs', 'serving-http.md#http'],
  RequestOptions: ['options of a request', 'serving.md#options-of-a-request'],
  SequenceOptions: ['`idleTimeout`', 'sequences.md'],
  ServedRequestOptions: ['`version`, and the options of a request', 'serving.md#options-of-a-request'],
  Tensors: ['the model’s inputs by name, with dtype, dims and data'],
  WorkerFactory: ['makes a worker', 'handlers.md'],
};
/** Parameters of several methods that say what they are, by their names. */
const NAMED = { input: 'what the handler takes', name: 'the model’s name', version: 'a version of the model' };
/** What a method returns, by its type, where its docblock does not say it. */
const RESULTS = {
  Client: ['a client', 'methods.md#client'],
  ExplanationOf: ['what the handler’s method of explanation computes', 'explain.md'],
  KeptInput: ['an input that is kept'],
  RegisteredModel: ['the version as it is registered'],
  ResultFor: ['the handler’s answer', 'tasks.md'],
  Result: ['the handler’s answer', 'tasks.md'],
  Sequence: ['a sequence', 'methods.md#sequence'],
  Shadow: ['a shadow: `stop()` ends it, `report()` returns what it has found'],
};
/** The types whose members a page lists, and where they are. */
const MEMBERS = {
  Description: 'src/page/requests/sender.ts',
  DescribedModel: 'src/server/options.ts',
  FailedModel: 'src/server/options.ts',
  FrameAnswer: 'src/page/streams/frame-reader.ts',
  KeptInput: 'src/page/requests/retained-value.ts',
  ListedModel: 'src/server/options.ts',
  ModelInfo: 'src/contract/handler.ts',
  RegisteredLocation: 'src/server/options.ts',
  RegisteredModel: 'src/server/options.ts',
  RegisterOptions: 'src/server/options.ts',
  ServedDescription: 'src/server/served-client.ts',
  ShadowOptions: 'src/server/shadow.ts',
  ShadowReport: 'src/server/shadow-report.ts',
};

/** Returns the text of each section of the index, by `methods of NAME`. */
export function methodSections() {
  return Object.fromEntries(
    groups().map(({ name, instance, nodes }) => {
      const properties = nodes.filter(ts.isGetAccessor);
      const rows = properties.map((node) => {
        const type = written(node.type).replaceAll('|', '\\|');
        return `| \`${instance}.${node.name.text}\` | \`${type}\` | ${blockOf(node).docs} |`;
      });
      const table =
        rows.length > 0 ? [['| Property | Type | Meaning |', '| --- | --- | --- |', ...rows].join('\n')] : [];
      const list = methodsOf(nodes, instance).map(
        ({ called, path, overloads }) =>
          `- [${called}](methods/${path}.md): ${firstSentence(blockOf(overloads[0]).docs)}`,
      );
      return [`methods of ${name}`, [...table, list.join('\n')].join('\n\n')];
    }),
  );
}

/** Returns the page of each method, by its path. */
export function methodPages() {
  const pages = groups().flatMap(({ nodes, instance }) => methodsOf(nodes, instance));
  const paths = Object.fromEntries(pages.map(({ called, path }) => [called, path]));
  return Object.fromEntries(
    pages.map((one) => [
      `docs/methods/${one.path}.md`,
      `${pageOf(one)
        .map((part) => withLinks(part, one, paths))
        .join('\n\n')}\n`,
    ]),
  );
}

/** Returns what has a section, with its declarations in their order. */
function groups() {
  return Object.entries(SOURCES).map(([name, { file, functions, instance }]) => {
    const { statements } = parsed(file);
    const nodes = functions
      ? functions.flatMap((one) =>
          statements.filter((node) => ts.isFunctionDeclaration(node) && node.name.text === one),
        )
      : membersOf(statements.find((node) => ts.isClassDeclaration(node) && node.name?.text === name));
    return { name, instance, nodes };
  });
}

function parsed(file) {
  return ts.createSourceFile(file, readFileSync(ROOT + file, 'utf8'), ts.ScriptTarget.ES2022, true);
}

/** Returns the members of a class that an app uses, in their order. */
function membersOf({ members }) {
  return members.filter(
    (node) =>
      (ts.isMethodDeclaration(node) || ts.isGetAccessor(node)) &&
      ts.isIdentifier(node.name) &&
      !node.modifiers?.some(({ kind }) =>
        [ts.SyntaxKind.PrivateKeyword, ts.SyntaxKind.ProtectedKeyword].includes(kind),
      ),
  );
}

/** Returns the methods. The implementation of an overloaded function has no docblock, and is left out. */
function methodsOf(nodes, instance) {
  const methods = nodes.filter((node) => !ts.isGetAccessor(node));
  return [...new Set(methods.map(({ name }) => name.text))].map((name) => {
    const overloads = methods.filter((node) => node.name.text === name && ts.getJSDocCommentsAndTags(node).length > 0);
    const called = `${instance === undefined ? '' : `${instance}.`}${name}`;
    if (overloads.length === 0) throw new Error(`${called} has no docblock.`);
    const path = called.replace('.', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return { called, path, instance, overloads };
  });
}

function pageOf({ called, path, instance, overloads }) {
  const blocks = overloads.map(blockOf);
  const tags = blocks.flatMap((block) => block.tags);
  // What is thrown while a stream is read is a paragraph of its own.
  const reading = blocks.flatMap(({ paragraphs }) => paragraphs.filter((text) => text.startsWith('Reading throws')));
  const texts = blocks.map(({ paragraphs }) => paragraphs.filter((text) => !reading.includes(text)).join('\n\n'));
  const thrown = tags.filter(({ name }) => name === 'throws').map(({ text }) => sentence(`It throws ${text}`));
  const sample = readFileSync(`${ROOT}test/readme/methods/${path}.ts`, 'utf8').trimEnd();
  return [
    `# ${called}`,
    ...overloads.flatMap((node, at) => [texts[at], fenced(signatureOf(node, instance))]),
    ...section('Parameters', parametersOf(overloads, tags)),
    ...section('Result', resultOf(overloads[0], texts.join(' '))),
    ...section(
      'Errors',
      [...reading, ...thrown].concat(
        reading.length + thrown.length > 0 ? ['What each code means: [errors](../errors.md).'] : [],
      ),
    ),
    '## Sample',
    `<!-- test/readme/methods/${path}.ts -->\n${fenced(sample)}`,
  ];
}

/** Returns the list of the parameters, each once, and the members of those that have no page. */
function parametersOf(overloads, tags) {
  const all = overloads.flatMap((node) => node.parameters.map((one) => [nameOf(one), parameterOf(one, tags)]));
  const each = Object.values(Object.fromEntries(all));
  return each.length === 0 ? [] : [each.map(({ item }) => item).join('\n'), ...each.flatMap(({ members }) => members)];
}

function section(title, parts) {
  return parts.length === 0 ? [] : [`## ${title}`, ...parts.flat()];
}

function fenced(code) {
  return `\`\`\`ts\n${code}\n\`\`\``;
}

/** Returns what a method returns, as far as its text does not say it: words, and the members of what it is. */
function resultOf({ name, type }, text) {
  const returned = written(type);
  if (/^(Promise<)?void>?$/.test(returned))
    return [
      returned === 'void' || text.includes('Resolves')
        ? 'Nothing.'
        : 'Nothing: the promise resolves when that is done.',
    ];
  const named = (one) => new RegExp(`\\b${one}\\b`).test(returned);
  const said = /\breturns?\b/i.test(text) ? undefined : Object.keys(RESULTS).find(named);
  const listed = named('Shadow') ? 'ShadowReport' : Object.keys(MEMBERS).find(named);
  if (said === undefined && listed === undefined && !/\breturns?\b|\bAnswers\b/i.test(text))
    throw new Error(`${name.text}: nothing says what ${returned} is.`);
  const start = said && sentence(linkTo([capital(RESULTS[said][0]), RESULTS[said][1]]));
  return [...(start ? [start] : []), ...(listed ? membersTable(listed) : [])];
}

/** Returns a table of the members of a type, with those that it extends, and what is said elsewhere as a sentence. */
function membersTable(type) {
  const node = parsed(MEMBERS[type]).statements.find((one) => ts.isInterfaceDeclaration(one) && one.name.text === type);
  const bases = (node.heritageClauses ?? []).flatMap(({ types }) => types.map(({ expression }) => expression.text));
  const described = bases.includes('ServedDescription');
  const nodes = [
    ...node.members,
    ...bases
      .filter((base) => base !== 'ServedDescription')
      .flatMap((base) => [
        ...parsed(MEMBERS[base]).statements.find((one) => ts.isInterfaceDeclaration(one) && one.name.text === base)
          .members,
      ]),
  ];
  const rows = nodes.map((member) => {
    const { docs, tags } = ts.getJSDocCommentsAndTags(member).length > 0 ? blockOf(member) : { docs: '', tags: [] };
    const standard = tags.filter((tag) => tag.name === 'default').map(({ text }) => sentence(`Default: ${text}`));
    const call = ts.isMethodSignature(member) ? '()' : member.questionToken ? '?' : '';
    return [
      `\`${member.name.text}${call}\``,
      `\`${written(member.type)}\``,
      [docs, ...standard].filter(Boolean).join(' '),
    ];
  });
  const cells = [['Field', 'Type', 'Meaning'], ['---', '---', '---'], ...rows];
  return [
    ...(described ? ['What `client.describe` returns of the model, its config and its backend, and:'] : []),
    cells.map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n'),
  ];
}

/** Makes the names of other methods links to their pages, outside of code. */
function withLinks(text, { called, instance }, paths) {
  if (/^(```|#|<!--)/.test(text)) return text;
  return text.replace(/(?<!\[)`(?:([Cc]lient|sequence|server)\.)?(\w+)`(?!\])/g, (whole, object, name) => {
    const near = object ? [`${object.toLowerCase()}.${name}`] : [`${instance}.${name}`, name, `client.${name}`];
    const one = near.find(
      (each) => paths[each] !== undefined && (instance !== 'server' || object || each !== `client.${name}`),
    );
    return one === undefined || one === called ? whole : `[${whole}](${paths[one]}.md)`;
  });
}

function firstSentence(text) {
  return sentence(/^[^]*?[.:](?=\s|$)/.exec(text)?.[0].slice(0, -1) ?? text);
}

function sentence(text) {
  return text.replace(/\.?$/, '.');
}

function capital(text) {
  return text.replace(/^\w/, (letter) => letter.toUpperCase());
}

function linkTo([words, page]) {
  return page === undefined ? words : `[${words}](../${page})`;
}

/** Returns the declaration without its body: on one line, or with a line for each parameter. */
function signatureOf(node, instance) {
  const { name, typeParameters: types, type, parameters } = node;
  const generics = types ? `<${types.map(written).join(', ')}>` : '';
  const list = parameters.map((one) => `${nameOf(one)}${isOptional(one) ? '?' : ''}: ${written(one.type)}`);
  const start = `${instance === undefined ? '' : `${instance}.`}${name.text}${generics}(`;
  const end = `): ${written(type)}`;
  const line = `${start}${list.join(', ')}${end}`;
  return line.length <= MAX_LINE || list.length === 0
    ? line
    : `${start}\n${list.map((one) => `  ${one},\n`).join('')}${end}`;
}

/** Returns a parameter's name. One that is destructured is an object of options. */
function nameOf({ name }) {
  return ts.isIdentifier(name) ? name.text : 'options';
}

function isOptional({ initializer, questionToken }) {
  return initializer !== undefined || questionToken !== undefined;
}

/** Returns a node's text on one line. */
function written(node) {
  return node.getText().replace(/\s+/g, ' ');
}

/** Returns an item of a list: what a parameter may be; after it the options that have no page of their own. */
function parameterOf(parameter, tags) {
  const name = nameOf(parameter);
  const { parent, type } = parameter;
  // A type parameter is what it extends.
  const generic = parent.typeParameters?.find((one) => one.name.text === written(type));
  const text = written(generic?.constraint ?? type);
  const named = (one) => text.split(/[^\w[\]]+(?<!keyof )/).includes(one) || (one.includes(' ') && text.includes(one));
  const own = tags.find((tag) => tag.name === 'param' && tag.parameter === name)?.text;
  const known = Object.entries(PARAMETERS).find(([one]) => named(one))?.[1];
  const meaning = own ?? (known ? linkTo(known) : NAMED[name]);
  const listed = ['RegisterOptions', 'ShadowOptions'].find(named);
  if (meaning === undefined && !listed) throw new Error(`${parent.name.text}: nothing says what ${name} is.`);
  return { item: `- \`${name}\`: ${meaning ?? 'these options'}`, members: listed ? membersTable(listed) : [] };
}

/** Returns a docblock's text as Markdown, and its tags. */
function blockOf(node) {
  const block = ts.getJSDocCommentsAndTags(node).find(ts.isJSDoc);
  const [head, ...rest] = block
    .getText()
    .replace(/^\/\*\*\s?|\s*\*\/$/g, '')
    .replace(/^ *\* ?/gm, '')
    .split(/^\s*@(?=\w)|(?<=\.) @(?=\w)| @(?=throws|param|returns)/m);
  const own = paragraphs(head);
  return {
    docs: own.join('\n\n'),
    paragraphs: own,
    tags: rest.map((tag) => {
      const [, name, text] = /^(\w+)\s+([^]*)$/.exec(tag);
      const [, parameter, meaning] = name === 'param' ? /^(\w+)\s+([^]*)$/.exec(text) : [undefined, undefined, text];
      return { name, parameter, text: paragraphs(meaning).join('\n\n') };
    }),
  };
}

/** Returns the paragraphs of a text, each on one line, without its code: that is what an editor shows, and pages have samples. */
function paragraphs(text) {
  return text
    .replace(/```[^]*?```/g, '')
    .split(/\n\s*\n/)
    .map((part) => part.replace(/\s*\n\s*/g, ' ').trim())
    .filter((part) => part !== '');
}
