/** One file that uses transformers.js, with the imports of `tabserve/pipeline`. */
import type { CallExpression } from 'oxc-parser';
import { adviceForName, adviceForSetting } from './advice.js';
import { differencesOf } from './calls.js';
import { importsOf, otherMentions, type Edit, type Imports } from './imports.js';
import { lineOf, nameOf, walk, type Node, type Parse } from './syntax.js';

/** What becomes of a file. */
export interface Transformed {
  /** The new text; the old one if nothing changes. */
  readonly text: string;
  /** What a person has to look at, in the order of the lines. */
  readonly notes: readonly Note[];
}

/** Something that was not changed, at a line of the old text. */
interface Note {
  readonly line: number;
  readonly message: string;
}

/**
 * Changes the imports of `pipeline`, unless a call fails with `tabserve/pipeline`.
 * @throws `invalid-input` if the file cannot be parsed
 */
export function transform(parse: Parse, file: string, text: string): Transformed {
  const program = parse(file, text);
  const imports = importsOf(program, text);
  const notes: Note[] = [];
  const add = ({ start }: Node, message: string): void => void notes.push({ line: lineOf(text, start), message });
  const blockers = new Set<number>();
  for (const call of [...imports.calls, ...callsOf(program, imports)])
    for (const { at, message, blocks } of differencesOf(call)) {
      add(at, message);
      if (blocks) blockers.add(lineOf(text, at.start));
    }
  for (const { at, name } of imports.others) add(at, `${name} stays: ${adviceForName(name)}`);
  for (const { at, setting } of settingsOf(program, imports)) add(at, `env.${setting}: ${adviceForSetting(setting)}`);
  for (const at of imports.unchanged) add(at, "not changed: import { pipeline } by its name, from 'tabserve/pipeline'");
  for (const at of otherMentions(program))
    add(at, "not changed: npm install tabserve, and import { pipeline } from 'tabserve/pipeline'");
  const isBlocked = blockers.size > 0;
  const where = `line${blockers.size > 1 ? 's' : ''} ${[...blockers].toSorted((a, b) => a - b).join(', ')}`;
  if (isBlocked) for (const { start } of imports.edits) add({ start } as Node, `the import stays because of ${where}`);
  notes.sort((a, b) => a.line - b.line);
  return { text: isBlocked ? text : apply(text, imports.edits), notes };
}

/** Returns the calls of `pipeline` by the names that it has in the file. */
function callsOf(program: Node, { pipelines }: Imports): readonly CallExpression[] {
  const calls: CallExpression[] = [];
  walk(program, (node) => {
    if (node.type === 'CallExpression' && node.callee.type === 'Identifier' && pipelines.has(node.callee.name))
      calls.push(node);
  });
  return calls;
}

/** Returns where settings of `env` are set. */
function settingsOf(program: Node, { others }: Imports): readonly { readonly at: Node; readonly setting: string }[] {
  if (!others.some(({ name }) => name === 'env')) return [];
  const found: { at: Node; setting: string }[] = [];
  walk(program, (node) => {
    if (node.type !== 'AssignmentExpression') return;
    let target: Node = node.left;
    let setting: string | undefined;
    while (target.type === 'MemberExpression') {
      setting = nameOf(target.property);
      target = target.object;
    }
    if (setting !== undefined && nameOf(target) === 'env') found.push({ at: node, setting });
  });
  return found;
}

function apply(text: string, edits: readonly Edit[]): string {
  let changed = text;
  for (const { start, end, text: instead } of edits.toSorted((a, b) => b.start - a.start))
    changed = changed.slice(0, start) + instead + changed.slice(end);
  return changed;
}
