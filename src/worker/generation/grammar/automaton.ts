/** Follows a text through a grammar. The results for one text are cached for the next ones. */
import { TabServeError } from '../../../contract/errors.js';
import { byteClasses, restOf, type Grammar } from './grammar.js';

/** A part that comes next, and what comes after it. Equal ones are one object. */
interface Place {
  readonly id: number;
  /** Undefined at the end of the grammar. */
  readonly grammar: Grammar | undefined;
  readonly after: Place | undefined;
  /** The places that are followed by this one. */
  readonly before: Map<Grammar, Place>;
}

/** A search visits so many places at most: about half a second. */
const MAX_VISITS = 500_000;
/** With more places in all its states, an automaton forgets them before the next search. */
const MAX_KEPT = 2_000_000;

/** All places where a text may be. */
export interface State {
  /** Whether the text may end here. */
  readonly mayEnd: boolean;
  /** Whether it may continue. */
  readonly mayGoOn: boolean;
  /** Those of bytes. */
  readonly places: readonly Place[];
  /** The state after a byte of each class, where it is known; null if the byte cannot come. */
  readonly next: (State | null)[];
}

/** The states of a grammar, each made when a text first gets there. */
export class Automaton {
  readonly start: State;
  readonly #classes: Uint8Array;
  readonly #states = new Map<string, State>();
  readonly #places: Place[] = [];
  #lastId = 0;
  /** How many places the states have, in all of them. */
  #kept = 0;
  #visits = 0;

  constructor(grammar: Grammar) {
    this.#classes = byteClasses(grammar);
    const end: Place = { id: 0, grammar: undefined, after: undefined, before: new Map() };
    this.start = this.#stateOf([this.#place(grammar, end)]);
  }

  /** How many places were visited since `beginSearch`: those of states that are known are not visited again. */
  get visits(): number {
    return this.#visits;
  }

  /** Begins to look for what can follow a state. */
  beginSearch(): void {
    this.#visits = 0;
    if (this.#kept > MAX_KEPT) this.#forget();
  }

  /**
   * Returns the state after a byte; undefined if the byte cannot come.
   * @throws `invalid-input` if the search visits too many places
   */
  step(state: State, byte: number): State | undefined {
    const known = state.next[this.#classes[byte]!];
    if (known !== undefined) return known ?? undefined;
    this.#visit(state.places.length);
    const after = state.places
      .filter(({ grammar }) => grammar!.kind === 'bytes' && grammar!.set[byte] === 1)
      .map((place) => place.after!);
    const found = after.length === 0 ? null : this.#stateOf(after);
    state.next[this.#classes[byte]!] = found;
    return found ?? undefined;
  }

  #place(grammar: Grammar, after: Place): Place {
    const known = after.before.get(grammar);
    if (known) return known;
    const place: Place = { id: ++this.#lastId, grammar, after, before: new Map() };
    after.before.set(grammar, place);
    this.#places.push(place);
    return place;
  }

  #visit(places: number): void {
    this.#visits += places;
    if (this.#visits <= MAX_VISITS) return;
    // The next search must not get further than this one.
    this.#forget();
    throw new TabServeError(
      'invalid-input',
      `params.responseFormat.schema: it is too ambiguous: more than ${MAX_VISITS} places in it must be compared for one token. Use fewer alternatives that begin alike, and fewer optional properties.`,
    );
  }

  /** Forgets what follows the states. Those that an answer is at stay right. */
  #forget(): void {
    for (const state of this.#states.values()) state.next.length = 0;
    for (const place of this.#places) place.before.clear();
    this.#states.clear();
    this.#places.length = 0;
    this.#kept = 0;
  }

  /** Returns the state of a text that is at one of these places. */
  #stateOf(from: readonly Place[]): State {
    const seen = new Set<Place>();
    const places: Place[] = [];
    let mayEnd = false;
    const left = [...from];
    for (let place = left.pop(); place; place = left.pop()) {
      if (seen.has(place)) continue;
      seen.add(place);
      this.#visit(1);
      const { grammar, after } = place;
      if (!grammar) mayEnd = true;
      else if (grammar.kind === 'bytes') places.push(place);
      else for (const inner of this.#into(grammar, after!)) left.push(inner);
    }
    places.sort((one, other) => one.id - other.id);
    const key = `${mayEnd}:${places.map(({ id }) => id).join()}`;
    const known = this.#states.get(key);
    if (known) return known;
    const state: State = { mayEnd, mayGoOn: places.length > 0, places, next: [] };
    this.#states.set(key, state);
    this.#kept += places.length;
    return state;
  }

  /** Returns the places where a part that is no byte begins. */
  #into(grammar: Exclude<Grammar, { readonly kind: 'bytes' }>, after: Place): readonly Place[] {
    switch (grammar.kind) {
      case 'sequence':
        this.#visit(grammar.parts.length);
        return [grammar.parts.reduceRight((next, part) => this.#place(part, next), after)];
      case 'choice':
        return grammar.options.map((option) => this.#place(option, after));
      case 'rule':
        return [this.#place(grammar.body!, after)];
      case 'repeat': {
        const { item, min, max } = grammar;
        const again = max > 0 ? [this.#place(item, max === 1 ? after : this.#place(restOf(grammar), after))] : [];
        return min === 0 ? [after, ...again] : again;
      }
    }
  }
}
