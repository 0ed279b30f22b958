import type { MetricType } from '../../contract/metrics.js';
import type { Stage } from '../../contract/stages.js';

export interface Definition {
  readonly type: MetricType;
  readonly unit: string;
  readonly help: string;
}

/** The metrics that TabServe records by itself. They have TorchServe's names where TorchServe has such a metric. */
export const BUILT_IN = {
  ts_inference_requests_total: {
    type: 'counter',
    unit: 'Count',
    help: 'Settled requests, by outcome: ok, or the code of the error.',
  },
  ts_inference_latency_microseconds: {
    type: 'counter',
    unit: 'Microseconds',
    help: 'Cumulative time of answered requests, from the call to the answer.',
  },
  ts_queue_latency_microseconds: {
    type: 'counter',
    unit: 'Microseconds',
    help: 'Cumulative time of requests in the queue.',
  },
  RequestTime: { type: 'histogram', unit: 'ms', help: 'Time of an answered request, from the call to the answer.' },
  QueueTime: { type: 'histogram', unit: 'ms', help: 'Time of a request in the queue.' },
  PredictionTime: { type: 'histogram', unit: 'ms', help: 'Time of a batch from the page to the worker and back.' },
  HandlerTime: { type: 'histogram', unit: 'ms', help: 'Time of a batch in the handler.' },
  WorkerThreadTime: {
    type: 'histogram',
    unit: 'ms',
    help: 'Overhead of a batch between page and worker: its prediction time minus its handler time.',
  },
  ts_handler_preprocess: { type: 'histogram', unit: 'ms', help: 'Time of a batch in preprocess.' },
  ts_handler_inference: { type: 'histogram', unit: 'ms', help: 'Time of a batch in inference.' },
  ts_handler_postprocess: { type: 'histogram', unit: 'ms', help: 'Time of a batch in postprocess.' },
  BatchSize: { type: 'histogram', unit: 'Count', help: 'Rows of a batch.' },
  WorkerLoadTime: {
    type: 'histogram',
    unit: 'ms',
    help: 'Time until a worker has opened the model, including downloads, by backend.',
  },
  BackendChanges: {
    type: 'counter',
    unit: 'Count',
    help: 'How often a backend started to serve, including the first time, by backend.',
  },
  MemoryUsed: {
    type: 'gauge',
    unit: 'Megabytes',
    help: 'Memory of the engine after the last batch (1 MB is 1,000,000 bytes).',
  },
} as const satisfies Readonly<Record<string, Definition>>;

export type BuiltInName = keyof typeof BUILT_IN;

/** The stages that run with each batch, and their metrics. */
export const STAGE_METRICS = {
  preprocess: 'ts_handler_preprocess',
  inference: 'ts_handler_inference',
  postprocess: 'ts_handler_postprocess',
} as const satisfies Partial<Record<Stage, BuiltInName>>;
