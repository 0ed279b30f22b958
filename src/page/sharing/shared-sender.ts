import type { ServingMetrics } from '../metrics/client-metrics.js';
import type { Archive } from '../../contract/archive.js';
import { isSameCandidate, type Backend, type Probe } from '../../contract/backends.js';
import { errorFromData } from '../../contract/error-data.js';
import { asTabServeError, blameOf, TabServeError } from '../../contract/errors.js';
import { CLIENT_SETTINGS, servingOf, type Serving } from '../../contract/settings.js';
import type { Description, WorkerStatus } from '../requests/sender.js';
import { Backlog, type JobQueueStatus } from '../requests/queue.js';
import type { Job } from '../requests/job.js';
import type { Opening, Sender, SenderEvents } from '../requests/sender.js';
import { Backoff } from '../workers/recovery.js';
import { addLoss, whyNotReplayable, type OpenLoss } from '../workers/recovery.js';
import { computesElsewhere, MAX_BATCHES } from '../workers/slot.js';
import { Connector, type ConnectorOptions, type ModelLink } from './connector.js';
import { aborted } from './election.js';
import type { SharedModelEvent, SharedModel } from './messages.js';

export interface SharedSenderOptions extends Omit<ConnectorOptions, 'onEvent' | 'log'> {
  /** What it records: the requests of this tab. */
  readonly metrics: ServingMetrics;
  readonly events: SenderEvents;
  /** Seconds after a loss in which the share tries to connect again. Then it fails. */
  readonly maxRetryTimeoutInSec?: number | undefined;
}

/** A request that was lost with more host tabs than this is not sent again: it may be what ends them. */
const MAX_HANDOVERS = 2;

/**
 * How long the host tab continues after `dispose` to answer what it has accepted from other tabs, in milliseconds.
 */
const DRAIN_MS = 1000;

/** Requests go to the host tab one by one, because the queue is there. */
const ONE_BY_ONE = { batchSize: 1, maxBatchDelay: 0 };

/**
 * Sends the requests of one tab to the shared model, in this tab or in another one. When the host tab ends, its requests
 * go to the next one.
 */
export class SharedSender implements Sender {
  readonly #options: SharedSenderOptions;
  readonly #connector: Connector;
  readonly #backoff: Backoff;
  readonly #closed = new AbortController();
  /** What requests go to; undefined until the shared model is open, and after the host tab has ended. */
  #link: ModelLink | undefined;
  #info: SharedModel | undefined;
  #serving: Serving = servingOf({});
  #failure: TabServeError | undefined;
  /** The requests that have not reached a host tab. */
  readonly #backlog = new Backlog();
  /** Those that the link runs, with what aborts them. */
  readonly #running = new Map<Job, AbortController>();
  /** The loss of a host tab that is not healed yet, and the requests that are sent again. */
  #loss: OpenLoss | undefined;
  #replayed: readonly Job[] = [];
  /** Callers that wait for a link or a failure. */
  #waiters: (() => void)[] = [];

  constructor(options: SharedSenderOptions) {
    this.#options = options;
    const { events, maxRetryTimeoutInSec = CLIENT_SETTINGS.maxRetryTimeoutInSec.default } = options;
    this.#backoff = new Backoff(maxRetryTimeoutInSec);
    this.#connector = new Connector({ ...options, onEvent: (event) => this.#happened(event), log: events.log });
  }

  get serving(): boolean {
    return this.#info !== undefined && this.#failure === undefined;
  }

  get failure(): TabServeError | undefined {
    return this.#failure;
  }

  get backend(): Backend | undefined {
    return this.#info?.backend;
  }

  get archive(): Archive | undefined {
    return this.#info?.archive;
  }

  get probe(): Probe | undefined {
    return this.#info?.probe;
  }

  get parallelism(): number {
    return this.#info && computesElsewhere(this.#info.backend) ? MAX_BATCHES : 1;
  }

