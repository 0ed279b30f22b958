import { Automaton } from './automaton.js';
import type { Grammar } from './grammar.js';

/** The maximum number of cached automata. */
const MAX_AUTOMATA = 16;

/** The automata of the grammars that requests ask for. */
export class Automata {
  /** The most recently used last. */
  readonly #known = new Map<string, Automaton>();

  /** Returns the automaton of a grammar. @param key the same for the same grammar */
  of(key: string, make: () => Grammar): Automaton {
    const automaton = this.#known.get(key) ?? new Automaton(make());
    this.#known.delete(key);
    this.#known.set(key, automaton);
    if (this.#known.size > MAX_AUTOMATA) this.#known.delete(this.#known.keys().next().value!);
    return automaton;
  }
}
