/** What handlers that generate text return, whole and in parts, as those read it who get it from any client. */
import { isPlainObject } from './is-plain-object.js';

/** What a handler that generates text returns for a row. */
export interface Generated {
  readonly text: string;
  readonly reasoning?: string;
  readonly toolCalls?: readonly WrittenCall[];
  readonly finishReason: 'stop' | 'length' | 'tool_calls';
  readonly usage: { readonly promptTokens: number; readonly cachedTokens?: number; readonly completionTokens: number };
  /** The tokens of the answer, if they were asked for. */
  readonly tokens?: readonly RankedText[];
}

/** A token of an answer, with the most probable ones in its place. */
export interface RankedText extends WrittenToken {
  readonly top: readonly WrittenToken[];
}

/** A token, and the natural logarithm of its probability. */
export interface WrittenToken {
  readonly text: string;
  /** In UTF-8. */
  readonly bytes: readonly number[];
  readonly logprob: number;
}

/** A call of a tool. */
export interface WrittenCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: object;
}

/** A part of a stream that is part of the answer. */
export type GeneratedPart = string | { readonly reasoning: string } | { readonly toolCall: WrittenCall };

/** The tokens that make the next part of a stream. */
export interface TokensPart {
  readonly tokens: readonly RankedText[];
}

/** Returns whether an item of a stream is part of the answer, and neither tokens nor the result. */
export function isPart(part: unknown): part is GeneratedPart {
  if (typeof part === 'string') return true;
  return isPlainObject(part) && !('usage' in part) && ('reasoning' in part || 'toolCall' in part);
}

/** Returns whether an item of a stream is the tokens of the next part. */
export function isTokensPart(part: unknown): part is TokensPart {
  return isPlainObject(part) && !('usage' in part) && Array.isArray(part['tokens']);
}

/** Yields the items of a stream, but for those that tell the tokens of others. */
export async function* withoutTokens(items: AsyncIterable<unknown>): AsyncGenerator {
  for await (const item of items) if (!isTokensPart(item)) yield item;
}

/** Returns whether a result is generated text. */
export function isGenerated(result: unknown): result is Generated {
  return isPlainObject(result) && typeof result['text'] === 'string' && isPlainObject(result['usage']);
}

/** What handlers say of a prompt that is too long for their model. */
const TOO_LONG = /\bthe model's context has \d+/;

/** Returns whether an error's message says that a prompt is too long for its model. */
export function isTooLong(message: string): boolean {
  return TOO_LONG.test(message);
}

/** Returns a result as the parts that a handler which streams would have sent. */
export function partsOf({ reasoning, text, toolCalls = [] }: Generated): readonly GeneratedPart[] {
  return [
    ...(reasoning === undefined ? [] : [{ reasoning }]),
    ...(text === '' && toolCalls.length > 0 ? [] : [text]),
    ...toolCalls.map((toolCall) => ({ toolCall })),
  ];
}
