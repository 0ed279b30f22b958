import { TabServeError } from '../../../contract/errors.js';
import type { Begun } from '../../generation/generate.js';

/** The text of a recording, as far as its tokens are settled. */
export class SettledText {
  readonly #begun: Begun | undefined;
  /** How many tokens were taken. */
  #count = 0;

  /** @param begun what a worker that was lost has sent */
  constructor(begun: Begun | undefined) {
    this.#begun = begun;
  }

  /**
   * Returns the tokens that were not taken yet.
   * @param tokens all that are settled, from the text's beginning
   * @throws `worker-lost` if a worker that was lost has sent another text
   */
  take(tokens: readonly number[]): readonly number[] {
    const fresh = tokens.slice(this.#count);
    for (const token of fresh) {
      const was = this.#begun?.tokens[this.#count];
      this.#count += 1;
      if (was !== undefined && was !== token)
        throw new TabServeError(
          'worker-lost',
          'The worker that wrote the text was lost after a part of it was sent, and the one in its place has written another text. Ask again.',
        );
    }
    return fresh;
  }
}
