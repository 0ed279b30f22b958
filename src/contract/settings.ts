import type { ModelConfig } from './archive.js';
import { describeValue } from './describe-value.js';
import { TabServeError, type ErrorCode } from './errors.js';

/** The longest time that a browser's timer can wait, in milliseconds: a little less than 25 days. */
export const MAX_DELAY_MS = 2 ** 31 - 1;

/** The largest integer of TorchServe, which is Java's. */
const MAX_INTEGER = 2 ** 31 - 1;

/** The numbers that a setting may have. */
export interface Range {
  readonly type: 'integer' | 'number';
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
}

/** A setting: its range, and its default where it has one. */
interface Setting extends Range {
  readonly default?: number;
}

// The tables below are the only place where these settings have a name, a range and a default. An editor shows the
// docblock of an entry as the option's documentation; the docs have it, too. A unit test compares it with `default`.

/**
 * How a model is served: TorchServe's keys that apply in a browser tab. They are set at the top of `model-config.yaml`
 * or in the client's options. The options win.
 */
export const SERVING = {
  /** Workers that stay ready on WASM, as far as the page has cores for them. On a GPU there is one. @default 1 */
  minWorkers: { type: 'integer', minimum: 1, maximum: MAX_INTEGER, default: 1 },
  /** The maximum number of workers on WASM, while requests wait. On a GPU there is one. @default 1 */
  maxWorkers: { type: 'integer', minimum: 1, maximum: MAX_INTEGER, default: 1 },
  /** The maximum number of requests that run together. @default 1 */
  batchSize: { type: 'integer', minimum: 1, maximum: MAX_INTEGER, default: 1 },
  /**
   * Milliseconds, from its arrival, for which a request waits for others to join its batch. With 0, a batch is what
   * arrived while the worker was busy.
   * @default 0
   */
  maxBatchDelay: { type: 'number', minimum: 0, maximum: MAX_DELAY_MS, default: 0 },
  /** Requests that may wait. The next one is refused with `queue-full`. @default 100 */
  jobQueueSize: { type: 'integer', minimum: 1, maximum: MAX_INTEGER, default: 100 },
  /** Seconds for which a worker may run a batch without a heartbeat. Then it is replaced. @default 120 */
  responseTimeout: { type: 'number', exclusiveMinimum: 0, maximum: MAX_DELAY_MS / 1000, default: 120 },
  /**
   * Seconds for which a worker may start without a heartbeat. After that it is ended. Bytes that arrive are a
   * heartbeat.
   * @default 120
   */
  startupTimeout: { type: 'number', exclusiveMinimum: 0, maximum: MAX_DELAY_MS / 1000, default: 120 },
} as const satisfies Readonly<Record<string, Setting & { readonly default: number }>>;

/** The client's own settings. They are set in its options only. */
export const CLIENT_SETTINGS = {
  /** Milliseconds that `prefer: 'fastest'` may take beyond opening the first backend. @default 3000 */
  measureBudget: { type: 'number', minimum: 0, maximum: MAX_DELAY_MS, default: 3000 },
  /**
   * Seconds for which the client tries to replace a lost worker. Then every request fails, until `initialize` is called
   * again. The name and the default are TorchServe's.
   * @default 300
   */
  maxRetryTimeoutInSec: { type: 'number', minimum: 0, maximum: MAX_DELAY_MS / 1000, default: 300 },
  /** Batches after which a worker is replaced in the background. Without it, no count of batches replaces a worker. */
  maxRuns: { type: 'integer', minimum: 1, maximum: MAX_INTEGER },
  /**
   * Bytes, of WebAssembly memory or of tensors on a GPU, above which a worker is replaced in the background:
   * WebAssembly memory never shrinks. A worker that is above the limit after its first batch is not replaced. Without
   * it, no amount of memory replaces a worker.
   */
  maxMemory: { type: 'number', exclusiveMinimum: 0 },
} as const satisfies Readonly<Record<string, Setting>>;

/** The settings of one request. */
export const REQUEST_SETTINGS = {
  /**
   * Milliseconds after which the request is rejected with `timeout`. What a worker runs already is discarded. Without
   * it, a request waits for its answer.
   */
  timeout: { type: 'number', exclusiveMinimum: 0, maximum: MAX_DELAY_MS },
  /** Requests of a higher priority run first. @default 0 */
  priority: { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER, default: 0 },
} as const satisfies Readonly<Record<string, Setting>>;

/** The settings of a sequence. */
export const SEQUENCE_SETTINGS = {
  /**
   * Milliseconds between two requests after which the sequence ends. Without it, a sequence ends with `end` or with its
   * client.
   */
  idleTimeout: { type: 'number', exclusiveMinimum: 0, maximum: MAX_DELAY_MS },
} as const satisfies Readonly<Record<string, Setting>>;

/**
 * TorchServe's keys for requests that come over HTTP, to a `ModelServer` or to `tabserve serve`. They are set at the top
 * of `model-config.yaml`.
 */
