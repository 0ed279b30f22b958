import { TabServeError } from '../../../contract/errors.js';
import type { HuggingFaceTokenizer } from '../../text/hugging-face.js';

/** The token before a text that was said earlier. */
const PREVIOUS = '<|startofprev|>';

/**
 * Returns the tokens of a prompt: `get_prompt_ids` of transformers. Of a long one, the end counts, as in OpenAI's Whisper.
 * @param most positions of the decoder: the prompt has less than half of them
 * @param isText returns whether a token is text
 * @throws `invalid-input` for a special token in the text, and for a model that has no prompts
 */
export function promptTokens(
  text: string,
  { idOf, tokensOf, tokenOf }: HuggingFaceTokenizer,
  most: number,
  isText: (token: number) => boolean,
): readonly number[] {
  const previous = idOf(PREVIOUS);
  if (previous === undefined)
    throw new TabServeError(
      'invalid-input',
      `params.prompt: the model has no prompts: its tokenizer has no ${PREVIOUS}. Leave it out.`,
    );
  const tokens = tokensOf(` ${text.trim()}`, Infinity);
  const special = tokens.find((token) => !isText(token));
  if (special !== undefined)
    throw new TabServeError(
      'invalid-input',
      `params.prompt: it has the special token ${tokenOf(special)}, which is no text. Remove it.`,
    );
  return [previous, ...tokens.slice(-Math.max(1, Math.floor(most / 2) - 1))];
}
