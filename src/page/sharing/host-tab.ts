import type { Archive, Progress } from '../../contract/archive.js';
import { errorToData } from '../../contract/error-data.js';
import { asTabServeError, PredictionError, TabServeError } from '../../contract/errors.js';
import type { Envelope } from '../../contract/wire.js';
import { watchRelease } from '../../shared/lock-release.js';
import { HeldValue } from '../requests/held-value.js';
import { ServingMetrics } from '../metrics/client-metrics.js';
import type { Description } from '../requests/sender.js';
import { Requester, type RanRequest } from '../requests/requester.js';
import type { Job, SequenceState } from '../requests/job.js';
import type { MakeLocalSender, LocalSender } from '../selection/local-sender.js';
import type { ShareEnvironment } from './election.js';
import type { LobbyMessage, SessionEvent, SessionInfo, SharedAnswer, SharedRequest } from './messages.js';
import { ServedGuest, type RunningRequest } from './served-guest.js';
import type { SessionLink } from './connector.js';

export interface HostOptions {
  readonly environment: ShareEnvironment;
  /** The share's name. */
  readonly name: string;
  /** The channel of all tabs. */
  readonly lobby: Pick<BroadcastChannel, 'postMessage'>;
  readonly makeLocalSender: MakeLocalSender;
  /** What happens to the session while it is open. */
  readonly onEvent: (event: SessionEvent) => void;
  /** Called when the session has failed, and can answer nothing any more. */
  readonly onFail: (error: TabServeError) => void;
  readonly log: (message: string, since?: number) => void;
}

/** Opens the session of a share in this tab, and serves its clients: that of this tab, and those of other tabs. */
export class HostTab implements SessionLink {
  readonly #options: HostOptions;
  readonly #id: string;
  /** The metrics of the session: the requests of all tabs. */
  readonly #metrics: ServingMetrics;
  readonly #session: LocalSender;
  readonly #requester: Requester;
  readonly #guests = new Map<string, ServedGuest>();
  readonly #onProgress = new Set<(progress: Progress) => void>();
  readonly #ended = new AbortController();
  readonly #opening: Promise<SessionInfo>;
  #info: SessionInfo | undefined;
  #lastProgress: Progress | undefined;
  /** Why the session could not be opened; undefined as long as it may be, and if the host ended before. */
  failure: TabServeError | undefined;

  constructor(options: HostOptions) {
    this.#options = options;
    const { environment, lobby, makeLocalSender, onFail, log } = options;
    this.#id = environment.id();
    lobby.postMessage({ type: 'host', host: this.#id } satisfies LobbyMessage);
    const warn = (message: string): void => this.#emit({ type: 'warn', message });
    this.#metrics = new ServingMetrics(() => this.#session.archive?.manifest.model, warn);
    this.#session = makeLocalSender(this.#metrics, {
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
      sender: () => this.#session,
      metrics: this.#metrics,
      disposed: this.#ended.signal,
      checkOpen: () => {},
      onResponse: () => {},
    });
    this.#opening = this.#open();
    // Whoever waits for it, in `opened`, reports the failure.
    this.#opening.catch(() => {});
  }

  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Waits until the session is open. @throws what `Client.initialize` throws */
  async opened(onProgress: ((progress: Progress) => void) | undefined): Promise<SessionInfo> {
    if (onProgress) this.#onProgress.add(onProgress);
    try {
      return await this.#opening;
    } finally {
      if (onProgress) this.#onProgress.delete(onProgress);
    }
  }

  /** A guest looks for the host: it is told when the session is open, and served from then on. */
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
    // The guest holds this lock until it leaves or its tab ends.
    watchRelease(environment.locks, `${name}/${id}`, leave, left.signal).catch(() => {});
    this.#report(guest);
  }

  /** Answers what has been accepted, for so many milliseconds at most, and nothing more. */
  async drain(milliseconds: number): Promise<void> {
    const drained = Promise.all(Array.from(this.#guests.values(), (guest) => guest.drain()));
    let cancel = (): void => {};
    const late = new Promise<void>(
      (resolve) => (cancel = this.#options.environment.clock.schedule(resolve, milliseconds)),
    );
    await Promise.race([drained, late]);
    cancel();
  }

  /** Ends the session, and leaves the guests to the next host. */
  end(why: string): void {
    if (this.#ended.signal.aborted) return;
    const error = new TabServeError('worker-lost', `The shared session ended: ${why}.`);
    this.#ended.abort(error);
    void this.#session.close(error);
  }

  /** Answers a request of this tab. */
  async run(job: Job, stop: AbortSignal): Promise<SharedAnswer> {
    const { request, exclusive, priority, params, chunks, sequence, losses, http } = job;
    // What an earlier host had accepted needs no place in the queue.
    if (losses.length === 0) this.#session.checkRoom();
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
    return { ...(await this.#session.describe()), sharing: { role: 'host', clients: this.#guests.size + 1 } };
  }

  ping(): Promise<void> {
    return this.#session.ping();
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

  async #open(): Promise<SessionInfo> {
    const session = this.#session;
    const onProgress = (progress: Progress): void => {
      this.#lastProgress = progress;
      for (const listener of this.#onProgress) listener(progress);
      for (const guest of this.#guests.values()) this.#report(guest);
    };
    try {
      await session.open({ onProgress, signal: this.#ended.signal });
    } catch (error) {
      if (!this.#ended.signal.aborted) this.failure = asTabServeError(error);
      throw error;
    }
    this.#info = { backend: session.backend!, probe: session.probe, archive: withoutFiles(session.archive!) };
    for (const guest of this.#guests.values()) this.#report(guest);
    return this.#info;
  }

  /** Tells a guest how far the session is. */
  #report(guest: ServedGuest): void {
    if (this.#info) guest.post({ type: 'open', session: this.#info });
    else guest.post({ type: 'opening', progress: this.#lastProgress });
  }

  #emit(event: SessionEvent): void {
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
 * @param sequence whose state is held by the tab of the request, not by this one
 * @param send calls `onRan` if a worker has run it
 */
async function answerWith(
  sequence: SharedRequest['sequence'],
  send: (sequence: SequenceState | undefined, onRan: (ran: RanRequest) => void) => Promise<unknown[]>,
): Promise<SharedAnswer> {
  let ran = NOT_RUN;
  const { state } = sequence ?? {};
  const current = sequence && { id: sequence.id, state: state === undefined ? undefined : new HeldValue(state) };
  const results = await send(current, (one) => (ran = one));
  current?.state?.release();
  const rows = results.map((value): Envelope<unknown> =>
    value instanceof PredictionError ? { ok: false, error: errorToData(value) } : { ok: true, value },
  );
  return { rows, ...ran };
}

/** Returns what a guest needs of an archive: its manifest and its config. */
function withoutFiles(archive: Archive): Archive {
  const nodes = Object.entries(archive.nodes ?? {}).map(([name, node]) => [name, withoutFiles(node)] as const);
  return { ...archive, files: {}, local: undefined, ...(archive.nodes && { nodes: Object.fromEntries(nodes) }) };
}
