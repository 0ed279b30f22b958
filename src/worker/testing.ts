import type { Manifest, ModelConfig } from '../contract/archive.js';
import type {
  Context,
  ExplanationOf,
  Handler,
  InputOf,
  Params,
  PartOf,
  ResultOf,
  SequenceResultOf,
} from '../contract/handler.js';
import type { Observation } from '../contract/metrics.js';
import type { Session, TensorInfo, Tensors } from '../contract/tensors.js';
import { describeValue } from '../contract/describe-value.js';
import { PredictionError, TabServeError } from '../contract/errors.js';
import { TextHandler } from '../handlers/text-handler.js';
import { VisionHandler } from '../handlers/vision-handler.js';
import { createFiles } from '../models/files.js';
import { instrument } from './stages.js';
import { batchContext, type BatchContext } from './context.js';
import { createTestSession, type TestModel, type TestOutputs } from './test-session.js';

/** Replaces a model archive and a page in a test of a handler. */
export interface TestContextOptions {
  /** The model's session, or sessions by their path in the archive; a stub is enough. */
  readonly session?: Session | Readonly<Record<string, Session>>;
  /** The archive's files by path. */
  readonly files?: Readonly<Record<string, Blob | Uint8Array | string>>;
  /** `model-config.yaml`, parsed. */
  readonly config?: ModelConfig;
  /** The archive's manifest. */
  readonly manifest?: Manifest;
  /** Rows of the batch that the context is for. @default 1 */
  readonly batchSize?: number;
  /** The parameters of every row's request. */
  readonly params?: Params;
  /** The kind of request. @default 'predict' */
  readonly request?: Context['request'];
  /** Aborts the batch. */
  readonly signal?: AbortSignal;
  /** The id of each row's sequence, undefined for a row of none. What the handler sets as a state is in the context's `newStates`. */
  readonly sequenceIds?: readonly (string | undefined)[];
  /** The state of each row's sequence; undefined at its start. */
  readonly states?: readonly unknown[];
}

/** A part of an answer, as a handler sent it with `context.send`. */
export interface SentPart {
  /** The row's index. */
  readonly index: number;
  readonly part: unknown;
}

/** A context for a test: it collects what a page would get. */
export interface TestContext extends BatchContext {
  /** The parts that the handler has sent, in order. There is always room for them. */
  readonly parts: readonly SentPart[];
}

/**
 * Creates a context for one batch, with which a handler runs anywhere: in a unit test under Node, with no worker and no browser.
 *
 * ```ts
 * const context = createTestContext({ session, files: { 'index_to_name.json': '{"0":"cat"}' } });
 * await handler.initialize(context);
 * const [result] = await handler.handle([input], context);
 * context.metrics.observations; // the handler's observations, in order
 * ```
 */
export function createTestContext(options: TestContextOptions = {}): TestContext {
  const { session, files = {}, config = {}, manifest = { model: { modelName: 'model' } } } = options;
  const open = async (path?: string): Promise<Session> => {
    if (path === undefined && isSession(session)) return await Promise.resolve(session);
    const name = path ?? manifest.model.serializedFile ?? '';
    const known = typeof name === 'string' && typeof session === 'object' && session !== null;
    const found: unknown = known && Object.hasOwn(session, name) && (session as Record<string, unknown>)[name];
    if (isSession(found)) return found;
    throw new TabServeError(
      'model-not-found',
      `createTestContext was given no session${path === undefined ? '' : ` ${describeValue(path)}`}.`,
    );
  };
  const { batchSize = 1, params, ...batch } = options;
  const rows = params && Array.from({ length: batchSize }, () => params);
  const parts: SentPart[] = [];
  const send: Context['send'] = async (index, part) => void parts.push({ index, part: structuredClone(part) });
  const context = batchContext(
    { modelDir: '', manifest, config, files: createFiles(files), open, warn: (message) => console.warn(message) },
    { ...batch, batchSize, params: rows, send },
  );
  return { ...context, parts };
}

