import { TabServeError } from '../../../contract/errors.js';
import type { GenerateOptions } from '../../generation/generate.js';

/** Sends the tokens of a text as soon as they are settled. */
export class SettledText {
  readonly #tools: Pick<GenerateOptions, 'begun' | 'onToken'>;
  /** How many tokens were sent. */
  #count = 0;
  #goesOn = true;

  constructor(tools: Pick<GenerateOptions, 'begun' | 'onToken'>) {
    this.#tools = tools;
  }

  /**
   * Sends what was not sent yet.
   * @param tokens all that are settled, from the text's beginning
   * @returns whether the text goes on
   * @throws `worker-lost` if a worker that was lost has sent another text
   */
  async send(tokens: readonly number[]): Promise<boolean> {
    const { begun, onToken } = this.#tools;
    for (; this.#goesOn && this.#count < tokens.length; this.#count++) {
      const token = tokens[this.#count]!;
      const was = begun?.tokens[this.#count];
      if (was !== undefined && was !== token)
        throw new TabServeError(
          'worker-lost',
          'The worker that wrote the text was lost after a part of it was sent, and the one in its place has written another text. Ask again.',
        );
      this.#goesOn = await onToken(token, []);
    }
    return this.#goesOn;
  }
}