export const OVER_HTTP = {
  /** Milliseconds after which a request over HTTP is answered with 408; 0 for the server's own limit. @default 0 */
  clientTimeoutInMills: { type: 'number', minimum: 0, maximum: MAX_DELAY_MS, default: 0 },
  /** The maximum number of sequences over HTTP that are open. The next one is answered with 503. @default 100 */
  maxNumSequence: { type: 'integer', minimum: 1, maximum: MAX_INTEGER, default: 100 },
  /** The maximum number of requests over HTTP of one sequence that wait. The next one is answered with 503. @default 1 */
  maxSequenceJobQueueSize: { type: 'integer', minimum: 1, maximum: MAX_INTEGER, default: 1 },
  /** Milliseconds without a request after which a sequence over HTTP ends; 0 for no limit. @default 600000 */
  sequenceMaxIdleMSec: { type: 'number', minimum: 0, maximum: MAX_DELAY_MS, default: 600_000 },
  /** Milliseconds after which a sequence over HTTP ends in any case; 0 for no limit. @default 0 */
  sequenceTimeoutMSec: { type: 'number', minimum: 0, maximum: MAX_DELAY_MS, default: 0 },
} as const satisfies Readonly<Record<string, Setting & { readonly default: number }>>;

/** The settings of a stream of frames. */
export const FRAME_SETTINGS = {
  /**
   * The maximum number of frames per second that are sent to the model. Without it, each frame that arrives while a worker is free.
   */
  fps: { type: 'number', exclusiveMinimum: 0, maximum: 1000 },
} as const satisfies Readonly<Record<string, Setting>>;

/** How a model is served: the value of every setting. */
export type Serving = { readonly [K in keyof typeof SERVING]: number };

/** The client's own settings, as its options have them. */
export type ClientSettings = { readonly [K in keyof typeof CLIENT_SETTINGS]?: number };

/** The values of TorchServe's keys for requests over HTTP. */
export type OverHttp = { readonly [K in keyof typeof OVER_HTTP]: number };

/** The settings of one request, as its options have them. */
export type RequestSettings = { readonly [K in keyof typeof REQUEST_SETTINGS]?: number };

/** The settings of a sequence, as its options have them. */
export type SequenceSettings = { readonly [K in keyof typeof SEQUENCE_SETTINGS]?: number };

/** The settings of a stream of frames, as its options have them. */
export type FrameSettings = { readonly [K in keyof typeof FRAME_SETTINGS]?: number };

type Table = Readonly<Record<string, Setting>>;

/**
 * The settings of a table with their values: a number if the setting has a default, otherwise a number or undefined.
 */
export type Resolved<T extends Table> = {
  readonly [K in keyof T]: T[K] extends { readonly default: number } ? number : number | undefined;
};

/**
 * Returns the settings in effect.
 * @throws `model-config` naming the key, the allowed values and the given one
 */
export function servingOf(config: ModelConfig): Serving {
  const serving = resolveSettings(SERVING, config);
  const { minWorkers, maxWorkers } = serving;
  // If only the minimum is set, the maximum rises with it.
  if (config['maxWorkers'] === undefined) return { ...serving, maxWorkers: Math.max(minWorkers, maxWorkers) };
  if (minWorkers > maxWorkers)
    throw new TabServeError(
      'model-config',
      `minWorkers must be at most maxWorkers (${maxWorkers}), not ${minWorkers}.`,
    );
  return serving;
}

/**
 * Returns the settings of `table` with their values: those in `values`, otherwise the defaults.
 * @throws `code` naming the key, the allowed values and the given one
 */
export function resolveSettings<T extends Table>(
  table: T,
  values: Readonly<Record<string, unknown>>,
  code: ErrorCode = 'model-config',
): Resolved<T> {
  const settings: Record<string, unknown> = {};
  for (const key in table) settings[key] = numberOf(key, values[key], table[key]!, code) ?? table[key]!.default;
  return settings as Resolved<T>;
}

/**
 * Returns the number that is set, or undefined.
 * @throws `code` naming the key, the allowed values and the given one
 */
function numberOf(
  key: string,
  value: unknown,
  { type, minimum = -Infinity, exclusiveMinimum = -Infinity, maximum = Infinity }: Range,
  code: ErrorCode,
): number | undefined {
  if (value === undefined) return undefined;
  const fits = typeof value === 'number' && value >= minimum && value > exclusiveMinimum && value <= maximum;
  if (fits && (type === 'integer' ? Number.isInteger(value) : Number.isFinite(value))) return value;
  const least = exclusiveMinimum === -Infinity ? `≥ ${minimum}` : `> ${exclusiveMinimum}`;
  const most = maximum === Infinity ? '' : ` and ≤ ${maximum}`;
  const what = type === 'integer' ? 'an integer' : 'a number';
  throw new TabServeError(code, `${key} must be ${what} ${least}${most}, not ${describeValue(value)}.`);
}