function isSession(value: unknown): value is Session {
  return typeof (value as Partial<Session> | null | undefined)?.run === 'function';
}

/** Replaces a model in a test of a handler. */
export interface TestHandlerOptions extends Omit<
  TestContextOptions,
  'session' | 'batchSize' | 'request' | 'sequenceIds' | 'states'
> {
  /**
   * The model's outputs by name, with a batch axis: nested lists (`[[1, 3]]` is float32 `[1, 2]`) or tensors. One row is the output for every
   * input; several rows are the outputs for one input each. A function computes the outputs from the feeds. It is first called twice with zeros, to
   * find out the outputs' names and dims.
   */
  readonly outputs: TestOutputs | TestModel;
  /** Labels by class index: a list, or one of the forms of TorchServe's `index_to_name.json`. */
  readonly labels?: readonly string[] | Readonly<Record<string, unknown>>;
  /**
   * The model's inputs. Feeds are checked against them, as an engine checks them.
   * @default images of any size for a `VisionHandler`; `input_ids` and `attention_mask` for a `TextHandler`; else one float32 input `[batch, any]`
   */
  readonly inputs?: readonly TensorInfo[];
}

/** Options of one request in a test. */
export interface TestRequestOptions {
  /** The parameters of every row. They override those that the handler was created with. */
  readonly params?: Params;
  /** Aborts the batch. */
  readonly signal?: AbortSignal;
}

/** A sequence in a test. */
export interface TestSequence<H extends Handler> {
  /** Returns the answer to the sequence's next input. @throws the row's `PredictionError`, and whatever the handler throws: the state stays as it was */
  predict(input: InputOf<H>, options?: TestRequestOptions): Promise<SequenceResultOf<H>>;
}

/** A handler that is ready for requests in a test. */
export interface TestHandler<H extends Handler> {
  /** The handler itself, initialized. */
  readonly handler: H;
  /** The model's feeds, run by run. */
  readonly runs: readonly Tensors[];
  /** The handler's observations since it was created, in order. */
  readonly observations: readonly Observation[];
  /** Returns the answer to one input. @throws the row's `PredictionError`, and whatever the handler throws */
  predict(input: InputOf<H>, options?: TestRequestOptions): Promise<ResultOf<H>>;
  /** Returns one answer per input, in one batch. A row that fails is a `PredictionError` in its place. @throws whatever the handler throws */
  handle(
    inputs: readonly InputOf<H>[],
    options?: TestRequestOptions,
  ): Promise<readonly (ResultOf<H> | PredictionError)[]>;
  /** Returns what `client.stream` yields for one input: the parts of the answer, and the result as the last item. @throws what `predict` throws */
  stream(input: InputOf<H>, options?: TestRequestOptions): Promise<readonly (PartOf<H> | ResultOf<H>)[]>;
  /** Opens a sequence: its requests get the state that the one before has set. */
  openSequence(): TestSequence<H>;
  /** Returns the explanation of one input. @throws the row's `PredictionError`, and whatever the handler throws */
  explain(input: InputOf<H>, options?: TestRequestOptions): Promise<ExplanationOf<H>>;
}

/**
 * Creates a handler with a stand-in for its model, and initializes it. A unit test of a handler needs no browser, worker or archive.
 *
 * ```ts
 * const handler = await createTestHandler(EvenOrOdd, { outputs: { logits: [[1, 3]] }, labels: ['three', 'four'] });
 * expect(await handler.predict({ data: new Uint8Array(28 * 28 * 3), dims: [28, 28, 3] })).toBe('even');
 * ```
 *
 * Outside a browser, give images as pixels (`{ data: Uint8Array, dims: [height, width, 3] }`). If `files` has no tokenizer, a text handler gets
 * one that maps every word to the same token.
 * @throws what the handler's `initialize` throws, e.g. `model-config` if the labels do not fit the outputs
 */
