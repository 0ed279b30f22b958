// Makes the reference of the methods of classes, and of functions, from their docblocks: signature, parameters, what is
// thrown. `scripts/config-docs.mjs` places it in docs/methods.md.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
// TypeScript 7 has no such API yet.
import ts from 'typescript-5.9';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
/** What has a section: the names that it exports, and how an app calls an instance. */
const SOURCES = {
  connect: { file: 'src/page/client/connect.ts', functions: ['load', 'connect'] },
  Client: { file: 'src/page/client/client.ts', instance: 'client' },
  Sequence: { file: 'src/page/sequences/sequence.ts', instance: 'sequence' },
  ModelServer: { file: 'src/server/model-server.ts', instance: 'server' },
};
/** The pages that say what a parameter may be, by the name of its type. */
const PAGES = {
  ClientFrames: ['the source of the frames', 'streams.md#frames'],
  ClientInput: ['what the handler takes', 'inputs.md'],
  ClientOptions: ['the model and its options', 'options.md'],
  ConnectOptions: ['the model and its options', 'options.md'],
  ExplainOptions: ['a method and its options', 'explain.md'],
  FramesOptions: ['options of each request', 'streams.md#frames'],
  InitializeOptions: ['`onProgress` and `signal`', 'options.md'],
  KeepableInput: ['an input of images', 'inputs.md'],
  LoadOptions: ['the model’s options', 'options.md'],
  ModelLocation: ['a URL, or picked files', 'options.md'],
  RequestOptions: ['options of a request', 'serving.md#options-of-a-request'],
  SequenceOptions: ['`idleTimeout`', 'sequences.md'],
  WorkerFactory: ['makes a worker', 'handlers.md'],
};

/** Returns the text of each section, by `methods of NAME`. */
export function methodSections() {
  return Object.fromEntries(
    Object.entries(SOURCES).map(([name, { file, functions, instance }]) => {
      const text = readFileSync(ROOT + file, 'utf8');
      const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
      const nodes = functions
        ? functions.flatMap((one) =>
            source.statements.filter((node) => ts.isFunctionDeclaration(node) && node.name.text === one),
          )
        : membersOf(source.statements.find((node) => ts.isClassDeclaration(node) && node.name?.text === name));
      return [`methods of ${name}`, sectionsOf(nodes, instance).join('\n\n')];
    }),
  );
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

/** Returns a section for each name. The implementation of an overloaded function has no docblock, and is left out. */
function sectionsOf(nodes, instance) {
  return [...new Set(nodes.map(({ name }) => name.text))].map((name) => {
    const overloads = nodes.filter((node) => node.name.text === name);
    const documented = overloads.filter((node) => ts.getJSDocCommentsAndTags(node).length > 0);
    if (documented.length === 0) throw new Error(`${instance ?? ''} ${name} has no docblock.`);
    const heading = `### ${instance === undefined ? '' : `${instance}.`}${name}`;
    return [heading, ...documented.flatMap((node) => partsOf(node, instance))].join('\n\n');
  });
}

function partsOf(node, instance) {
  const { docs, tags } = blockOf(node);
  const parameters = (node.parameters ?? []).flatMap((one) => parameterOf(one, tags));
  return [
    `\`\`\`ts\n${signatureOf(node, instance)}\n\`\`\``,
    docs,
    ...(parameters.length > 0 ? [parameters.join('\n')] : []),
    ...tags.filter(({ name }) => name === 'returns').map(({ text }) => `Returns ${text.replace(/\.?$/, '.')}`),
    ...tags.filter(({ name }) => name === 'throws').map(({ text }) => `**Throws** ${text.replace(/\.?$/, '.')}`),
  ];
}

/** Returns the declaration without its body, on one line. */
function signatureOf(node, instance) {
  const { name, typeParameters: types, type, parameters = [] } = node;
  const generics = types ? `<${types.map(written).join(', ')}>` : '';
  const list = parameters.map((one) => `${nameOf(one)}${isOptional(one) ? '?' : ''}: ${written(one.type)}`).join(', ');
  const call = ts.isGetAccessor(node) ? '' : `${generics}(${list})`;
  return `${instance === undefined ? '' : `${instance}.`}${name.text}${call}: ${written(type)}`;
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

/** Returns an item of a list: what a parameter may be, if that is not in its type alone. */
function parameterOf(parameter, tags) {
  const name = nameOf(parameter);
  const own = tags.find((tag) => tag.name === 'param' && tag.parameter === name)?.text;
  const [, page] =
    Object.entries(PAGES).find(([one]) => new RegExp(`\\b${one}\\b`).test(written(parameter.type))) ?? [];
  const meaning = own ?? (page && `[${page[0]}](${page[1]})`);
  return meaning === undefined ? [] : [`- \`${name}\`: ${meaning}`];
}

/** Returns a docblock's text as Markdown, and its tags. */
function blockOf(node) {
  const block = ts.getJSDocCommentsAndTags(node).find(ts.isJSDoc);
  const [head, ...rest] = block
    .getText()
    .replace(/^\/\*\*\s?|\s*\*\/$/g, '')
    .replace(/^ *\* ?/gm, '')
    .split(/^\s*@(?=\w)|(?<=\.) @(?=\w)| @(?=throws|param|returns)/m);
  return {
    docs: paragraphs(head),
    tags: rest.map((tag) => {
      const [, name, text] = /^(\w+)\s+([^]*)$/.exec(tag);
      const [, parameter, meaning] = name === 'param' ? /^(\w+)\s+([^]*)$/.exec(text) : [undefined, undefined, text];
      return { name, parameter, text: paragraphs(meaning) };
    }),
  };
}

/** Joins the lines of a paragraph, outside of code. */
function paragraphs(text) {
  return text
    .split(/(```[^]*?```)/)
    .map((part) => (part.startsWith('```') ? part : part.replace(/(\S)\n *(?=[^\s-])/g, '$1 ')).trim())
    .filter((part) => part !== '')
    .join('\n\n');
}
