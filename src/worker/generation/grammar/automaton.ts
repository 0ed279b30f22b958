/** Follows a text through a grammar. The results for one text are cached for the next ones. */
import { TabServeError } from '../../../contract/errors.js';
import { byteClasses, restOf, type Grammar } from './grammar.js';

/** A part that comes next, and what comes after it. Equal ones are one object. */
interface Continuation {
  readonly id: number;
  /** Undefined at the end of the grammar. */
  readonly grammar: Grammar | undefined;
  readonly after: Continuation | undefined;
  /** The continuations that are followed by this one. */
  readonly before: Map<Grammar, Continuation>;
}

/** The largest number of continuations that a search visits: about half a second. */
const MAX_VISITS = 500_000;
/** The largest number of continuations in all states: with more, an automaton forgets them before the next search. */
const MAX_STORED = 2_000_000;

/** All continuations that a text may have. */
export interface State {
  /** Whether the text may end here. */
  readonly mayEnd: boolean;
  /** Whether it may continue. */
  readonly mayContinue: boolean;
  /** Those of bytes. */
  readonly continuations: readonly Continuation[];
  /** The state after a byte of each class, where it is known; null if the byte cannot come. */
  readonly next: (State | null)[];
}

/** The states of a grammar, each made when a text first gets there. */
export class Automaton {
  readonly start: State;
  readonly #classes: Uint8Array;
  readonly #states = new Map<string, State>();
  readonly #continuations: Continuation[] = [];
  #lastId = 0;
  /** How many continuations the states have, in all of them. */
  #stored = 0;
  #visits = 0;

  constructor(grammar: Grammar) {
    this.#classes = byteClasses(grammar);
    const end: Continuation = { id: 0, grammar: undefined, after: undefined, before: new Map() };
    this.start = this.#stateOf([this.#continuation(grammar, end)]);
  }

  /** How many continuations were visited since `beginSearch`: those of states that are known are not visited again. */
  get visits(): number {
    return this.#visits;
  }

  /** Begins to look for what can follow a state. */
  beginSearch(): void {
    this.#visits = 0;
    if (this.#stored > MAX_STORED) this.#forget();
  }

  /**
   * Returns the state after a byte; undefined if the byte cannot come.
   * @throws `invalid-input` if the search visits too many continuations
   */
  step(state: State, byte: number): State | undefined {
    const known = state.next[this.#classes[byte]!];
    if (known !== undefined) return known ?? undefined;
    this.#visit(state.continuations.length);
    const after = state.continuations
      .filter(({ grammar }) => grammar!.kind === 'bytes' && grammar!.set[byte] === 1)
      .map((continuation) => continuation.after!);
    const found = after.length === 0 ? null : this.#stateOf(after);
    state.next[this.#classes[byte]!] = found;
    return found ?? undefined;
  }

  #continuation(grammar: Grammar, after: Continuation): Continuation {
    const known = after.before.get(grammar);
    if (known) return known;
    const continuation: Continuation = { id: ++this.#lastId, grammar, after, before: new Map() };
    after.before.set(grammar, continuation);
    this.#continuations.push(continuation);
    return continuation;
  }

  #visit(continuations: number): void {
    this.#visits += continuations;
    if (this.#visits <= MAX_VISITS) return;
    // The next search must not get further than this one.
    this.#forget();
    throw new TabServeError(
      'invalid-input',
      `params.responseFormat.schema: it is too ambiguous: more than ${MAX_VISITS} positions in it must be compared for one token. Use fewer alternatives that begin alike, and fewer optional properties.`,
    );
  }

  /** Forgets what follows the states. Those that an answer is at stay right. */
  #forget(): void {
    for (const state of this.#states.values()) state.next.length = 0;
    for (const continuation of this.#continuations) continuation.before.clear();
    this.#states.clear();
    this.#continuations.length = 0;
    this.#stored = 0;
  }

  /** Returns the state of a text that has one of these continuations. */
  #stateOf(from: readonly Continuation[]): State {
    const seen = new Set<Continuation>();
    const continuations: Continuation[] = [];
    let mayEnd = false;
    const left = [...from];
    for (let continuation = left.pop(); continuation; continuation = left.pop()) {
      if (seen.has(continuation)) continue;
      seen.add(continuation);
      this.#visit(1);
      const { grammar, after } = continuation;
      if (!grammar) mayEnd = true;
      else if (grammar.kind === 'bytes') continuations.push(continuation);
      else for (const inner of this.#expand(grammar, after!)) left.push(inner);
    }
    continuations.sort((one, other) => one.id - other.id);
    const key = `${mayEnd}:${continuations.map(({ id }) => id).join()}`;
    const known = this.#states.get(key);
    if (known) return known;
    const state: State = { mayEnd, mayContinue: continuations.length > 0, continuations, next: [] };
    this.#states.set(key, state);
    this.#stored += continuations.length;
    return state;
  }

  /** Returns the continuations that begin with a part that is no byte. */
  #expand(grammar: Exclude<Grammar, { readonly kind: 'bytes' }>, after: Continuation): readonly Continuation[] {
    switch (grammar.kind) {
      case 'sequence':
        this.#visit(grammar.parts.length);
        return [grammar.parts.reduceRight((next, part) => this.#continuation(part, next), after)];
      case 'choice':
        return grammar.options.map((option) => this.#continuation(option, after));
      case 'rule':
        return [this.#continuation(grammar.body!, after)];
      case 'deferred':
        return [this.#continuation(grammar.make(), after)];
      case 'repeat': {
        const { item, min, max } = grammar;
        const again =
          max > 0 ? [this.#continuation(item, max === 1 ? after : this.#continuation(restOf(grammar), after))] : [];
        return min === 0 ? [after, ...again] : again;
      }
    }
  }
}
