/** The probabilities of an answer's tokens, as OpenAI's APIs of completions ask for them and write them. */
import type { Generated, WrittenToken } from '../../../shared/generated-text.js';
import { wrongField, wrongValue, type Body } from './request.js';

type Tokens = NonNullable<Generated['tokens']>;

/** The maximum number of alternatives to a token: OpenAI's of conversations. */
const MAX_TOP = 20;
/** OpenAI's of completions. */
const MAX_TOP_OF_COMPLETIONS = 5;

/** Returns how many alternatives to each token a request for a conversation asks for; undefined if for no tokens. */
export function topOfChat({ logprobs = false, top_logprobs: top }: Body): number | undefined {
  if (typeof logprobs !== 'boolean') throw wrongValue('logprobs', 'true or false', logprobs);
  if (top !== undefined) checkTop('top_logprobs', top, MAX_TOP);
  if (logprobs) return (top as number | undefined) ?? 0;
  if (top === undefined || top === 0) return undefined;
  throw wrongField('top_logprobs', 'it needs logprobs: true.', 'invalid_value');
}

/** Returns how many alternatives to each token a request for a completion asks for; undefined if for no tokens. */
export function topOfCompletion({ logprobs }: Body): number | undefined {
  if (logprobs === undefined || logprobs === false) return undefined;
  checkTop('logprobs', logprobs, MAX_TOP_OF_COMPLETIONS);
  return logprobs as number;
}

function checkTop(field: string, value: unknown, most: number): void {
  if (!Number.isInteger(value) || (value as number) < 0 || (value as number) > most)
    throw wrongValue(field, `a whole number from 0 to ${most}`, value);
}

/** Writes the tokens of a message. */
export function chatLogprobs(tokens: Tokens): object {
  const write = ({ text, bytes, logprob }: WrittenToken): object => ({ token: text, logprob, bytes });
  return { content: tokens.map((one) => ({ ...write(one), top_logprobs: one.top.map(write) })), refusal: null };
}

/** Writes the tokens of a completion. Offsets count characters of the answer. */
export function completionLogprobs(tokens: Tokens): object {
  let offset = 0;
  return {
    tokens: tokens.map(({ text }) => text),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    top_logprobs: tokens.map(({ top }) => Object.fromEntries(top.map(({ text, logprob }) => [text, logprob]))),
    text_offset: tokens.map(({ text }) => (offset += text.length) - text.length),
  };
}
