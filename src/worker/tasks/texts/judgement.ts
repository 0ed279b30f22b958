/** What a language model reads to judge whether a text answers a query. */
import type { HuggingFaceTokenizer } from '../../text/hugging-face.js';
import type { Encoding } from '../../text/tokenizer.js';

/**
 * The prompt of Qwen3-Reranker, around and between the request's texts.
 * @see https://huggingface.co/Qwen/Qwen3-Reranker-0.6B
 */
const BEFORE =
  '<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n';
const AFTER = '<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n';

/** What the model's card asks for where the request says nothing else. */
export const INSTRUCTION = 'Given a web search query, retrieve relevant passages that answer the query';

/** The maximum number of tokens of a prompt: the card's. */
export const MAX_TOKENS = 8192;

/** A prompt's tokens. */
export interface Judgement extends Encoding {
  /** The tokens before the text that is judged: those of all texts of a query. */
  readonly head: readonly number[];
}

/** Returns a prompt's tokens. The texts' own tokens are cut off at the end if there are too many. */
export function judgementOf(
  { query, text, instruction }: { readonly query: string; readonly text: string; readonly instruction: string },
  tokenizer: Pick<HuggingFaceTokenizer, 'tokensOf'>,
  maxLength: number,
): Judgement {
  const [before, after] = [BEFORE, AFTER].map((part) => tokenizer.tokensOf(part, Infinity)) as [number[], number[]];
  const room = Math.max(0, maxLength - before.length - after.length);
  const start = `<Instruct>: ${instruction}\n<Query>: ${query}\n<Document>:`;
  const tokens = tokenizer.tokensOf(`${start} ${text}`, room + 1);
  const ids = [...before, ...tokens.slice(0, room), ...after];
  const head = [...before, ...tokenizer.tokensOf(start, Infinity)];
  return { ids, typeIds: ids.map(() => 0), head, isTruncated: tokens.length > room };
}
