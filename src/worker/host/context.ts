import { loadScript } from '../../shared/load-script.js';
import type { Archive, Files, Manifest, ModelConfig } from '../../contract/archive.js';
import type { CandidateName } from '../../contract/backends.js';
import type { Context, Params } from '../../contract/handler.js';
import type { HearingProgress } from '../../contract/hearing-progress.js';
import type { HttpAnswer, HttpRequestData } from '../../contract/http.js';
import type { DecodeOptions, ImageInput } from '../../contract/images.js';
import { describeValue } from '../../contract/describe-value.js';
import { asTabServeError, TabServeError } from '../../contract/errors.js';
import { MAX_IMAGE_PIXELS } from '../../contract/limits.js';
import { readHttpAnswer, readHttpRequest } from './http-rows.js';
import { LOST_STATE } from './retained-states.js';
import { Recorder } from './recorder.js';
import { VERSION } from '../../contract/version.js';

/** The part of a handler's contexts that all of its batches share. */
export interface HandlerEnvironment {
  readonly modelDir: Archive['url'];
  readonly backend: CandidateName;
  readonly manifest: Manifest;
  readonly config: ModelConfig;
  readonly files: Files;
  readonly kept: Context['kept'];
  readonly open: Context['open'];
  readonly openHandler: Context['openHandler'];
  readonly warn: Context['warn'];
  /** Whether a model that the handler has opened quantizes at run time. */
  quantizesAtRunTime?: boolean | undefined;
  /** Is called by `context.heartbeat`. */
  readonly onHeartbeat?: ((context: Context) => void) | undefined;
}

/** A context whose metrics can be read. */
export interface BatchContext extends Context {
  /** The handler's observations in this batch, and the times of its stages. */
  readonly metrics: Recorder;
  /** The states that the handler has set for rows of a sequence, by row. */
  readonly newStates: ReadonlyMap<number, unknown>;
}

/** The part of a context that belongs to one batch. */
export interface BatchOptions {
  /** @default 1 */
  readonly batchSize?: number;
  /** @default 'predict' */
  readonly kind?: Context['kind'];
  readonly signal?: AbortSignal;
  /** One per row, as are `params`. */
  readonly ids?: readonly string[];
  readonly params?: readonly Params[] | undefined;
  readonly metrics?: Recorder;
  /** Sends a part of a row's answer. Undefined if the request is not streamed. */
  readonly send?: Context['send'] | undefined;
  /** Gets what `heartbeat` was called with. */
  readonly onProgress?: ((progress: HearingProgress) => void) | undefined;
  /** What came with the last chunk of the row's answer that the page has. */
  readonly resumed?: unknown;
  /** The id of each row's sequence, undefined for a row of none. */
  readonly sequenceIds?: readonly (string | undefined)[] | undefined;
  /** The state of each row's sequence. */
  readonly states?: readonly unknown[] | undefined;
  /** The request over HTTP that brought each row; undefined for a row of the page. */
  readonly http?: readonly (HttpRequestData | undefined)[] | undefined;
  /** Called with what the handler says of the answer to a row that came over HTTP. */
  readonly onAnswer?: ((index: number, answer: HttpAnswer) => void) | undefined;
}

/**
 * Loaded with the first image, and cached, because an `import()` waits for a task of the browser's even if the module
 * is loaded.
 */
let decode: typeof import('../images/decode.js').decodeImage | undefined;

/** Creates the context of one batch. */
export function batchContext(environment: HandlerEnvironment, batch: BatchOptions): BatchContext {
  const { modelDir, backend, manifest, config, files, kept, open, openHandler, warn } = environment;
  const { batchSize = 1, kind = 'predict', signal = new AbortController().signal } = batch;
  const failures = new Map<number, Error>();
  const { sequenceId, state, setState, changed } = new RowStates(batch.sequenceIds, batch.states);
  const limit = config.handler?.['maxImagePixels'];
  const limitMaxImagePixels = typeof limit === 'number' ? limit : MAX_IMAGE_PIXELS;
  const checkIndex = (method: string, index: number): void => {
    if (!Number.isInteger(index) || index < 0 || index >= batchSize)
      throw new TabServeError(
        'handler-failed',
        `context.${method}: expected the index of one of the batch's ${batchSize} rows, from 0 on, got ${describeValue(index)}.`,
      );
  };
  const context: BatchContext = {
    modelName: manifest.model.modelName,
    manifest,
    modelYamlConfig: config,
    systemProperties: {
      modelDir,
      batchSize,
      serverName: 'tabserve',
      serverVersion: VERSION,
      limitMaxImagePixels,
      backend,
    },
    kind,
    requestIds: batch.ids ?? Array.from({ length: batchSize }, (_, index) => String(index)),
    params: batch.params ?? Array.from({ length: batchSize }, () => ({})),
    signal,
    files,
    kept,
    metrics: batch.metrics ?? new Recorder(),
    now: () => performance.now(),
    open,
    openHandler,
    async decodeImage(source: ImageInput, decodeOptions: DecodeOptions = {}) {
      decode ??= await loadScript(async () => (await import('../images/decode.js')).decodeImage);
      return await decode(source, { maxPixels: limitMaxImagePixels, ...decodeOptions });
    },
    send(index, part, resume) {
      try {
        checkIndex('send', index);
      } catch (error) {
        return Promise.reject(error);
      }
      // This returns the sender's own promise, so that a promise that nobody awaits is not an unhandled rejection.
      return batch.send?.(index, part, resume) ?? Promise.resolve();
    },
    resumed(index) {
      checkIndex('resumed', index);
      return batch.resumed;
    },
    fail(index, error) {
      checkIndex('fail', index);
      if (!failures.has(index)) failures.set(index, asTabServeError(error));
    },
    failures,
    sequenceId,
    state,
    setState,
    newStates: changed,
    request(index) {
      checkIndex('request', index);
      const request = batch.http?.[index];
      return request && readHttpRequest(request);
    },
    respond(index, answer) {
      checkIndex('respond', index);
      const read = readHttpAnswer(answer);
      if (batch.http?.[index]) batch.onAnswer?.(index, read);
    },
    heartbeat(progress) {
      environment.onHeartbeat?.(context);
      if (progress) batch.onProgress?.(progress);
    },
    warn,
  };
  return context;
}

/** The states of a batch's rows, each the state of its sequence. A row of no sequence has none. */
export class RowStates implements Pick<Context, 'sequenceId' | 'state' | 'setState'> {
  readonly #ids: BatchOptions['sequenceIds'];
  readonly #states: BatchOptions['states'];
  readonly #set = new Map<number, unknown>();

  constructor(ids: BatchOptions['sequenceIds'], states: BatchOptions['states']) {
    this.#ids = ids;
    this.#states = states;
  }

  readonly sequenceId = (index: number): string | undefined => this.#ids?.[index];

  readonly state = (index: number): unknown => {
    const state = this.#states?.[index];
    if (state === LOST_STATE) throw new TabServeError('state-lost', 'The state is not in the worker any more.');
    return state;
  };

  readonly setState = (index: number, value: unknown): void => {
    if (this.sequenceId(index) !== undefined) this.#set.set(index, value);
  };

  /** The state that the handler has set, by row. */
  get changed(): ReadonlyMap<number, unknown> {
    return this.#set;
  }
}
