/** Texts of two grammars that do not contain themselves: those of both, or those of one alone. */
import { invalidInput } from '../../../contract/errors.js';
import { Automaton, type State } from './automaton.js';
import { byteClasses, oneOf, sequence, type Bytes, type Grammar, type Rule, type Sequence } from './grammar.js';

/** How much work is left for all comparisons of a schema. */
export interface Budget {
  left: number;
  /** How messages call the schema. */
  readonly where: string;
}

/** For about a second. */
export const MAX_WORK = 1_000_000;

const utf8 = new TextEncoder();

/** What is left of two texts after the same beginning. */
interface Pair {
  readonly one: State;
  readonly other: State | undefined;
  readonly mayEnd: boolean;
  readonly next: Map<Pair, Bytes>;
  readonly before: Pair[];
  rule?: Rule;
}

/**
 * Returns the texts of both; undefined if there are none. One of them may be given alone: it is then the same in
 * another form, of which no part leads to no text.
 * @throws `invalid-input` if the budget is spent
 */
export function both(one: Grammar, other: Grammar, budget: Budget): Rule | undefined {
  return compared(one, other, budget, false);
}

/** Returns the texts of one that are none of the other; undefined if there are none. @throws as `both` does */
export function without(one: Grammar, other: Grammar, budget: Budget): Rule | undefined {
  return compared(one, other, budget, true);
}

/** Returns a function that says whether a text is one of a grammar's. */
export function matcher(grammar: Grammar): (text: string) => boolean {
  const automaton = new Automaton(grammar);
  return (text) => {
    automaton.beginSearch();
    let state: State | undefined = automaton.start;
    for (const byte of utf8.encode(text)) state = state && automaton.step(state, byte);
    return state?.mayEnd === true;
  };
}

/** Returns what may come next in a grammar that `both` or `without` has made. */
export function edgesOf({ body }: Rule): {
  readonly mayEnd: boolean;
  readonly edges: readonly (readonly [Bytes, Rule])[];
} {
  const options = body!.kind === 'choice' ? body!.options : [body!];
  const all = options.map((option) => (option as Sequence).parts as readonly [Bytes, Rule] | readonly []);
  return {
    mayEnd: all.some(({ length }) => length === 0),
    edges: all.filter((parts): parts is readonly [Bytes, Rule] => parts.length === 2),
  };
}

function compared(one: Grammar, other: Grammar, budget: Budget, isWithout: boolean): Rule | undefined {
  const [first, second] = [new Automaton(one), new Automaton(other)];
  const bytes = classes(one, other);
  const known = new Map<State, Map<State | undefined, Pair>>();
  const pairs: Pair[] = [];
  const pairOf = (state: State, its: State | undefined): Pair => {
    const ofState = known.get(state) ?? new Map<State | undefined, Pair>();
    known.set(state, ofState);
    const found = ofState.get(its);
    if (found) return found;
    const mayEnd = state.mayEnd && (its?.mayEnd ?? false) !== isWithout;
    const pair: Pair = { one: state, other: its, mayEnd, next: new Map(), before: [] };
    ofState.set(its, pair);
    pairs.push(pair);
    return pair;
  };
  pairOf(first.start, second.start);
  // The loop over an array continues with what is added meanwhile.
  for (const pair of pairs) {
    first.beginSearch();
    second.beginSearch();
    for (const set of bytes) {
      const byte = set.set.indexOf(1);
      const state = first.step(pair.one, byte);
      const its = state && pair.other && second.step(pair.other, byte);
      if (!state || (!its && !isWithout)) continue;
      const next = pairOf(state, its);
      pair.next.set(next, merged(pair.next.get(next), set));
      next.before.push(pair);
    }
    budget.left -= bytes.length + first.visits + second.visits;
    if (budget.left < 0)
      throw invalidInput(
        `${budget.where}: comparing its patterns, formats and lengths takes too long. Use fewer of them together, and smaller lengths.`,
      );
  }
  return grammarOf(pairs);
}

/** Returns the grammar of what the first pair leads to, without what leads to no text. */
function grammarOf(pairs: readonly Pair[]): Rule | undefined {
  const useful = new Set(pairs.filter(({ mayEnd }) => mayEnd));
  for (const pair of useful) for (const before of pair.before) useful.add(before);
  if (!useful.has(pairs[0]!)) return undefined;
  for (const pair of useful) pair.rule = { kind: 'rule' };
  for (const { rule, mayEnd, next } of useful)
    rule!.body = oneOf([
      ...(mayEnd ? [sequence()] : []),
      ...Array.from(next).flatMap(([to, set]) => (to.rule ? [sequence(set, to.rule)] : [])),
    ]);
  return pairs[0]!.rule;
}

/** Returns the bytes that are alike in both grammars. */
function classes(one: Grammar, other: Grammar): readonly Bytes[] {
  const numbers = byteClasses(oneOf([one, other]));
  return Array.from({ length: Math.max(...numbers) + 1 }, (_, number) => ({
    kind: 'bytes',
    set: Uint8Array.from(numbers, (its) => Number(its === number)),
  }));
}

function merged(one: Bytes | undefined, other: Bytes): Bytes {
  return one ? { kind: 'bytes', set: one.set.map((is, byte) => is | other.set[byte]!) } : other;
}
