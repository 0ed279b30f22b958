import type { Handler, Params } from '../../contract/handler.js';
import type { ExplanationOf, InputOf, PartOf, ResultOf, SequenceResultOf } from '../../contract/handler-types.js';
import type { HttpRequestData } from '../../contract/http.js';
import type { Observation } from '../../contract/metrics.js';
import type { Tensors } from '../../contract/tensors.js';
import { PredictionError } from '../../contract/errors.js';
import { instrument } from './recorder.js';
import { createTestContext, type TestContext, type TestContextOptions, type TestModelOptions } from './test-context.js';
import { StateBudget } from './state-budget.js';
import { standIn } from './test-session.js';

/** Replaces a model, or the nodes of a workflow, in a test of a handler. */
export interface TestHandlerOptions
  extends
    Partial<TestModelOptions>,
    Omit<TestContextOptions, 'session' | 'batchSize' | 'kind' | 'sequenceIds' | 'states'> {}

/** Options of one request in a test. */
export interface TestRequestOptions {
  /** The parameters of every row. They override those that the handler was created with. */
  readonly params?: Params;
  /** Aborts the batch. */
  readonly signal?: AbortSignal;
  /** The request over HTTP that brings every row. */
  readonly http?: Partial<HttpRequestData>;
}

/** A sequence in a test. */
export interface TestSequence<H extends Handler> {
  /**
   * Returns the answer to the sequence's next input.
   * @throws the row's `PredictionError`, and whatever the handler throws: the state stays as it was
   */
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
  /**
   * Returns one answer per input, in one batch. The result of a row that fails is a `PredictionError`.
   * @throws whatever the handler throws
   */
  handle(
    inputs: readonly InputOf<H>[],
    options?: TestRequestOptions,
  ): Promise<readonly (ResultOf<H> | PredictionError)[]>;
  /**
   * Returns what `client.stream` yields for one input: the parts of the answer, and the result as the last item.
   * @throws what `predict` throws
   */
  stream(input: InputOf<H>, options?: TestRequestOptions): Promise<readonly (PartOf<H> | ResultOf<H>)[]>;
  /** Opens a sequence: its requests get the state that the one before has set. */
  openSequence(): TestSequence<H>;
  /** Returns the explanation of one input. @throws the row's `PredictionError`, and whatever the handler throws */
  explain(input: InputOf<H>, options?: TestRequestOptions): Promise<ExplanationOf<H>>;
}

/**
 * Creates a handler with a stand-in for its model, and initializes it. A unit test of a handler needs no browser,
 * worker or archive.
 *
 * ```ts
 * const handler = await createTestHandler(EvenOrOdd, { outputs: { logits: [[1, 3]] }, labels: ['three', 'four'] });
 * expect(await handler.predict({ data: new Uint8Array(28 * 28 * 3), dims: [28, 28, 3] })).toBe('even');
 * ```
 *
 * Outside a browser, give images as pixels (`{ data: Uint8Array, dims: [height, width, 3] }`). If `files` has no
 * tokenizer, a text handler gets one that maps every word to the same token.
 * @throws what the handler's `initialize` throws, e.g. `model-config` if the labels do not fit the outputs
 */
export async function createTestHandler<H extends Handler>(
  handlerClass: new () => H,
  options: TestHandlerOptions,
): Promise<TestHandler<H>> {
  const handler = new handlerClass();
  // As in a worker: an error names the stage in which it arose.
  instrument(handler);
  const { session, files } = await standIn(handler, options);
  const kept = options.kept ?? StateBudget.of(options.config ?? {}).values();
  const observations: Observation[] = [];
  const use = async <T>(
    request: Omit<TestContextOptions, 'session' | 'files'>,
    work: (context: TestContext) => Promise<T>,
  ): Promise<T> => {
    const params = { ...options.params, ...request.params };
    const context = createTestContext({ ...options, ...request, params, session, files, kept });
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
    predict: (input, request = {}) => only(input, { ...request, kind: 'predict' }),
    handle: (rows, request = {}) => handle(rows, { ...request, kind: 'predict' }),
    openSequence,
    stream: (input, request = {}) => stream(input, request),
    explain: async (input, request = {}) => (await only(input, { ...request, kind: 'explain' })) as ExplanationOf<H>,
  };
}
