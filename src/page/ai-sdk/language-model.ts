import type { Params } from '../../contract/handler.js';
import { Blocks, contentOf, endOf, partOf, readGenerated } from './answer.js';
import { withoutTokens } from '../../shared/generated-text.js';
import { PROVIDER, readCall } from './call.js';
import type {
  CallOptions,
  GenerateResult,
  ModelOptions,
  Specification,
  StreamPart,
  StreamResult,
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
      const generated = readGenerated(result);
      return { content: contentOf(generated), ...endOf(generated), warnings };
    },
    async doStream(options) {
      const { input, params, warnings } = readCall(options);
      const parts = withoutTokens(client.stream(input, { params, ...signalOf(options) }));
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
  const blocks = new Blocks();
  const put = (controller: ReadableStreamDefaultController<StreamPart>, { value }: IteratorResult<unknown>): void => {
    const part = partOf(value);
    if (part) {
      for (const one of blocks.add(part)) controller.enqueue(one);
      return;
    }
    const generated = readGenerated(value);
    // This handler sends no parts.
    if (!blocks.hasBegun)
      for (const one of contentOf(generated)) for (const added of blocks.add(one)) controller.enqueue(added);
    for (const one of blocks.end()) controller.enqueue(one);
    controller.enqueue({ type: 'finish', ...endOf(generated) });
    controller.close();
  };
  return new ReadableStream<StreamPart>({
    start(controller) {
      controller.enqueue({ type: 'stream-start', warnings });
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
