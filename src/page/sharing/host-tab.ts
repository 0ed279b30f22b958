import type { Archive, Progress } from '../../contract/archive.js';
import { errorToData } from '../../contract/error-data.js';
import { asTabServeError, PredictionError, TabServeError } from '../../contract/errors.js';
import type { Envelope } from '../../contract/wire.js';
import { watchRelease } from '../../shared/lock-release.js';
import { RetainedValue } from '../requests/retained-value.js';
import { ServingMetrics } from '../metrics/client-metrics.js';
import type { Description, WorkerStatus } from '../requests/sender.js';
import { Requester, type RanRequest } from '../requests/requester.js';
import type { Job, SequenceState } from '../requests/job.js';
import type { MakeLocalSender, LocalSender } from '../selection/local-sender.js';
import type { ShareEnvironment } from './election.js';
import type { LobbyMessage, SharedModelEvent, SharedModel, SharedAnswer, SharedRequest } from './messages.js';
import { ServedGuest, type RunningRequest } from './served-guest.js';
import type { ModelLink } from './connector.js';

export interface HostOptions {
  readonly environment: ShareEnvironment;
  /** The share's name. */
  readonly name: string;
  /** The channel of all tabs. */
  readonly lobby: Pick<BroadcastChannel, 'postMessage'>;
  readonly makeLocalSender: MakeLocalSender;
  /** Called for what happens to the shared model while it is open. */
  readonly onEvent: (event: SharedModelEvent) => void;
  /** Called when the shared model has failed, and can no longer answer. */
  readonly onFail: (error: TabServeError) => void;
  readonly log: (message: string, since?: number) => void;
}

/** Opens the shared model in this tab, and serves the clients of all tabs. */
export class HostTab implements ModelLink {
  readonly #options: HostOptions;
  readonly #id: string;
  /** The metrics of the shared model: the requests of all tabs. */
  readonly #metrics: ServingMetrics;
  readonly #sender: LocalSender;
  readonly #requester: Requester;
  readonly #guests = new Map<string, ServedGuest>();
  readonly #onProgress = new Set<(progress: Progress) => void>();
  readonly #ended = new AbortController();
  readonly #opening: Promise<SharedModel>;
  #info: SharedModel | undefined;
  #lastProgress: Progress | undefined;
  /** Why the model could not be opened; undefined while it may still be opened, and if this tab left before. */
  failure: TabServeError | undefined;

