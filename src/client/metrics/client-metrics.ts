import type { Manifest } from '../../contract/archive.js';
import { candidateName, type Backend } from '../../contract/backends.js';
import type { MetricLabels, MetricsSnapshot, Observation } from '../../contract/metrics.js';
import type { Stage, Timings } from '../../contract/stages.js';
import { asTabServeError, PredictionError } from '../../contract/errors.js';
import { STAGE_METRICS } from '../../shared/metrics/built-in.js';
import { toPrometheus } from './prometheus.js';
import { Registry } from './families.js';

/** The metrics of one client. They stay in the page: nothing is sent anywhere. */
export interface ClientMetrics {
  /** Returns all metrics as plain data, by name. */
  snapshot(): MetricsSnapshot;
  /** Returns all metrics in Prometheus' text format 0.0.4, with TorchServe's names and labels. Histograms are summaries with the quantiles 0.5, 0.95 and 0.99. */
  prometheus(): string;
}

/** A worker's measurements of a batch. */
export interface BatchRun {
  readonly timings: Timings;
  /** Those of a workflow's nodes. */
  readonly nodes?: Readonly<Record<string, Timings>>;
  /** Time in the handler, in milliseconds. */
  readonly handlerTime: number;
  /** Memory of the engine, in bytes. */
  readonly memory: number;
}

/** Collects the metrics that a client records by itself, and those of its handler. */
export class ServingMetrics implements ClientMetrics {
  readonly #model: () => Manifest['model'] | undefined;
  readonly #warn: (message: string) => void;
  readonly #registry: Registry;

  /** @param warn called once with each message about a wrong observation of a handler */
  constructor(model: () => Manifest['model'] | undefined, warn: (message: string) => void) {
    const warned = new Set<string>();
    this.#model = model;
    this.#warn = (message) => void (warned.has(message) || (warned.add(message), warn(message)));
    this.#registry = new Registry(this.#warn);
  }

  /** Counts and times the requests that `answer` settles, one per row. */
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

  /** Records that a request left the queue after so many milliseconds. */
  queued(milliseconds: number): void {
    this.#registry.builtIn('QueueTime').record(milliseconds);
    this.#registry.builtIn('ts_queue_latency_microseconds').record(milliseconds * 1000);
  }

  /** Records a batch that a worker answered. @param roundTrip in milliseconds */
  ran(rows: number, { timings, nodes = {}, handlerTime, memory }: BatchRun, roundTrip: number): void {
    const registry = this.#registry;
    registry.builtIn('BatchSize').record(rows);
    registry.builtIn('PredictionTime').record(roundTrip);
    registry.builtIn('HandlerTime').record(handlerTime);
    // The clocks of the two threads are coarse, so the difference may be negative.
    registry.builtIn('WorkerThreadTime').record(Math.max(0, roundTrip - handlerTime));
    registry.builtIn('MemoryUsed').record(memory / 1e6);
    this.#ranStages(timings, {});
    for (const [node, own] of Object.entries(nodes)) this.#ranStages(own, { node });
  }

  #ranStages(timings: Timings, labels: MetricLabels): void {
    for (const stage in STAGE_METRICS) {
      const took = timings[stage as Stage];
      if (took !== undefined)
        this.#registry.builtIn(STAGE_METRICS[stage as keyof typeof STAGE_METRICS]).record(took, labels);
    }
  }

  /** Adds a handler's observations. Its worker has checked them, but does not know the definitions of an earlier worker. */
  recorded(observations: readonly Observation[] = []): void {
    for (const observation of observations) {
      try {
        this.#registry.record(observation);
      } catch (error) {
        this.#warn(asTabServeError(error).message);
      }
    }
  }

  /** Records that a worker opened the model after so many milliseconds. */
  loaded(backend: Backend, milliseconds: number): void {
    this.#registry.builtIn('WorkerLoadTime').record(milliseconds, { Backend: candidateName(backend) });
  }

  changed(backend: Backend): void {
    this.#registry.builtIn('BackendChanges').record(1, { Backend: candidateName(backend) });
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
