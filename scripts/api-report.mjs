// Writes api/*.txt: what each public entry of the built package exports, without comments, and what each built-in
// handler takes, with its config keys. A packaging test compares them with the build, so that every change of the API is seen in a diff. Run it after a build:
// `npm run build && npm run api`.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
// TypeScript 7 has no such API yet.
import ts from 'typescript-5.9';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Returns the reports by file name, and the exports without a docblock. */
export function apiReports() {
  const entries = Object.entries(JSON.parse(readFileSync(`${root}package.json`, 'utf8')).exports)
    .filter(([path, { types }]) => types && !path.includes('standalone'))
    .map(([path, { types }]) => ({ name: `tabserve${path.slice(1)}`, file: `${root}${types.slice(2)}` }));
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
      types: [],
    },
  );
  const checker = program.getTypeChecker();
  const printer = ts.createPrinter({ removeComments: true });
  const reports = {};
  /** The report that has a declaration, by its name and text: others only name it. */
  const homes = new Map();
  const undocumented = new Set();
  for (const { name, file } of entries) {
    const symbols = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)));
    const texts = symbols
      .map((exported) => {
        const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
        const members = isNamespace(symbol) ? checker.getExportsOfModule(symbol) : [symbol];
        for (const member of members)
          if (member.getDocumentationComment(checker).length === 0)
            undocumented.add(`${name}: ${exported.name}${member === symbol ? '' : `.${member.name}`}`);
        const nodes = members.flatMap(({ declarations }) => declarations ?? []);
        return [exported.name, nodes.map((node) => declarationOf(node, printer)).join('\n')];
      })
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const report = `${name.replaceAll('/', '-')}.txt`;
    const elsewhere = {};
    const own = texts.filter(([exported, text]) => {
      const key = `${exported}\n${text}`;
      const home = homes.get(key);
      if (home === undefined) homes.set(key, report);
      else (elsewhere[home] ??= []).push(exported);
      return home === undefined;
    });
    const named = Object.entries(elsewhere).map(([home, names]) => `\nAs in ${home}:\n${names.join('\n')}\n`);
    reports[report] =
      `${name}\n${own.map(([exported, text]) => `\n# ${exported}\n${text}\n`).join('')}${named.join('')}`;
  }
  return { reports, undocumented: [...undocumented] };
}

/** Returns the report of the built-in handlers: their names, and what their classes and base classes say of themselves. */
export async function handlersReport() {
  const built = async (path) => await import(new URL(`../dist/${path}.js`, import.meta.url).href);
  const { HANDLER_NAMES, loadHandler } = await built('worker/handlers/registry');
  const { expected } = await built('shared/schema');
  const names = new Map();
  for (const name of HANDLER_NAMES)
    for (let Class = await loadHandler(name); Class !== Function.prototype; Class = Object.getPrototypeOf(Class))
      names.set(Class, names.get(Class) ?? (Class.name === className(name) ? name : undefined));
  const classes = [...names].map(([Class, name]) => {
    const { architectures = [], processor } = Class.huggingFace ?? {};
    const served = [...architectures.map((ending) => `*${ending}`), ...(processor ? [`${processor} processor`] : [])];
    const own = Object.hasOwn(Class, 'schema') ? Class.schema : {};
    const { name: base } = Object.getPrototypeOf(Class);
    return [
      `# ${Class.name}${base === '' ? '' : ` extends ${base}`}`,
      ...(name ? [`handler ${name}`, `takes ${Class.takes}`] : []),
      ...(name && served.length > 0 ? [`Hugging Face: ${served.join(', ')}`] : []),
      ...Object.entries(own).map(
        ([key, schema]) => `${schema.readOnly ? 'config' : 'params'} ${key}: ${expected(schema)}`,
      ),
    ].join('\n');
  });
  return `handlers\n\n${classes.toSorted().join('\n\n')}\n`;
}

/** Returns the class's name of a handler, which has the same name in TorchServe's case. */
function className(handler) {
  return handler.replace(/(^|_)(\w)/g, (_, __, letter) => letter.toUpperCase());
}

/** Returns whether an export is `export * as name`, which stands for a whole module. */
function isNamespace({ flags }) {
  return (flags & ts.SymbolFlags.ValueModule) !== 0;
}

/** Returns a declaration; that of a variable is its statement. */
function declarationOf(node, printer) {
  const statement = ts.isVariableDeclaration(node) ? node.parent.parent : node;
  return printer.printNode(ts.EmitHint.Unspecified, statement, node.getSourceFile());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { reports, undocumented } = apiReports();
  reports['handlers.txt'] = await handlersReport();
  mkdirSync(`${root}api`, { recursive: true });
  for (const [file, text] of Object.entries(reports)) writeFileSync(`${root}api/${file}`, text);
  if (undocumented.length > 0) {
    console.error(`Exports without a docblock:\n  ${undocumented.join('\n  ')}`);
    process.exitCode = 1;
  }
}
