import type { Manifest } from '../../contract/archive.js';
import type { Backend } from '../../contract/backends.js';
import type { MetricsSnapshot, Observation } from '../../contract/metrics.js';
import type { Stage, Timings } from '../../contract/stages.js';
import { asTabServeError, PredictionError } from '../../contract/errors.js';
import { STAGE_METRICS } from '../../shared/metrics/built-in.js';
import { toPrometheus } from './prometheus.js';
import { Registry } from './families.js';

/** What a client has counted and timed. It stays in the page: nothing here is sent anywhere. */
export interface ClientMetrics {
  /** Everything so far, as plain data by the metrics' names. */
  snapshot(): MetricsSnapshot;
  /** The same in Prometheus' text format 0.0.4, with TorchServe's names and labels; histograms are summaries with the quantiles 0.5, 0.95 and 0.99. */
  prometheus(): string;
}

/** What a worker tells of a batch. */
export interface BatchRun {
  readonly timings: Timings;
  /** Milliseconds in the handler. */
  readonly handlerTime: number;
  /** Bytes that the engine holds. */
  readonly memory: number;
}

/** The metrics that a client records by itself, and those of its handler. */
export class ServingMetrics implements ClientMetrics {
  readonly #model: () => Manifest['model'] | undefined;
  readonly #warn: (message: string) => void;
  readonly #registry: Registry;

  /** @param warn is told what is wrong with what a handler records, once */
  constructor(model: () => Manifest['model'] | undefined, warn: (message: string) => void) {
    const told = new Set<string>();
    this.#model = model;
    this.#warn = (message) => void (told.has(message) || (told.add(message), warn(message)));
    this.#registry = new Registry(this.#warn);
  }

  /** Counts and times the requests that `answer` settles, one a row. */
  async follow(rows: number, answer: () => Promise<unknown[]>): Promise<unknown[]> {
    const started = performance.now();
    try {
      const results = await answer();
      const took = performance.now() - started;
      for (const result of results) {
        if (result instanceof PredictionError) this.#settled(result.code);
        else this.#answered(took);
      }
      return results;
    } catch (error) {
      this.#settled(asTabServeError(error).code, rows);
      throw error;
    }
  }

  /** A request has left the queue, after so many milliseconds. */
  queued(milliseconds: number): void {
    this.#registry.builtIn('QueueTime').record(milliseconds);
    this.#registry.builtIn('ts_queue_latency_microseconds').record(milliseconds * 1000);
  }

  /** A batch came back from a worker, after so many milliseconds. */
  ran(rows: number, { timings, handlerTime, memory }: BatchRun, roundTrip: number): void {
    const registry = this.#registry;
    registry.builtIn('BatchSize').record(rows);
    registry.builtIn('PredictionTime').record(roundTrip);
    registry.builtIn('HandlerTime').record(handlerTime);
    // Two threads' clocks are coarse.
    registry.builtIn('WorkerThreadTime').record(Math.max(0, roundTrip - handlerTime));
    registry.builtIn('MemoryUsed').record(memory / 1e6);
    for (const stage in STAGE_METRICS) {
      const took = timings[stage as Stage];
      if (took !== undefined) registry.builtIn(STAGE_METRICS[stage as keyof typeof STAGE_METRICS]).record(took);
    }
  }

  /** What a handler has recorded. Its worker has checked it; what an earlier worker recorded otherwise, that one cannot know. */
  recorded(observations: readonly Observation[] = []): void {
    for (const observation of observations) {
      try {
        this.#registry.record(observation);
      } catch (error) {
        this.#warn(asTabServeError(error).message);
      }
    }
  }

  /** A worker has opened the model, after so many milliseconds. */
  loaded(backend: Backend, milliseconds: number): void {
    this.#registry.builtIn('WorkerLoadTime').record(milliseconds, { Backend: nameOf(backend) });
  }

  changed(backend: Backend): void {
    this.#registry.builtIn('BackendChanges').record(1, { Backend: nameOf(backend) });
  }

  snapshot(): MetricsSnapshot {
    return this.#registry.snapshot();
  }

  prometheus(): string {
    return toPrometheus(this.#registry.families, this.#model());
  }

  #answered(took: number): void {
    this.#settled('ok');
    this.#registry.builtIn('RequestTime').record(took);
    this.#registry.builtIn('ts_inference_latency_microseconds').record(took * 1000);
  }

  #settled(outcome: string, rows = 1): void {
    this.#registry.builtIn('ts_inference_requests_total').record(rows, { outcome });
  }
}

function nameOf({ engine, name }: Backend): string {
  return `${engine}/${name}`;
}