  get queueStatus(): JobQueueStatus {
    return this.#backlog.status(this.#serving.jobQueueSize);
  }

  get workerStatus(): readonly WorkerStatus[] {
    return this.#link?.workerStatus ?? [];
  }

  checkRoom(): void {
    this.#backlog.checkRoom(this.#serving.jobQueueSize);
  }

  prepare<T>(preparing: Promise<T>): Promise<T> {
    return this.#backlog.prepare(preparing);
  }

  async open(opening: Opening): Promise<void> {
    this.#failure = undefined;
    this.#info = undefined;
    this.#backoff.restart();
    await this.#connect(opening);
  }

  add(job: Job): void {
    if (this.#failure) return job.reject(this.#failure);
    if (job.settled) return;
    this.#backlog.push(job);
    this.#dispatch();
  }

  async describe(): Promise<Description> {
    const description = await this.#ask((link) => link.describe());
    const { clients } = description.sharing as { readonly clients: number };
    return { ...description, sharing: { role: this.#connector.isHost ? 'host' : 'guest', clients } };
  }

  ping(): Promise<void> {
    return this.#ask((link) => link.ping());
  }

  async close(error: TabServeError): Promise<void> {
    this.#closed.abort(error);
    this.#stop(error);
    await this.#connector.close(error, DRAIN_MS);
  }

  /** Asks the host tab, past the queue. If there is no link, waits for the next one. */
  async #ask<T>(question: (link: ModelLink) => Promise<T>): Promise<T> {
    while (!this.#link) {
      if (this.#failure) throw this.#failure;
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
    return await question(this.#link);
  }

  // ── Connecting ─────────────────────────────────────────────────────────────────────────────────────────────────────

  async #connect(opening: Partial<Opening>): Promise<void> {
    const since = performance.now();
    const { link, info } = await this.#connector.connect(opening);
    const { metrics } = this.#options;
    const isChange = !isSameCandidate(info.backend, this.#info?.backend);
    this.#backoff.reset();
    this.#link = link;
    this.#info = info;
    this.#serving = servingOf(info.archive.config);
    const onEnd = (): void => this.#lost(link);
    if (link.ended.aborted) queueMicrotask(onEnd);
    else link.ended.addEventListener('abort', onEnd, { once: true });
    metrics.loaded(info.backend, performance.now() - since);
    if (isChange) this.#changed(info.backend);
    this.#wake();
    this.#dispatch();
    this.#announceRecovery();
  }

  /** Connects again after a host tab was lost, until `maxRetryTimeoutInSec` has passed. */
  async #reconnect(lost: TabServeError): Promise<void> {
    let cause = lost;
    while (!this.#closed.signal.aborted) {
      const { clock } = this.#options.environment;
      const at = this.#backoff.next(clock.now());
      if (at === undefined) return this.#fail(cause);
      if (at > clock.now()) await this.#pause(at - clock.now());
      try {
        await this.#connect({});
        return;
      } catch (error) {
        cause = asTabServeError(error);
        this.#backoff.countFailure(cause);
        this.#options.events.log(`The shared model could not be opened: ${cause.message}`);
        // Another attempt cannot repair the archive.
        if (blameOf(cause.code) === 'archive' && !cause.retriable) return this.#fail(cause);
      }
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    const { clock } = this.#options.environment;
    const over = new AbortController();
    const cancel = clock.schedule(() => over.abort(), milliseconds);
    await aborted(AbortSignal.any([over.signal, this.#closed.signal]));
    cancel();
  }

  // ── Requests ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Sends waiting requests to the host tab, whose queue orders the requests of all tabs. */
  #dispatch(): void {
    while (this.#link) {
      const { jobs } = this.#backlog.take(ONE_BY_ONE, performance.now(), { onlyFull: false, explanations: true });
      if (!jobs) return;
      for (const job of jobs) void this.#run(this.#link, job);
    }
  }

  /** Runs a job. It settles, or `#lost` takes it. */
  async #run(link: ModelLink, job: Job): Promise<void> {
    const { metrics } = this.#options;
    const stop = new AbortController();
    const sentAt = performance.now();
    this.#running.set(job, stop);
    job.onAbandon = () => stop.abort();
    try {
      const answer = await link.run(job, stop.signal);
      if (link.ended.aborted) return;
      job.queued = sentAt - job.arrivedAt + answer.queued;
      metrics.queued(job.queued);
      metrics.ran(job.size, answer, performance.now() - sentAt);
      job.resolve(answer);
    } catch (cause) {
      if (link.ended.aborted) return;
      job.reject(asTabServeError(cause));
    }
    this.#running.delete(job);
    this.#announceRecovery();
  }

  /** Replays the requests of a host tab that has ended, or fails them. No single request is to blame for the loss. */
  #lost(link: ModelLink): void {
    if (this.#link !== link) return;
    this.#link = undefined;
    if (this.#closed.signal.aborted) return;
    const error = asTabServeError(link.ended.reason);
    const jobs = [...this.#running.keys()].filter(({ settled }) => !settled);
    this.#running.clear();
    const replays = jobs.filter((job) => {
      const reason = job.losses.length >= MAX_HANDOVERS ? endedTabs(error) : whyNotReplayable(job, error);
      if (reason) job.reject(reason);
      else job.lose({ error, alone: false });
      return reason === undefined;
    });
    for (const job of replays) this.#backlog.push(job);
    const [replayed, failed] = [replays.length, jobs.length - replays.length];
    const at = this.#options.environment.clock.now();
    this.#options.events.log(`${error.message} Of its requests ${replayed} are sent again, ${failed} failed.`);
    this.#loss = addLoss(this.#loss, { cause: error, at, replayed, failed });
    this.#replayed = [...this.#replayed, ...replays];
    void this.#reconnect(error);
  }

  /** Announces that a loss is healed, when there is a host tab again and the replayed requests are answered. */
  #announceRecovery(): void {
    const { environment, events } = this.#options;
    if (!this.#loss || !this.#link || this.#replayed.some(({ settled }) => !settled)) return;
    const { at, ...loss } = this.#loss;
    this.#loss = undefined;
    this.#replayed = [];
    events.recover({ ...loss, backend: this.#info!.backend, took: environment.clock.now() - at });
  }

  /** Reports an event of the shared model to this tab's client. */
  #happened(event: SharedModelEvent): void {
    const { events } = this.#options;
    if (event.type === 'warn') return events.warn(event.message);
    if (event.type === 'recover') {
      const cause = asTabServeError(errorFromData(event.recovery.cause));
      return events.recover({ ...event.recovery, cause });
    }
    if (!this.#info) return;
    this.#info = { ...this.#info, backend: event.backend };
    this.#changed(event.backend);
  }

  #changed(backend: Backend): void {
    this.#options.metrics.changed(backend);
    this.#options.events.backend(backend);
  }

  #fail(cause: TabServeError): void {
    const why = [...new Set(this.#backoff.reasons)].join(' ') || cause.message;
    const message = `The tab that ran the shared model was lost, and no other tab could replace it. ${why}`;
    const failure = new TabServeError('no-backend', message, { cause });
    this.#stop(failure);
    this.#options.events.fail(failure);
  }

  /** Rejects everything that is pending, and everything that follows. */
  #stop(error: TabServeError): void {
    this.#failure = error;
    this.#loss = undefined;
    this.#replayed = [];
    for (const [job, stop] of this.#running) {
      job.reject(error);
      stop.abort();
    }
    this.#running.clear();
    this.#backlog.rejectAll(error);
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}

function endedTabs(cause: TabServeError): TabServeError {
  const message = `${MAX_HANDOVERS + 1} tabs that ran the shared model have ended while they had this request: ${cause.message} Send it again only if it is not what ends them.`;
  return new TabServeError('worker-lost', message, { cause });
}
