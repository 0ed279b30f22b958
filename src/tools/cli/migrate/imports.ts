/** Where a file imports transformers.js, and how the import of `pipeline` changes. */
import type { CallExpression, ImportDeclaration, ObjectPattern, VariableDeclarator } from 'oxc-parser';
import { nameOf, textOf, walk, type Node } from './syntax.js';

/** transformers.js by its present and its former name. */
export const PACKAGES = ['@huggingface/transformers', '@xenova/transformers'];
const INSTEAD = 'tabserve/pipeline';
const PIPELINE = 'pipeline';

/** A text that takes the place of another one. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A name that a file imports and `tabserve/pipeline` does not export. */
interface OtherName {
  readonly at: Node;
  readonly name: string;
}

/** The imports of a file. */
export interface Imports {
  readonly edits: readonly Edit[];
  /** The names that `pipeline` has in the file. */
  readonly pipelines: ReadonlySet<string>;
  /** Calls of a `pipeline` that has no name: `(await import(…)).pipeline(…)`. */
  readonly calls: readonly CallExpression[];
  readonly others: readonly OtherName[];
  /** Where the package's name stands, and the import stays as it is. */
  readonly unchanged: readonly Node[];
}

/** Returns what a file imports of transformers.js. */
export function importsOf(program: Node, text: string): Imports {
  const found = new Found(text);
  walk(program, (node, parents) => {
    if (node.type === 'Literal' && typeof node.value === 'string' && PACKAGES.includes(node.value))
      found.add(node, parents);
  });
  return found;
}

class Found implements Imports {
  readonly edits: Edit[] = [];
  readonly pipelines = new Set<string>();
  readonly calls: CallExpression[] = [];
  readonly others: OtherName[] = [];
  readonly unchanged: Node[] = [];
  readonly #text: string;
  readonly #lineEnd: string;

  constructor(text: string) {
    this.#text = text;
    this.#lineEnd = text.includes('\r\n') ? '\r\n' : '\n';
  }

  /** Adds the import that the package's name belongs to. */
  add(source: Node, [parent, ...above]: readonly Node[]): void {
    if (parent?.type === 'ImportDeclaration' && parent.specifiers.length > 0) return this.#addImport(parent, source);
    if (parent?.type === 'ExportNamedDeclaration' && parent.specifiers.every(({ local }) => nameOf(local) === PIPELINE))
      return this.#replace(source);
    // `require(…)`, or `import(…)` with `await` before it.
    const isRequire = parent?.type === 'CallExpression' && nameOf(parent.callee) === 'require';
    const [call, user] = isRequire ? [parent, above[0]] : [awaited(parent, above), afterAwait(above)];
    if (!call || !user) return void this.unchanged.push(source);
    if (user.type === 'VariableDeclarator' && user.id.type === 'ObjectPattern')
      return this.#addPattern(user, user.id, source);
    if (user.type === 'MemberExpression' && !user.computed && nameOf(user.property) === PIPELINE)
      return this.#addMember(user, above[above.indexOf(user) + 1], source);
    this.unchanged.push(source);
  }