  constructor(options: HostOptions) {
    this.#options = options;
    const { environment, lobby, makeLocalSender, onFail, log } = options;
    this.#id = environment.id();
    lobby.postMessage({ type: 'host', host: this.#id } satisfies LobbyMessage);
    const warn = (message: string): void => this.#emit({ type: 'warn', message });
    this.#metrics = new ServingMetrics(() => this.#sender.archive?.manifest.model, warn);
    this.#sender = makeLocalSender(this.#metrics, {
      backend: (backend) => {
        if (!this.#info) return;
        this.#info = { ...this.#info, backend };
        this.#emit({ type: 'backend', backend });
      },
      recover: ({ cause, ...recovery }) =>
        this.#emit({ type: 'recover', recovery: { ...recovery, cause: errorToData(cause) } }),
      fail: onFail,
      warn,
      log,
    });
    this.#requester = new Requester({
      sender: () => this.#sender,
      metrics: this.#metrics,
      disposed: this.#ended.signal,
      checkOpen: () => {},
      onResponse: () => {},
    });
    this.#opening = this.#open();
    // Whoever waits for it, in `opened`, reports the failure.
    this.#opening.catch(() => {});
  }

  get workerStatus(): readonly WorkerStatus[] {
    return this.#sender.workerStatus;
  }

  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Waits until the shared model is open. @throws what `Client.initialize` throws */
  async opened(onProgress: ((progress: Progress) => void) | undefined): Promise<SharedModel> {
    if (onProgress) this.#onProgress.add(onProgress);
    try {
      return await this.#opening;
    } finally {
      if (onProgress) this.#onProgress.delete(onProgress);
    }
  }

  /** Tells a guest tab that looks for the host tab when the model is open, and serves it from then on. */
  greet(id: string): void {
    const known = this.#guests.get(id);
    if (known) return this.#report(known);
    const { environment, name } = this.#options;
    const left = new AbortController();
    const guest = new ServedGuest({
      channel: environment.channel(`${name}/${id}`),
      host: this.#id,
      answer: (request, running) => this.#answer(request, running),
      ask: (question) => (question === 'describe' ? this.describe() : this.ping()),
    });
    const leave = (): void => {
      left.abort();
      guest.close();
      this.#guests.delete(id);
    };
    this.#guests.set(id, guest);
    this.#ended.signal.addEventListener('abort', leave, { signal: left.signal });
    // The guest tab holds this lock until it leaves or its tab ends.
    watchRelease(environment.locks, `${name}/${id}`, leave, left.signal).catch(() => {});
    this.#report(guest);
  }

  /** Answers what has been accepted, for this many milliseconds at most, and nothing more. */
  async drain(milliseconds: number): Promise<void> {
    const drained = Promise.all(Array.from(this.#guests.values(), (guest) => guest.drain()));
    let cancel = (): void => {};
    const late = new Promise<void>(
      (resolve) => (cancel = this.#options.environment.clock.schedule(resolve, milliseconds)),
    );
    await Promise.race([drained, late]);
    cancel();
  }

  /** Closes the shared model, and leaves the guest tabs to the next host tab. */
  end(why: string): void {
    if (this.#ended.signal.aborted) return;
    const error = new TabServeError('worker-lost', `The shared model is no longer available: ${why}.`);
    this.#ended.abort(error);
    void this.#sender.close(error);
  }

  /** Answers a request of this tab. */
  async run(job: Job, stop: AbortSignal): Promise<SharedAnswer> {
    const { request, exclusive, priority, params, chunks, sequence, losses, http } = job;
    // What an earlier host tab had accepted needs no slot in the queue.
    if (losses.length === 0) this.#sender.checkRoom();
    const options = { signal: stop, timeout: undefined, priority, params, transfer: false, http };
    return await answerWith(sequence && { id: sequence.id, state: sequence.state?.value }, (current, onRan) =>
      this.#requester.sendPrepared(job.borrowRows(), options, {
        request,
        exclusive,
        ...(chunks && { streamed: { chunks, stop } }),
        ...(current && { sequence: { current, ended: stop } }),
        onRan,
      }),
    );
  }

  async describe(): Promise<Description> {
    return { ...(await this.#sender.describe()), sharing: { role: 'host', clients: this.#guests.size + 1 } };
  }

  ping(): Promise<void> {
    return this.#sender.ping();
  }

  /** Answers a request of another tab. */
  #answer(
    { rows, request, exclusive, priority, params, isReplay, sequence, http }: SharedRequest,
    { chunks, stop, onHttp }: RunningRequest,
  ): Promise<SharedAnswer> {
    return answerWith(sequence, (current, onRan) =>
      this.#requester.send(
        rows,
        { params, priority, signal: stop, ...(http && { http: { request: http, onAnswer: onHttp } }) },
        {
          request,
          exclusive,
          isReplay,
          ...(chunks && { streamed: { chunks, stop } }),
          ...(current && { sequence: { current, ended: stop } }),
          onRan,
        },
      ),
    );
  }

  async #open(): Promise<SharedModel> {
    const sender = this.#sender;
    const onProgress = (progress: Progress): void => {
      this.#lastProgress = progress;
      for (const listener of this.#onProgress) listener(progress);
      for (const guest of this.#guests.values()) this.#report(guest);
    };
    try {
      await sender.open({ onProgress, signal: this.#ended.signal });
    } catch (error) {
      if (!this.#ended.signal.aborted) this.failure = asTabServeError(error);
      throw error;
    }
    this.#info = { backend: sender.backend!, probe: sender.probe, archive: withoutFiles(sender.archive!) };
    for (const guest of this.#guests.values()) this.#report(guest);
    return this.#info;
  }

  /** Tells a guest tab how far the opening of the model is. */
  #report(guest: ServedGuest): void {
    if (this.#info) guest.post({ type: 'open', model: this.#info });
    else guest.post({ type: 'opening', progress: this.#lastProgress });
  }

  #emit(event: SharedModelEvent): void {
    this.#options.onEvent(event);
    for (const guest of this.#guests.values()) guest.post({ type: 'event', event });
  }
}

const NOT_RUN: RanRequest = {
  timings: {},
  handlerTime: 0,
  memory: 0,
  batchSize: 0,
  state: undefined,
  queued: 0,
};

/**
 * Sends a request, and returns its answer as data.
 * @param sequence its state is retained by the tab of the request, not by this one
 * @param send calls `onRan` if a worker has run it
 */
async function answerWith(
  sequence: SharedRequest['sequence'],
  send: (sequence: SequenceState | undefined, onRan: (ran: RanRequest) => void) => Promise<unknown[]>,
): Promise<SharedAnswer> {
  let ran = NOT_RUN;
  const { state } = sequence ?? {};
  const current = sequence && { id: sequence.id, state: state === undefined ? undefined : new RetainedValue(state) };
  const results = await send(current, (one) => (ran = one));
  current?.state?.release();
  const rows = results.map((value): Envelope<unknown> =>
    value instanceof PredictionError ? { ok: false, error: errorToData(value) } : { ok: true, value },
  );
  return { rows, ...ran };
}

/** Returns what a guest tab needs of an archive: its manifest and its config. */
function withoutFiles(archive: Archive): Archive {
  const nodes = Object.entries(archive.nodes ?? {}).map(([name, node]) => [name, withoutFiles(node)] as const);
  return { ...archive, files: {}, local: undefined, ...(archive.nodes && { nodes: Object.fromEntries(nodes) }) };
}
