/** Follows a text through a grammar. What was found out for one text is kept for the next ones. */
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

/** All places where a text may be. */
export interface State {
  /** Whether the text may end here. */
  readonly mayEnd: boolean;
  /** Whether it may go on. */
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
  #places = 0;

  constructor(grammar: Grammar) {
    this.#classes = byteClasses(grammar);
    const end: Place = { id: 0, grammar: undefined, after: undefined, before: new Map() };
    this.start = this.#stateOf([this.#place(grammar, end)]);
  }

  /** How many states there are so far. */
  get size(): number {
    return this.#states.size;
  }

  /** Returns the state after a byte; undefined if the byte cannot come. */
  step(state: State, byte: number): State | undefined {
    const known = state.next[this.#classes[byte]!];
    if (known !== undefined) return known ?? undefined;
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
    const place: Place = { id: ++this.#places, grammar, after, before: new Map() };
    after.before.set(grammar, place);
    return place;
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
      const { grammar, after } = place;
      if (!grammar) mayEnd = true;
      else if (grammar.kind === 'bytes') places.push(place);
      else left.push(...this.#into(grammar, after!));
    }
    places.sort((one, other) => one.id - other.id);
    const key = `${mayEnd}:${places.map(({ id }) => id).join()}`;
    const known = this.#states.get(key);
    if (known) return known;
    const state: State = { mayEnd, mayGoOn: places.length > 0, places, next: [] };
    this.#states.set(key, state);
    return state;
  }

  /** Returns the places where a part that is no byte begins. */
  #into(grammar: Exclude<Grammar, { readonly kind: 'bytes' }>, after: Place): readonly Place[] {
    switch (grammar.kind) {
      case 'sequence':
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
