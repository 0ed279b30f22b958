/** The syntax tree of a file, as oxc-parser makes it, and what is asked of it. */
import type { Node as SyntaxNode, Program } from 'oxc-parser';
import { TabServeError } from '../../../contract/errors.js';

export type Node = SyntaxNode;
export type Parse = (file: string, text: string) => Program;

/**
 * Loads the parser, which the project has to install: nothing else of this package needs one.
 * @throws `unsupported` if it is not installed
 */
export async function loadParser(): Promise<Parse> {
  const { parseSync } = await import('oxc-parser').catch((cause: unknown) => {
    throw new TabServeError(
      'unsupported',
      'tabserve migrate reads files with oxc-parser, which is not installed: npm i -D oxc-parser',
      { cause },
    );
  });
  return (file, text) => {
    const { program, errors } = parseSync(file, text, { lang: languageOf(file) });
    const [fault] = errors;
    if (!fault) return program;
    const line = lineOf(text, fault.labels[0]?.start ?? 0);
    throw new TabServeError('invalid-input', `${file}:${line} cannot be parsed: ${fault.message}`);
  };
}

/** Returns the parser's language. All JavaScript may have JSX; in TypeScript, its brackets may also be casts. */
function languageOf(file: string): 'jsx' | 'ts' | 'tsx' {
  if (file.endsWith('.tsx')) return 'tsx';
  return /\.[cm]?ts$/.test(file) ? 'ts' : 'jsx';
}

/** Returns the number of the line in which a character stands. */
export function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length;
}

/** Visits a node and what it contains, in the order of the text. @param parents from the node's own to the root */
export function walk(node: Node, visit: (node: Node, parents: readonly Node[]) => void): void {
  enter(node, [], visit);
}

function enter(node: Node, parents: readonly Node[], visit: (node: Node, parents: readonly Node[]) => void): void {
  visit(node, parents);
  const inside = [node, ...parents];
  for (const value of Object.values(node) as unknown[])
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) if (isNode(one)) enter(one, inside, visit);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';
}

/** Returns a text that is written out, without an expression in it; otherwise undefined. */
export function textOf(node: Node | null | undefined): string | undefined {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node?.type === 'TemplateLiteral' && node.expressions.length === 0)
    return node.quasis[0]!.value.cooked ?? undefined;
  return undefined;
}

/** Returns the name of a property or a specifier; undefined for a computed one. */
export function nameOf(node: Node): string | undefined {
  return node.type === 'Identifier' ? node.name : textOf(node);
}
