import { TabServeError } from '../../contract/errors.js';

/**
 * Returns how many tokens of a text are read: one that is much too long for the model is not read to its end, because
 * nothing else runs meanwhile.
 */
export function mostTokens(contextLength: number): number {
  return 4 * contextLength;
}

/** Formats the number of a text's tokens. */
export function formatTokens({ length }: readonly number[], contextLength: number): string {
  return `${length} tokens${length >= mostTokens(contextLength) ? ' or more' : ''}`;
}

/**
 * Checks the tokens of a prompt.
 * @param contextLength the most tokens of prompt and answer together
 * @throws `invalid-input` if it is empty, or leaves no room for an answer; `model-config` if the tokenizer is another
 *   model's
 */
export function checkPrompt(tokens: readonly number[], contextLength: number, vocabularySize = Infinity): void {
  if (tokens.length === 0)
    throw new TabServeError(
      'invalid-input',
      'The prompt is empty: it has no tokens, and this model needs one to begin with.',
    );
  if (tokens.length >= contextLength)
    throw new TabServeError(
      'invalid-input',
      `The prompt has ${formatTokens(tokens, contextLength)}, and the model's context has ${contextLength}, for prompt and answer together. Shorten the prompt.`,
    );
  const foreign = tokens.find((token) => token >= vocabularySize);
  if (foreign !== undefined)
    throw new TabServeError(
      'model-config',
      `The tokenizer made the token ${foreign} of the prompt, but the model has only ${vocabularySize} tokens. Use the tokenizer of this model.`,
    );
}
