import type { Manifest } from '../../contract/archive.js';
import { candidateName, type Backend } from '../../contract/backends.js';
import type { MetricLabels, MetricsSnapshot, Observation } from '../../contract/metrics.js';
import type { Stage, Timings } from '../../contract/stages.js';
import { asTabServeError, PredictionError } from '../../contract/errors.js';
import { STAGE_METRICS, type BuiltInName } from '../../shared/metrics/built-in.js';
import { toPrometheus } from './prometheus.js';
import { Registry } from './families.js';

/** The metrics of one client. They stay in the page: nothing is sent anywhere. */
export interface ClientMetrics {
  /** Returns all metrics as plain data, by name. */
  snapshot(): MetricsSnapshot;
  /**
   * Returns all metrics in Prometheus' text format 0.0.4, with TorchServe's names and labels. Histograms are summaries
   * with the quantiles 0.5, 0.95 and 0.99.
   */
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
  /** The handler's own observations. */
  readonly metrics?: readonly Observation[];
}

/** The limit for pending observations: those of about 40 requests. */
const MAX_PENDING = 512;

/** Collects the metrics that a client records by itself, and those of its handler. */
export class ServingMetrics implements ClientMetrics {
  readonly #model: () => Manifest['model'] | undefined;
  readonly #warn: (message: string) => void;
  readonly #registry: Registry;
  /**
   * Observations that are not in the registry yet. Adding them together takes a fraction of the time of adding each
   * with its request.
   */
  readonly #pending: [name: BuiltInName, value: number, labels: MetricLabels | undefined][] = [];

  /** @param warn called once with each message about a wrong observation of a handler */
  constructor(model: () => Manifest['model'] | undefined, warn: (message: string) => void) {
    const warned = new Set<string>();
    this.#model = model;
    this.#warn = (message) => void (warned.has(message) || (warned.add(message), warn(message)));
    this.#registry = new Registry(this.#warn);
  }

  /** Counts and times the requests that `answer` settles, one per row. @param arrivedAt by `performance.now()` */
  async follow(rows: number, arrivedAt: number, answer: () => Promise<unknown[]>): Promise<unknown[]> {
    try {
      const results = await answer();
      const took = performance.now() - arrivedAt;
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

  /** Records that a request left the queue after this many milliseconds. */
  queued(milliseconds: number): void {
    this.#record('QueueTime', milliseconds);
    this.#record('ts_queue_latency_microseconds', milliseconds * 1000);
  }

  /** Records a batch that a worker answered. @param roundTrip in milliseconds */
  ran(rows: number, { timings, nodes = {}, handlerTime, memory, metrics }: BatchRun, roundTrip: number): void {
    this.recorded(metrics);
    this.#record('BatchSize', rows);
    this.#record('PredictionTime', roundTrip);
    this.#record('HandlerTime', handlerTime);
    // The clocks of the two threads are coarse, so the difference may be negative.
    this.#record('WorkerThreadTime', Math.max(0, roundTrip - handlerTime));
    this.#record('MemoryUsed', memory / 1e6);
    this.#ranStages(timings);
    for (const [node, own] of Object.entries(nodes)) this.#ranStages(own, { node });
  }

  #ranStages(timings: Timings, labels?: MetricLabels): void {
    for (const stage in STAGE_METRICS) {
      const took = timings[stage as Stage];
      if (took !== undefined) this.#record(STAGE_METRICS[stage as keyof typeof STAGE_METRICS], took, labels);
    }
  }

  /**
   * Adds a handler's observations. Its worker has checked them, but does not know the definitions of an earlier worker.
   */
  recorded(observations: readonly Observation[] = []): void {
    for (const observation of observations) {
      try {
        this.#registry.record(observation);
      } catch (error) {
        this.#warn(asTabServeError(error).message);
      }
    }
  }

  /** Records that a worker opened the model after this many milliseconds. */
  loaded(backend: Backend, milliseconds: number): void {
    this.#record('WorkerLoadTime', milliseconds, { Backend: candidateName(backend) });
  }

  changed(backend: Backend): void {
    this.#record('BackendChanges', 1, { Backend: candidateName(backend) });
  }

  snapshot(): MetricsSnapshot {
    this.#add();
    return this.#registry.snapshot();
  }

  prometheus(): string {
    this.#add();
    return toPrometheus(this.#registry.families, this.#model());
  }

  #answered(took: number): void {
    this.#settled('ok');
    this.#record('RequestTime', took);
    this.#record('ts_inference_latency_microseconds', took * 1000);
  }

  #settled(outcome: string, rows = 1): void {
    this.#record('ts_inference_requests_total', rows, { outcome });
  }

  /** Records one of TabServe's own metrics. */
  #record(name: BuiltInName, value: number, labels?: MetricLabels): void {
    this.#pending.push([name, value, labels]);
    if (this.#pending.length >= MAX_PENDING) this.#add();
  }

  /** Adds what is pending to the registry. */
  #add(): void {
    for (const [name, value, labels] of this.#pending.splice(0)) this.#registry.builtIn(name).record(value, labels);
  }
}
