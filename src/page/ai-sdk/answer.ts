/** What `text_generator` answers, as the SDK has it. */
import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import { isGenerated, isPart, type Generated, type WrittenCall } from '../../shared/generated-text.js';
import type { FinishReason, GenerateResult, StreamPart, Usage } from './specification.js';

type Content = GenerateResult['content'][number];

/** @throws `invalid-input` if the handler does not generate text */
export function readGenerated(result: unknown): Generated {
  if (isGenerated(result)) return result;
  throw new TabServeError(
    'invalid-input',
    `This client's model does not generate text: it answers with ${describeValue(result)}.`,
  );
}

/** Returns an item of a stream as a part of an answer; undefined for the result. */
export function partOf(item: unknown): Content | undefined {
  if (!isPart(item)) return undefined;
  if (typeof item === 'string') return { type: 'text', text: item };
  return 'reasoning' in item ? { type: 'reasoning', text: item.reasoning } : callOf(item.toolCall);
}

/** Returns the parts of an answer. One that only calls tools has no text. */
export function contentOf({ text, reasoning, toolCalls = [] }: Generated): Content[] {
  return [
    ...(reasoning === undefined ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
    ...(text === '' && toolCalls.length > 0 ? [] : [{ type: 'text' as const, text }]),
    ...toolCalls.map(callOf),
  ];
}

function callOf({ id, name, arguments: given }: WrittenCall): Content {
  return { type: 'tool-call', toolCallId: id, toolName: name, input: JSON.stringify(given) };
}

/** Returns why an answer has ended, and what it has used. */
export function endOf({ reasoning, finishReason, usage }: Generated): { finishReason: FinishReason; usage: Usage } {
  const { promptTokens, cachedTokens = 0, completionTokens } = usage;
  return {
    finishReason: { unified: finishReason === 'tool_calls' ? 'tool-calls' : finishReason, raw: finishReason },
    usage: {
      inputTokens: {
        total: promptTokens,
        noCache: promptTokens - cachedTokens,
        cacheRead: cachedTokens,
        cacheWrite: undefined,
      },
      outputTokens: {
        total: completionTokens,
        text: reasoning === undefined ? completionTokens : undefined,
        reasoning: undefined,
      },
    },
  };
}

/** The parts of a stream, of which texts and reasoning are blocks, one after another. */
export class Blocks {
  #open: 'text' | 'reasoning' | undefined;
  #count = 0;
  hasBegun = false;

  /** Adds a part. */
  add(part: Content): StreamPart[] {
    this.hasBegun = true;
    if (part.type === 'tool-call') return [...this.end(), part];
    const before = this.#open === part.type ? [] : [...this.end(), this.#begin(part.type)];
    return [...before, { type: `${part.type}-delta`, id: this.#id, delta: part.text }];
  }

  /** Ends the block that is open. */
  end(): StreamPart[] {
    if (!this.#open) return [];
    const type = this.#open;
    this.#open = undefined;
    return [{ type: `${type}-end`, id: this.#id }];
  }

  #begin(type: 'text' | 'reasoning'): StreamPart {
    this.#open = type;
    this.#count += 1;
    return { type: `${type}-start`, id: this.#id };
  }

  get #id(): string {
    return String(this.#count - 1);
  }
}
