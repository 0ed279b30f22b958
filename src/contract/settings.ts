import type { ModelConfig } from './archive.js';
import { TabServeError } from './errors.js';

/** The longest that a browser's timer can wait, in milliseconds: a little less than 25 days. */
export const LONGEST_MS = 2 ** 31 - 1;

/** What a number may be. */
export interface Range {
  readonly type: 'integer' | 'number';
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
}

/** One that has a default, for the docs. */
interface Setting extends Range {
  readonly default: number;
  readonly description: string;
}

/** How a model is served: TorchServe's keys that mean something in a tab, at the top of `model-config.yaml` and in the client's options. */
export const SERVING = {
  minWorkers: { type: 'integer', minimum: 1, default: 1, description: 'Workers that are kept ready on WASM; on a GPU there is one. Default 1.' },
  maxWorkers: { type: 'integer', minimum: 1, default: 1, description: 'Workers that may be there at once on WASM, when requests wait; on a GPU there is one. Default 1.' },
  batchSize: { type: 'integer', minimum: 1, default: 1, description: 'Requests that run together, at most. Default 1.' },
  maxBatchDelay: { type: 'number', minimum: 0, maximum: LONGEST_MS, default: 0, description: 'How long a request waits for others to join its batch, in milliseconds from its arrival. Default 0: a batch is what has gathered while the worker was busy.' },
  jobQueueSize: { type: 'integer', minimum: 1, default: 100, description: 'Requests that may wait; a further one is refused with queue-full. Default 100.' },
  responseTimeout: { type: 'number', exclusiveMinimum: 0, maximum: LONGEST_MS / 1000, default: 120, description: 'How long a worker may run something without a sign of life before it is replaced, in seconds. Default 120.' },
  startupTimeout: { type: 'number', exclusiveMinimum: 0, maximum: LONGEST_MS / 1000, default: 120, description: 'How long a worker may start without a sign of life (bytes count) before it is given up, in seconds. Default 120.' },
} as const satisfies Readonly<Record<string, Setting>>; // prettier-ignore

type Key = keyof typeof SERVING;
export type Serving = { readonly [K in Key]: number };

/** The settings in force. @throws `model-config` naming the key, what it may be and what it is */
export function servingOf(config: ModelConfig): Serving {
  const settings = Object.entries(SERVING).map(([key, setting]) => [
    key,
    numberOf(key, config[key], setting) ?? setting.default,
  ]);
  const serving = Object.fromEntries(settings) as Serving;
  const { minWorkers, maxWorkers } = serving;
  // One that only sets the lower mark means the upper as well.
  if (config['maxWorkers'] === undefined) return { ...serving, maxWorkers: Math.max(minWorkers, maxWorkers) };
  if (minWorkers > maxWorkers)
    throw new TabServeError(
      'model-config',
      `minWorkers must be at most maxWorkers (${maxWorkers}), not ${minWorkers}.`,
    );
  return serving;
}

/** A number that was set, or undefined. @throws `model-config` naming the key, what it may be and what it is */
export function numberOf(
  key: string,
  value: unknown,
  { type, minimum = -Infinity, exclusiveMinimum = -Infinity, maximum = Infinity }: Range,
): number | undefined {
  if (value === undefined) return undefined;
  const fits = typeof value === 'number' && value >= minimum && value > exclusiveMinimum && value <= maximum;
  if (fits && (type === 'integer' ? Number.isInteger(value) : Number.isFinite(value))) return value;
  const least = exclusiveMinimum === -Infinity ? `≥ ${minimum}` : `> ${exclusiveMinimum}`;
  const most = maximum === Infinity ? '' : ` and ≤ ${maximum}`;
  const shown = typeof value === 'string' ? JSON.stringify(value) : String(value);
  throw new TabServeError(
    'model-config',
    `${key} must be ${type === 'integer' ? 'an integer' : 'a number'} ${least}${most}, not ${shown}.`,
  );
}
