/** What handlers that generate text return, whole and in parts. */
import { isPlainObject } from '../../../shared/is-plain-object.js';
import type { ServedVersion } from '../../served-version.js';
import { makesOther } from './models.js';

/** What a handler that generates text returns for a row. */
export interface Generated {
  readonly text: string;
  readonly reasoning?: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly finishReason: 'stop' | 'length' | 'tool_calls';
  readonly usage: { readonly promptTokens: number; readonly cachedTokens?: number; readonly completionTokens: number };
}

/** A call of a tool. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: object;
}

/** A part of a stream. */
export type Part = string | { readonly reasoning: string } | { readonly toolCall: ToolCall };

/** Returns whether an item of a stream is a part, and not the result. */
export function isPart(part: unknown): part is Part {
  if (typeof part === 'string') return true;
  return isPlainObject(part) && !('usage' in part) && ('reasoning' in part || 'toolCall' in part);
}

/** Returns a result as generated text. @throws `invalid-input` if the handler does not generate text */
export function readGenerated(result: unknown, served: ServedVersion): Generated {
  if (isPlainObject(result) && typeof result['text'] === 'string' && isPlainObject(result['usage']))
    return result as unknown as Generated;
  throw makesOther('text', served);
}

/** Returns a result as the parts that a handler which streams would have sent. */
export function partsOf({ reasoning, text, toolCalls = [] }: Generated): readonly Part[] {
  return [
    ...(reasoning === undefined ? [] : [{ reasoning }]),
    ...(text === '' && toolCalls.length > 0 ? [] : [text]),
    ...toolCalls.map((toolCall) => ({ toolCall })),
  ];
}
