/** A conversation of the Prompt API. */
import { TabServeError } from '../../contract/errors.js';
import type { Params } from '../../contract/handler.js';
import { unlessAborted } from '../../shared/abort.js';
import type { ChatMessage } from '../../shared/chat.js';
import {
  isGenerated,
  isPart,
  isTooLong,
  partsOf,
  withoutTokens,
  type Generated,
  type WrittenCall,
} from '../../shared/generated-text.js';
import type { LanguageModelClient } from '../ai-sdk/language-model.js';
import { constraintOf, withNote } from './constraint.js';
import { messagesOf, toolOf } from './prompts.js';
import type { PromptInput, PromptOptions, PromptTool } from './specification.js';

/** What a session has been created with. */
export interface SessionSettings {
  readonly client: LanguageModelClient;
  /** The maximum number of tokens. */
  readonly contextWindow: number;
  readonly params: Params;
  readonly tools: readonly PromptTool[];
}

/** The maximum number of times that one prompt may call tools. */
const MAX_ROUNDS = 20;

/** Whether a session's context had no room for a prompt: the oldest messages were dropped. */
const OVERFLOW = 'contextoverflow';

/** A conversation that the model remembers. Prompts are answered one after the other. */
export class LanguageModelSession extends EventTarget {
  readonly #settings: SessionSettings;
  #messages: readonly ChatMessage[];
  #usage = 0;
  /** The messages that `#usage` is of. */
  #counted: readonly ChatMessage[];
  #last: Promise<void> = Promise.resolve();
  readonly #destroyed = new AbortController();
  #onOverflow: ((event: Event) => void) | null = null;

  constructor(settings: SessionSettings, messages: readonly ChatMessage[]) {
    super();
    this.#settings = settings;
    this.#messages = messages;
    // Of a conversation that has begun, nothing is counted yet.
    this.#counted = messages.length === 0 ? messages : [];
  }

  /** How many tokens the conversation had when it was last answered. */
  get contextUsage(): number {
    return this.#usage;
  }

  /** The maximum number of tokens of the conversation; Infinity if the model names none. */
  get contextWindow(): number {
    return this.#settings.contextWindow;
  }

  get oncontextoverflow(): ((event: Event) => void) | null {
    return this.#onOverflow;
  }

