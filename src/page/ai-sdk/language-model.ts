import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import type { Params } from '../../contract/handler.js';
import { isPlainObject } from '../../shared/is-plain-object.js';
import { PROVIDER, readCall } from './call.js';
import type {
  CallOptions,
  FinishReason,
  GenerateResult,
  ModelOptions,
  Specification,
  StreamPart,
  StreamResult,
  Usage,
  Warning,
} from './specification.js';

interface RequestOptions {
  readonly params: Params;
  readonly signal?: AbortSignal;
}

/** What a language model needs of a client. A `Client` has all of it, of a page or of Node. */
export interface LanguageModelClient {
  predict(input: unknown, options: RequestOptions): Promise<unknown>;
  stream(input: unknown, options: RequestOptions): AsyncIterable<unknown>;
}

/** A language model for the AI SDK. */
export interface TabServeLanguageModel<V extends Specification> {
  readonly specificationVersion: V;
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: Record<string, RegExp[]>;
  doGenerate(options: CallOptions): Promise<GenerateResult>;
  doStream(options: CallOptions): Promise<StreamResult>;
}

/** What `text_generator` returns. */
interface Generated {
  readonly text: string;
  readonly finishReason: 'stop' | 'length';
  readonly usage: { readonly promptTokens: number; readonly cachedTokens?: number; readonly completionTokens: number };
}

/** The one text of an answer. */
const ID = '0';

/**
 * Returns a language model for the AI SDK, such as `generateText({ model: tabserve(client), prompt })`. The client's
 * handler generates text from messages, as `text_generator` does. The client stays the app's, which disposes it.
 */
export function tabserve(client: LanguageModelClient): TabServeLanguageModel<'v4'>;
export function tabserve<V extends Specification>(
  client: LanguageModelClient,
  options: ModelOptions<V>,
): TabServeLanguageModel<V>;
export function tabserve(
  client: LanguageModelClient,
  { specification }: ModelOptions<Specification> = { specification: 'v4' },
): TabServeLanguageModel<Specification> {
  return {
    specificationVersion: specification,
    provider: PROVIDER,
    modelId: 'text_generator',
    supportedUrls: {},
    async doGenerate(options) {
      const { input, params, warnings } = readCall(options);
      const result = await client.predict(input, { params, ...signalOf(options) }).catch(rethrow(options));
      const { text, ...end } = readGenerated(result);
      return { content: [{ type: 'text', text }], ...end, warnings };
    },
    async doStream(options) {
      const { input, params, warnings } = readCall(options);
      const parts = client.stream(input, { params, ...signalOf(options) })[Symbol.asyncIterator]();
      // A failure before the first part is one of the call, not of the stream.
      const first = await parts.next().catch(rethrow(options));
      return { stream: streamOf(first, parts, options, warnings) };
    },
  };
}

function signalOf({ abortSignal }: CallOptions): { signal?: AbortSignal } {
  return abortSignal ? { signal: abortSignal } : {};
}

/** Returns a function that throws a call's error; for an abort the signal's own reason, which the SDK knows. */
function rethrow({ abortSignal }: Pick<CallOptions, 'abortSignal'>): (error: unknown) => never {
  return (error) => {
    throw abortSignal?.aborted ? abortSignal.reason : error;
  };
}

function streamOf(
  first: IteratorResult<unknown>,
  parts: AsyncIterator<unknown>,
  options: CallOptions,
  warnings: Warning[],
): ReadableStream<StreamPart> {
  let hasText = false;
  const put = (controller: ReadableStreamDefaultController<StreamPart>, { value }: IteratorResult<unknown>): void => {
    if (typeof value === 'string') {
      hasText = true;
      controller.enqueue({ type: 'text-delta', id: ID, delta: value });
      return;
    }
    const { text, ...end } = readGenerated(value);
    // This handler sends no parts.
    if (!hasText) controller.enqueue({ type: 'text-delta', id: ID, delta: text });
    controller.enqueue({ type: 'text-end', id: ID });
    controller.enqueue({ type: 'finish', ...end });
    controller.close();
  };
  return new ReadableStream<StreamPart>({
    start(controller) {
      controller.enqueue({ type: 'stream-start', warnings });
      controller.enqueue({ type: 'text-start', id: ID });
      put(controller, first);
    },
    async pull(controller) {
      try {
        put(controller, await parts.next());
      } catch (error) {
        if (options.abortSignal?.aborted) throw options.abortSignal.reason;
        controller.enqueue({ type: 'error', error });
        controller.close();
      }
    },
    async cancel() {
      await parts.return?.();
    },
  });
}

/** @throws `invalid-input` if the handler does not generate text */
function readGenerated(result: unknown): { text: string; finishReason: FinishReason; usage: Usage } {
  if (!isPlainObject(result) || typeof result['text'] !== 'string' || !isPlainObject(result['usage']))
    throw new TabServeError(
      'invalid-input',
      `This client's model does not generate text: it answers with ${describeValue(result)}.`,
    );
  const { text, finishReason, usage } = result as unknown as Generated;
  const { promptTokens, cachedTokens = 0, completionTokens } = usage;
  return {
    text,
    finishReason: { unified: finishReason, raw: finishReason },
    usage: {
      inputTokens: {
        total: promptTokens,
        noCache: promptTokens - cachedTokens,
        cacheRead: cachedTokens,
        cacheWrite: undefined,
      },
      outputTokens: { total: completionTokens, text: completionTokens, reasoning: undefined },
    },
  };
}
