/** The probabilities of an answer's tokens, as OpenAI's APIs of completions ask for them and write them. */
import type { RankedText, WrittenToken } from '../../../shared/generated-text.js';
import { wrongField, wrongValue, type Body } from './request.js';

type Tokens = readonly RankedText[];

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

/**
 * Returns how many alternatives to each token a request to `/v1/responses` asks for; undefined if for no tokens.
 * @param isIncluded whether its `include` names the probabilities
 */
export function topOfResponse({ top_logprobs: top = 0 }: Body, isIncluded: boolean): number | undefined {
  checkTop('top_logprobs', top, MAX_TOP);
  if (isIncluded) return top as number;
  if (top === 0) return undefined;
  throw wrongField('top_logprobs', 'it needs include: ["message.output_text.logprobs"].', 'invalid_value');
}

/** Writes the tokens of a message. */
export function chatLogprobs(tokens: Tokens): object {
  return { content: logprobsOf(tokens), refusal: null };
}

/** Writes tokens, each with its alternatives. */
export function logprobsOf(tokens: Tokens): readonly object[] {
  const write = ({ text, bytes, logprob }: WrittenToken): object => ({ token: text, logprob, bytes });
  return tokens.map((one) => ({ ...write(one), top_logprobs: one.top.map(write) }));
}

/** Writes the tokens of a completion. Offsets count characters of the answer. @param before the tokens before these */
export function completionLogprobs(tokens: Tokens, before: Tokens): object {
  let offset = before.reduce((length, { text }) => length + text.length, 0);
  return {
    tokens: tokens.map(({ text }) => text),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    top_logprobs: tokens.map(({ top }) => Object.fromEntries(top.map(({ text, logprob }) => [text, logprob]))),
    text_offset: tokens.map(({ text }) => (offset += text.length) - text.length),
  };
}