  set oncontextoverflow(listener: ((event: Event) => void) | null) {
    if (this.#onOverflow) this.removeEventListener(OVERFLOW, this.#onOverflow);
    this.#onOverflow = listener;
    if (listener) this.addEventListener(OVERFLOW, listener);
  }

  /**
   * Returns the answer to a prompt.
   * @throws `QuotaExceededError` for a prompt that is longer than the context; `InvalidStateError` after `destroy`; the
   *   signal's reason; `TabServeError`
   */
  async prompt(input: PromptInput, options: PromptOptions = {}): Promise<string> {
    let text = '';
    for await (const part of this.#answer(input, options)) text += part;
    return text;
  }

  /** Returns the answer to a prompt in parts. Cancelling the stream ends the answer. */
  promptStreaming(input: PromptInput, options: PromptOptions = {}): ReadableStream<string> {
    const left = new AbortController();
    const signal = AbortSignal.any([left.signal, ...(options.signal ? [options.signal] : [])]);
    const parts = this.#answer(input, { ...options, signal });
    // The answer is written whether it is read or not: the next prompt waits for its end.
    const write = async (controller: ReadableStreamDefaultController<string>): Promise<void> => {
      try {
        for await (const part of parts) controller.enqueue(part);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
    };
    return new ReadableStream<string>({
      start: (controller) => void write(controller),
      cancel: (reason) => left.abort(reason),
    });
  }

  /** Adds messages that are not answered. */
  async append(input: PromptInput, { signal }: Pick<PromptOptions, 'signal'> = {}): Promise<void> {
    const added = messagesOf(input, false);
    await this.#inTurn(signal, async () => void (this.#messages = [...this.#messages, ...added]));
  }

  /**
   * Returns how many tokens a prompt would add. It runs the conversation with it once, which the next prompt need not
   * run again where the model's cache allows that.
   */
  async measureContextUsage(input: PromptInput, options: PromptOptions = {}): Promise<number> {
    const added = withNote(messagesOf(input), constraintOf(options).note);
    return await this.#inTurn(options.signal, async (signal) => {
      const isCounted = this.#counted === this.#messages;
      const before = isCounted ? this.#usage : await this.#count(this.#messages, signal);
      return (await this.#count([...this.#messages, ...added], signal)) - before;
    });
  }

  /** Returns another session with the same conversation. */
  async clone({ signal }: { readonly signal?: AbortSignal } = {}): Promise<LanguageModelSession> {
    return await this.#inTurn(signal, async () => {
      const clone = new LanguageModelSession(this.#settings, this.#messages);
      clone.#usage = this.#usage;
      clone.#counted = this.#counted;
      return clone;
    });
  }

  /** Ends the conversation. What is still being answered is aborted. */
  destroy(): void {
    this.#destroyed.abort(new DOMException('The session was destroyed.', 'AbortError'));
  }

  /** Waits until what was asked before has ended. The caller calls `end`. */
  async #begin(given: AbortSignal | undefined): Promise<{ readonly signal: AbortSignal; readonly end: () => void }> {
    if (this.#destroyed.signal.aborted) throw new DOMException('The session was destroyed.', 'InvalidStateError');
    const signal = AbortSignal.any([this.#destroyed.signal, ...(given ? [given] : [])]);
    const before = this.#last;
    let end!: () => void;
    this.#last = new Promise<void>((resolve) => (end = resolve));
    try {
      await unlessAborted(before, signal);
      return { signal, end };
    } catch (error) {
      // Who comes after this waits for what was before it.
      void before.then(end);
      throw signal.aborted ? signal.reason : error;
    }
  }

  /** Runs something when what was asked before has ended. */
  async #inTurn<T>(given: AbortSignal | undefined, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal, end } = await this.#begin(given);
    try {
      return await run(signal);
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      end();
    }
  }

  /** Yields the text of an answer. The conversation has both the prompt and the answer when it has ended. */
  async *#answer(input: PromptInput, options: PromptOptions): AsyncGenerator<string, void> {
    const { params, isQuoted, note } = constraintOf(options);
    const added = withNote(messagesOf(input), note);
    const { signal, end } = await this.#begin(options.signal);
    try {
      let answered = added;
      for (let round = 1; ; round++) {
        const { text, result } = yield* this.#write(
          answered,
          { ...this.#settings.params, ...params },
          isQuoted,
          signal,
        );
        const { toolCalls = [] } = result;
        answered = withAnswer(answered, text, toolCalls);
        if (toolCalls.length === 0) {
          this.#messages = [...this.#messages, ...answered];
          this.#usage = result.usage.promptTokens + result.usage.completionTokens;
          this.#counted = this.#messages;
          return;
        }
        if (round === MAX_ROUNDS)
          throw new TabServeError('inference-failed', `The model has called tools ${MAX_ROUNDS} times in a row.`);
        const outputs = Promise.all(toolCalls.map((call) => this.#call(call)));
        answered = [...answered, ...(await unlessAborted(outputs, signal))];
      }
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      end();
    }
  }

  /** Yields the parts of one message, and returns it. Drops the oldest messages if it has no room. */
  async *#write(
    added: readonly ChatMessage[],
    params: Params,
    isQuoted: boolean,
    signal: AbortSignal,
  ): AsyncGenerator<string, { readonly text: string; readonly result: Generated }> {
    const { client } = this.#settings;
    for (;;) {
      let text = '';
      try {
        for await (const part of withoutTokens(client.stream(this.#inputOf(added), { params, signal }))) {
          if (isPart(part)) {
            if (typeof part !== 'string') continue;
            text += part;
            if (!isQuoted && part !== '') yield part;
            continue;
          }
          const result = readGenerated(part);
          // A handler that sends no parts has them in its result.
          if (text === '') for (const one of partsOf(result)) if (typeof one === 'string') text += one;
          if (!isQuoted) return { text, result };
          const answer = result.finishReason === 'stop' ? (JSON.parse(text) as string) : text;
          yield answer;
          return { text: answer, result };
        }
        throw new TabServeError('inference-failed', 'The answer has no end.');
      } catch (error) {
        if (!(error instanceof TabServeError && isTooLong(error.message))) throw error;
        if (!this.#dropOldest()) throw tooLong(error, this.contextWindow);
      }
    }
  }

  /** Drops the oldest message after the system message, with its answer. Returns whether there was one. */
  #dropOldest(): boolean {
    const first = this.#messages[0]?.role === 'system' ? 1 : 0;
    const next = this.#messages.findIndex(({ role }, at) => at > first && role === 'user');
    const end = next === -1 ? this.#messages.length : next;
    if (end <= first) return false;
    this.#messages = this.#messages.toSpliced(first, end - first);
    this.dispatchEvent(new Event(OVERFLOW));
    return true;
  }

  #inputOf(added: readonly ChatMessage[]): object {
    const { tools } = this.#settings;
    return { messages: [...this.#messages, ...added], ...(tools.length > 0 && { tools: tools.map(toolOf) }) };
  }

  async #count(messages: readonly ChatMessage[], signal: AbortSignal): Promise<number> {
    const { client, tools } = this.#settings;
    const input = { messages, ...(tools.length > 0 && { tools: tools.map(toolOf) }) };
    return readGenerated(await client.predict(input, { params: { maxNewTokens: 1 }, signal })).usage.promptTokens;
  }

  /** Returns the message of what a tool has returned. */
  async #call({ id, name, arguments: given }: WrittenCall): Promise<ChatMessage> {
    const tool = this.#settings.tools.find((one) => one.name === name);
    if (!tool) throw new TabServeError('inference-failed', `The model has called "${name}", which is no tool.`);
    const output = await tool.execute(given as never);
    return {
      role: 'tool',
      tool_call_id: id,
      name,
      content: typeof output === 'string' ? output : JSON.stringify(output ?? null),
    };
  }
}

/** Returns messages with the answer to them. A last message of the assistant is continued. */
function withAnswer(
  messages: readonly ChatMessage[],
  text: string,
  calls: readonly WrittenCall[],
): readonly ChatMessage[] {
  const last = messages.at(-1)!;
  const tools = calls.map(({ id, name, arguments: given }) => ({
    id,
    type: 'function',
    function: { name, arguments: given },
  }));
  const isContinued = last.role === 'assistant';
  const content = isContinued ? joined(last.content, text) : text;
  const answer = { role: 'assistant', content, ...(tools.length > 0 && { tool_calls: tools }) };
  return [...(isContinued ? messages.slice(0, -1) : messages), answer];
}

/** Returns a content, a text or a list of parts, with a text added to it. */
function joined(content: unknown, text: string): unknown {
  return typeof content === 'string' ? content + text : [...(content as object[]), { type: 'text', text }];
}

function readGenerated(result: unknown): Generated {
  if (isGenerated(result)) return result;
  throw new TabServeError('invalid-input', "This client's model does not generate text.");
}

function tooLong(cause: TabServeError, window: number): Error {
  const error = new DOMException(cause.message, 'QuotaExceededError');
  return Object.assign(error, { quota: window, cause });
}