  #addImport({ specifiers, start, end, importKind }: ImportDeclaration, source: Node): void {
    const isPipeline = (one: (typeof specifiers)[number]): boolean =>
      one.type === 'ImportSpecifier' && nameOf(one.imported) === PIPELINE;
    const own = specifiers.filter(isPipeline);
    const others = specifiers.filter((one) => !isPipeline(one));
    for (const { local } of own) this.pipelines.add(local.name);
    for (const one of others)
      if (one.type === 'ImportSpecifier') this.others.push({ at: one, name: nameOf(one.imported)! });
      else this.unchanged.push(source);
    if (own.length === 0) return;
    if (others.length === 0) return this.#replace(source);
    const names = (list: typeof specifiers): string => `{ ${list.map((one) => this.#of(one)).join(', ')} }`;
    const direct = others.filter(({ type }) => type !== 'ImportSpecifier').map((one) => this.#of(one));
    const named = others.filter(({ type }) => type === 'ImportSpecifier');
    const rest = [...direct, ...(named.length > 0 ? [names(named)] : [])].join(', ');
    const tail = this.#text.slice(source.end, end);
    const semicolon = tail.endsWith(';') ? ';' : '';
    const keyword = importKind === 'type' ? 'import type' : 'import';
    const lines = [
      ...this.#commentsBetween(specifiers, start, source.start),
      `${keyword} ${names(own)} from ${this.#quoted(source)}${semicolon}`,
      `${keyword} ${rest} from ${this.#of(source)}${tail}`,
    ];
    this.edits.push({ start, end, text: lines.join(this.#lineEnd) });
  }

  /** Adds `const { pipeline } = require(…)`. */
  #addPattern({ id, init, start, end }: VariableDeclarator, { properties }: ObjectPattern, source: Node): void {
    const own = properties.filter((one) => one.type === 'Property' && nameOf(one.key) === PIPELINE);
    const others = properties.filter((one) => !own.includes(one));
    for (const one of own)
      if (one.type === 'Property' && one.value.type === 'Identifier') this.pipelines.add(one.value.name);
    for (const one of others)
      if (one.type === 'Property' && nameOf(one.key) !== undefined)
        this.others.push({ at: one, name: nameOf(one.key)! });
      else this.unchanged.push(source);
    if (own.length === 0) return;
    if (others.length === 0) return this.#replace(source);
    const names = (list: typeof properties): string => `{ ${list.map((one) => this.#of(one)).join(', ')} }`;
    const before = this.#text.slice(init!.start, source.start);
    const after = this.#text.slice(source.end, init!.end);
    const lines = [
      ...this.#commentsBetween(properties, start, id.end),
      `${names(own)} = ${before}${this.#quoted(source)}${after}, ${names(others)} = ${this.#of(init!)}`,
    ];
    this.edits.push({ start, end, text: lines.join(this.#lineEnd) });
  }

  /** Adds `(await import(…)).pipeline`. */
  #addMember(member: Node, user: Node | undefined, source: Node): void {
    if (user?.type === 'CallExpression' && user.callee === member) this.calls.push(user);
    if (user?.type === 'VariableDeclarator' && user.id.type === 'Identifier') this.pipelines.add(user.id.name);
    this.#replace(source);
  }

  /** Returns the comments before, between and after nodes, which are written anew without them. */
  #commentsBetween(nodes: readonly Node[], start: number, end: number): readonly string[] {
    const gaps = [...nodes, undefined].map((node, at) =>
      this.#text.slice(at === 0 ? start : nodes[at - 1]!.end, node?.start ?? end),
    );
    return gaps.flatMap((gap) => gap.match(/\/\/.*|\/\*[^]*?\*\//g) ?? []);
  }

  #replace(source: Node): void {
    this.edits.push({ start: source.start, end: source.end, text: this.#quoted(source) });
  }

  /** Returns the new name in the quotes of the old one. */
  #quoted(source: Node): string {
    const quote = this.#text[source.start]!;
    return quote + INSTEAD + quote;
  }

  #of({ start, end }: Node): string {
    return this.#text.slice(start, end);
  }
}

/** Returns the `import(…)` of an `await`. */
function awaited(parent: Node | undefined, above: readonly Node[]): Node | undefined {
  return parent?.type === 'ImportExpression' && above[0]?.type === 'AwaitExpression' ? parent : undefined;
}

/** Returns what uses the module that an `await` has loaded, without its parentheses. */
function afterAwait([, ...above]: readonly Node[]): Node | undefined {
  return above.find(({ type }) => type !== 'ParenthesizedExpression');
}

/** Returns the name of the package that a text names, as a script from a CDN does. */
export function otherMentions(program: Node): readonly Node[] {
  const found: Node[] = [];
  walk(program, (node) => {
    const text = textOf(node);
    if (text !== undefined && /^https?:/.test(text) && PACKAGES.some((name) => text.includes(name))) found.push(node);
  });
  return found;
}
