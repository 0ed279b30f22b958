/** Lists none of whose items is there twice. */
import { invalidInput } from '../../../contract/errors.js';
import { Automaton } from './automaton.js';
import {
  anyOf,
  bytes,
  choice,
  oneOf,
  optional,
  repeat,
  sequence,
  text,
  type Deferred,
  type Grammar,
  type Rule,
} from './grammar.js';
import { BOOLEAN, COMMA, NULL, SPACE, stringOf } from './json.js';
import { CHARACTER } from './characters.js';
import { both, edgesOf, type Budget } from './regular.js';

const DIGITS = repeat(anyOf('0123456789'), 0);
const FRACTION = sequence(text('.'), DIGITS, anyOf('123456789'));
/** Values of which each has one text: so different texts are different values. */
const CANONICAL = choice(
  stringOf(repeat(CHARACTER, 0)),
  text('0'),
  sequence(optional(text('-')), anyOf('123456789'), DIGITS, optional(FRACTION)),
  sequence(optional(text('-')), text('0'), FRACTION),
  BOOLEAN,
  NULL,
);
/** Items are told apart one by one if there are so few of them, and otherwise by their first two bytes. */
const MAX_ITEMS = 100;
/** Longer items are told apart by their beginnings. */
const MAX_LENGTH = 1000;
/** The maximum number of cached grammars of a list's rest. */
const MAX_CACHED = 200;

/**
 * Returns a list without an item that is there twice: of few items, each comes once; of others, each has another
 * beginning.
 * @throws `invalid-input` for items that are lists or objects, and for more items than can be told apart
 */
export function uniqueList(items: Grammar, min: number, max: number, path: string, budget: Budget): Grammar {
  const start = new Automaton(items);
  if (['[', '{'].some((begin) => start.step(start.start, begin.charCodeAt(0))))
    throw invalidInput(
      `${path}.uniqueItems: it is supported for strings, numbers, booleans and null, but for no items that are lists or objects.`,
    );
  const canonical = both(items, CANONICAL, budget);
  const kinds = canonical ? (textsOf(canonical) ?? beginningsOf(canonical)) : [];
  if (min > kinds.length)
    throw invalidInput(`${path}.minItems: it is ${min}, but uniqueItems tells only ${kinds.length} items apart.`);
  const like = sequence(COMMA, ...kinds);
  const cache = new Map<string, Grammar>();
  /** Returns what may come after some items. @param used the kinds that are there, in their order */
  const rest = (used: readonly number[]): Grammar => {
    const key = used.join();
    const found = cache.get(key) ?? restOf(used);
    cache.set(key, found);
    if (cache.size > MAX_CACHED) cache.delete(cache.keys().next().value!);
    return found;
  };
  const restOf = (used: readonly number[]): Grammar => {
    const next = used.length >= max ? [] : [...kinds.keys()].filter((at) => !used.includes(at));
    const more = next.map((at) => {
      const make = (): Grammar => rest([...used, at].toSorted((one, other) => one - other));
      const after: Deferred = { kind: 'deferred', like, make };
      return sequence(kinds[at]!, after);
    });
    const all = more.length === 0 ? undefined : used.length === 0 ? oneOf(more) : sequence(COMMA, oneOf(more));
    if (!all) return sequence();
    return used.length >= min ? optional(all) : all;
  };
  return sequence(text('['), SPACE, rest([]), SPACE, text(']'));
}

/** Returns a grammar for each text, if there are few. */
function textsOf(grammar: Rule): readonly Grammar[] | undefined {
  const texts: Grammar[] = [];
  const left: (readonly [rule: Rule, before: readonly number[]])[] = [[grammar, []]];
  for (let one = left.pop(); one; one = left.pop()) {
    const [rule, before] = one;
    const { mayEnd, next } = branchesOf(rule);
    if (mayEnd) texts.push(sequence(...before.map((byte) => bytes([byte, byte]))));
    // Each of those that are left leads to another text.
    if (texts.length + left.length + next.length > MAX_ITEMS || before.length > MAX_LENGTH) return undefined;
    for (const [byte, after] of next) left.push([after, [...before, byte]]);
  }
  return texts;
}

/** Returns a grammar for each beginning of two bytes, and for each text of one. */
function beginningsOf(grammar: Rule): readonly Grammar[] {
  const first = branchesOf(grammar).next;
  return first.flatMap(([byte, after]) => {
    const begin = bytes([byte, byte]);
    const { mayEnd, next } = branchesOf(after);
    const longer = next.map(([second, rest]) => sequence(begin, bytes([second, second]), rest));
    return mayEnd ? [begin, ...longer] : longer;
  });
}

/** Returns what may come next, byte by byte. */
function branchesOf(grammar: Rule): {
  readonly mayEnd: boolean;
  readonly next: readonly (readonly [byte: number, after: Rule])[];
} {
  const { mayEnd, edges } = edgesOf(grammar);
  const next = edges.flatMap(([{ set }, after]) =>
    [...set.keys()].filter((byte) => set[byte] === 1).map((byte) => [byte, after] as const),
  );
  return { mayEnd, next };
}
