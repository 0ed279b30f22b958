/** The output of `/v1/responses`: items, and the events of a stream that writes them. */
import type { GeneratedPart, RankedText, WrittenCall } from '../../../shared/generated-text.js';
import { logprobsOf } from './logprobs.js';
import type { Item } from './response-input.js';
import { TokenShares } from './token-shares.js';

/** An event of a stream. */
export interface ResponseEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A kind of items whose text comes in parts. */
interface Kind {
  readonly prefix: string;
  readonly head: Item;
  readonly part: (text: string) => Item;
  /** How the types of its events begin. */
  readonly event: string;
  /** Whether its parts and events have the probabilities of its tokens. */
  readonly hasLogprobs: boolean;
}

const MESSAGE: Kind = {
  prefix: 'msg',
  head: { type: 'message', role: 'assistant' },
  part: (text) => ({ type: 'output_text', text, annotations: [] }),
  event: 'response.output_text',
  hasLogprobs: true,
};
const REASONING: Kind = {
  prefix: 'rs',
  head: { type: 'reasoning', summary: [] },
  part: (text) => ({ type: 'reasoning_text', text }),
  event: 'response.reasoning_text',
  hasLogprobs: false,
};

/** An item that is being written. */
interface OpenItem {
  readonly kind: Kind;
  readonly id: string;
  text: string;
  readonly logprobs: object[];
}

/** Collects the parts of an answer as items. Each step returns the events that tell of it. */
export class ResponseOutput {
  /** The items that are written. */
  readonly items: Item[] = [];
  #open: OpenItem | undefined;
  readonly #shares = new TokenShares();

  /** Adds tokens of the parts that follow. */
  addTokens(tokens: readonly RankedText[]): void {
    this.#shares.add(tokens);
  }

  *add(part: GeneratedPart): Generator<ResponseEvent> {
    if (typeof part !== 'string' && 'toolCall' in part) {
      this.#shares.drop();
      yield* this.end('completed');
      yield* this.#call(part.toolCall);
      return;
    }
    const [kind, delta] =
      typeof part === 'string' ? ([MESSAGE, part] as const) : ([REASONING, part.reasoning] as const);
    if (this.#open?.kind !== kind) {
      yield* this.end('completed');
      yield* this.#begin(kind);
    }
    const open = this.#open!;
    open.text += delta;
    if (delta === '') return;
    const logprobs = logprobsOf(this.#shares.take(delta));
    open.logprobs.push(...logprobs);
    yield { type: `${kind.event}.delta`, ...this.#where(open.id), delta, ...(kind.hasLogprobs && { logprobs }) };
  }

  /** Ends the item that is being written. */
  *end(status: 'completed' | 'incomplete'): Generator<ResponseEvent> {
    const open = this.#open;
    if (!open) return;
    const { kind, id, text } = open;
    const logprobs = kind.hasLogprobs && { logprobs: open.logprobs };
    const part = { ...kind.part(text), ...logprobs };
    const where = this.#where(id);
    yield { type: `${kind.event}.done`, ...where, text, ...logprobs };
    yield { type: 'response.content_part.done', ...where, part };
    yield* this.#close({ id, ...kind.head, status, content: [part] });
  }

  *#begin(kind: Kind): Generator<ResponseEvent> {
    const id = idOf(kind.prefix);
    this.#open = { kind, id, text: '', logprobs: [] };
    yield this.#added({ id, ...kind.head, status: 'in_progress', content: [] });
    yield {
      type: 'response.content_part.added',
      ...this.#where(id),
      part: { ...kind.part(''), ...(kind.hasLogprobs && { logprobs: [] }) },
    };
  }

  *#call({ id: callId, name, arguments: given }: WrittenCall): Generator<ResponseEvent> {
    const id = idOf('fc');
    const text = JSON.stringify(given);
    const head = { id, type: 'function_call', call_id: callId, name };
    const where = { item_id: id, output_index: this.items.length };
    yield this.#added({ ...head, arguments: '', status: 'in_progress' });
    yield { type: 'response.function_call_arguments.delta', ...where, delta: text };
    yield { type: 'response.function_call_arguments.done', ...where, name, arguments: text };
    yield* this.#close({ ...head, arguments: text, status: 'completed' });
  }

  #added(item: Item): ResponseEvent {
    return { type: 'response.output_item.added', output_index: this.items.length, item };
  }

  *#close(item: Item): Generator<ResponseEvent> {
    const index = this.items.push(item) - 1;
    this.#open = undefined;
    yield { type: 'response.output_item.done', output_index: index, item };
  }

  #where(id: string): object {
    return { item_id: id, output_index: this.items.length, content_index: 0 };
  }
}

/** Returns a new id. */
export function idOf(prefix: string): string {
  return `${prefix}_${crypto.randomUUID().replaceAll('-', '')}`;
}
