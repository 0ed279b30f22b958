import { TabServeError } from '../../../contract/errors.js';
import type { Detokenizer } from '../../text/tokenizer.js';
import { noToken } from '../sample.js';
import type { Automaton, State } from './automaton.js';
import type { Vocabulary } from './vocabulary.js';

/** An answer that keeps to a grammar, as far as it goes. */
export class GuidedAnswer {
  readonly #grammar: Automaton;
  readonly #vocabulary: Vocabulary;
  readonly #eosTokenIds: readonly number[];
  #state: State;

  constructor(grammar: Automaton, vocabulary: Vocabulary, eosTokenIds: readonly number[]) {
    this.#grammar = grammar;
    this.#vocabulary = vocabulary;
    this.#eosTokenIds = eosTokenIds;
    this.#state = grammar.start;
  }

  get detokenizer(): Detokenizer {
    return this.#vocabulary.detokenizer;
  }

  /** Whether nothing can follow. */
  get isComplete(): boolean {
    return !this.#state.mayContinue;
  }

  /**
   * Rules out the tokens that cannot come next: they get −∞. One that ends the answer can come where the grammar ends.
   * @throws `inference-failed` if none is left
   */
  mask(logits: Float32Array): void {
    const tokens = this.#vocabulary.tokensIn(this.#grammar, this.#state);
    const ends = this.#eosTokenIds.map((id) => [id, this.#state.mayEnd ? logits[id]! : -Infinity] as const);
    // The model may have more logits than there are tokens.
    for (let at = 0; at * 32 < logits.length; at++) keep(logits, at * 32, tokens[at] ?? 0);
    for (const [id, logit] of ends) logits[id] = logit;
    if (!logits.some((logit) => logit > -Infinity)) throw noToken();
  }

  /** Adds a token that is no end. @throws `handler-failed` if it cannot come next */
  add(token: number): void {
    const next = this.#vocabulary.step(this.#grammar, this.#state, token);
    if (!next)
      throw new TabServeError(
        'handler-failed',
        `nextToken has chosen the token ${token}, which responseFormat has ruled out: its logit was −Infinity.`,
      );
    this.#state = next;
  }
}

/** Keeps the logits of those of 32 tokens, from an index on, that have a bit. */
function keep(logits: Float32Array, from: number, bits: number): void {
  if (bits === 0) logits.fill(-Infinity, from, from + 32);
  else if (bits !== 0xffff_ffff)
    for (let bit = 0; bit < 32; bit++) if (((bits >>> bit) & 1) === 0) logits[from + bit] = -Infinity;
}