export async function createTestHandler<H extends Handler>(
  handlerClass: new () => H,
  { outputs, labels, inputs, ...options }: TestHandlerOptions,
): Promise<TestHandler<H>> {
  const handler = new handlerClass();
  // As in a worker: an error names the stage in which it arose.
  instrument(handler);
  const session = await createTestSession(outputs, inputs ?? usualInputs(handler), inputs !== undefined);
  const files = {
    ...(labels && { 'index_to_name.json': JSON.stringify(labels) }),
    ...(needsTokenizer(handler, options) && { 'tokenizer.json': JSON.stringify(WORDS_ALIKE) }),
    ...options.files,
  };
  const observations: Observation[] = [];
  const use = async <T>(
    request: Omit<TestContextOptions, 'session' | 'files'>,
    work: (context: TestContext) => Promise<T>,
  ): Promise<T> => {
    const params = { ...options.params, ...request.params };
    const context = createTestContext({ ...options, ...request, params, session, files });
    try {
      return await work(context);
    } finally {
      observations.push(...context.metrics.observations);
    }
  };
  const handle = async (
    rows: readonly InputOf<H>[],
    request: Parameters<typeof use>[0],
  ): Promise<readonly (ResultOf<H> | PredictionError)[]> =>
    (await use({ ...request, batchSize: rows.length }, (context) =>
      handler.handle(rows as readonly never[], context),
    )) as readonly (ResultOf<H> | PredictionError)[];
  const only = async (input: InputOf<H>, request: Parameters<typeof use>[0]): Promise<ResultOf<H>> => {
    const [result] = await handle([input], request);
    if (result instanceof PredictionError) throw result;
    return result as ResultOf<H>;
  };
  const stream = async (
    input: InputOf<H>,
    request: TestRequestOptions,
  ): Promise<readonly (PartOf<H> | ResultOf<H>)[]> =>
    await use(request, async (context) => {
      const [result] = await handler.handle([input as never], context);
      if (result instanceof PredictionError) throw result;
      return [...context.parts.map(({ part }) => part as PartOf<H>), result as ResultOf<H>];
    });
  let sequences = 0;
  const openSequence = (): TestSequence<H> => {
    const sequenceIds = [String(++sequences)];
    let state: unknown;
    return {
      predict: async (input, request = {}) =>
        await use({ ...request, sequenceIds, states: [state] }, async (context) => {
          const [result] = await handler.handle([input as never], context);
          if (result instanceof PredictionError) throw result;
          // As in a worker: the state is a clone.
          if (context.newStates.has(0)) state = structuredClone(context.newStates.get(0));
          return result as SequenceResultOf<H>;
        }),
    };
  };
  await use({}, (context) => handler.initialize(context));
  return {
    handler,
    runs: session.runs,
    observations,
    predict: (input, request = {}) => only(input, { ...request, request: 'predict' }),
    handle: (rows, request = {}) => handle(rows, { ...request, request: 'predict' }),
    openSequence,
    stream: (input, request = {}) => stream(input, request),
    explain: async (input, request = {}) => (await only(input, { ...request, request: 'explain' })) as ExplanationOf<H>,
  };
}

function usualInputs(handler: Handler): readonly TensorInfo[] {
  if (handler instanceof VisionHandler) return [{ name: 'image', dtype: 'float32', dims: ['batch', null, null, null] }];
  if (handler instanceof TextHandler)
    return ['input_ids', 'attention_mask'].map((name) => ({ name, dtype: 'int64', dims: ['batch', 'length'] }));
  return [{ name: 'input', dtype: 'float32', dims: ['batch', null] }];
}

function needsTokenizer(handler: Handler, { config }: TestContextOptions): boolean {
  return handler instanceof TextHandler && config?.handler?.['tokenizer'] !== 'torchserve';
}

/** A `tokenizer.json` without a vocabulary: every word is an unknown token. */
const WORDS_ALIKE = {
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: { type: 'Whitespace' },
  post_processor: null,
  decoder: null,
  model: { type: 'WordPiece', vocab: { '[PAD]': 0, '[UNK]': 1 }, unk_token: '[UNK]', continuing_subword_prefix: '##' },
};
