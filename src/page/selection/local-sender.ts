import { CLIENT_SETTINGS, servingOf } from '../../contract/settings.js';
import type { Archive } from '../../contract/archive.js';
import type { Probe } from '../../contract/backends.js';
import type { TabServeError } from '../../contract/errors.js';
import { browserClock } from '../../shared/clock.js';
import type { ServingMetrics } from '../metrics/client-metrics.js';
import type { Description } from '../requests/sender.js';
import type { Opening, Sender, SenderEvents } from '../requests/sender.js';
import { WorkerOpener } from './worker-opener.js';
import { type OpenerOptions } from '../options/client-options.js';
import type { CoreBudget } from '../workers/budget.js';
import type { WorkerFactory } from '../workers/worker-factory.js';
import { WorkerPool } from '../workers/pool.js';

export interface LocalSenderOptions {
  readonly factory: WorkerFactory;
  readonly options: OpenerOptions;
  /** The cores that its workers share with those of other clients. */
  readonly cores: CoreBudget;
  /** The metrics that it records and describes. */
  readonly metrics: ServingMetrics;
  readonly events: SenderEvents;
}

/** Makes what answers requests in this tab. */
export type MakeLocalSender = (metrics: ServingMetrics, events: SenderEvents) => LocalSender;

/** Answers requests in this tab: a pool whose workers open the model. */
export class LocalSender extends WorkerPool implements Sender {
  readonly #opener: WorkerOpener;
  readonly #metrics: ServingMetrics;

  constructor({ factory, options, cores, metrics, events }: LocalSenderOptions) {
    const opener = new WorkerOpener(factory, options, {
      ...events,
      opened: (backend, milliseconds) => metrics.loaded(backend, milliseconds),
    });
    super({
      clock: browserClock,
      cores,
      maxRetryTimeoutInSec: options.maxRetryTimeoutInSec ?? CLIENT_SETTINGS.maxRetryTimeoutInSec.default,
      maxRuns: options.maxRuns,
      maxMemory: options.maxMemory,
      log: events.log,
      open: (request) => opener.open(request),
      on: {
        ...events,
        backend: (backend) => {
          metrics.changed(backend);
          events.backend(backend);
        },
        queued: (milliseconds) => metrics.queued(milliseconds),
        ran: (rows, answer, roundTrip) => metrics.ran(rows, answer, roundTrip),
      },
    });
    this.#opener = opener;
    this.#metrics = metrics;
  }

  get archive(): Archive | undefined {
    return this.#opener.archive;
  }

  get probe(): Probe | undefined {
    return this.#opener.probe;
  }

  async open(opening: Opening): Promise<void> {
    const worker = await this.#opener.open(opening);
    this.start(worker, servingOf(this.archive!.config));
  }

  async describe(): Promise<Description> {
    const info = await this.ask(({ describe }) => describe());
    const { manifest, config } = this.archive!;
    const { modelName, modelVersion } = manifest.model;
    return {
      modelName,
      modelVersion,
      ...info,
      config: { ...config, ...servingOf(config) },
      backend: this.backend!,
      workers: this.workers,
      jobQueueStatus: this.queueStatus,
      metrics: this.#metrics.snapshot(),
    };
  }

  async ping(): Promise<void> {
    await this.ask(({ ping }) => ping());
  }

  override async close(error: TabServeError): Promise<void> {
    super.close(error);
  }
}
