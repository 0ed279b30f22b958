import type { Progress } from '../../contract/archive.js';
import { errorFromData, errorToData, type ErrorData } from '../../contract/error-data.js';
import { asTabServeError, messageOf, TabServeError } from '../../contract/errors.js';
import type { Envelope } from '../../contract/wire.js';
import { abortError } from '../../shared/abort.js';
import type { Description } from '../requests/sender.js';
import type { Job } from '../requests/job.js';
import { NONE_KNOWN } from '../requests/retained-value.js';
import { Watchdog, type WatchedCall } from '../workers/watchdog.js';
import { TabChannel } from './channel.js';
import { holdLock, type ShareEnvironment } from './election.js';
import type {
  GuestMessage,
  HostMessage,
  LobbyMessage,
  SharedModelEvent,
  SharedModel,
  SharedAnswer,
  SharedRequest,
} from './messages.js';
import type { ModelLink } from './connector.js';

/** How often a guest tab that waits for an answer asks whether the host tab is alive, in milliseconds. */
export const HEARTBEAT_MS = 2000;
/** How long a host tab may be silent, in seconds. Then it is replaced. */
export const HOST_TIMEOUT = 15;

export interface GuestOptions {
  readonly environment: ShareEnvironment;
  /** The share's name. */
  readonly name: string;
  /** The channel of all tabs. */
  readonly lobby: Pick<BroadcastChannel, 'postMessage'>;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  readonly onEvent: (event: SharedModelEvent) => void;
  /** Called when the host tab has not answered for `HOST_TIMEOUT`. */
  readonly onSilence: () => void;
}

/** Something that the host tab has not answered yet. */
interface PendingCall {
  readonly watched: WatchedCall;
  readonly settle: (answer: Envelope<unknown>) => void;
  /** The request, if it is one. */
  readonly job: Job | undefined;
}

/** Sends requests to the host tab, which is another tab. */
export class GuestTab implements ModelLink {
  readonly workerStatus = [];
  /** Resolves when the host tab says that the model is open; to undefined if this connection ends before that. */
  readonly opened: Promise<SharedModel | undefined>;
  readonly #options: GuestOptions;
  readonly #id: string;
  readonly #channel: TabChannel<GuestMessage, HostMessage>;
  readonly #ended = new AbortController();
  readonly #watchdog: Watchdog;
  readonly #pending = new Map<string, PendingCall>();
  #calls = 0;
  #resolveOpened!: (model: SharedModel | undefined) => void;
  /** Undefined until the host tab has said that the model is open. */
  #model: SharedModel | undefined;
  /** The wait for the shared model; undefined unless it is under way. */
  #opening: WatchedCall | undefined;
  /** The host tab's id; undefined until it has answered. */
  #host: string | undefined;
  #cancelHeartbeat: (() => void) | undefined;

  constructor(options: GuestOptions) {
    const { environment, name, onSilence } = options;
    this.#options = options;
    this.#id = environment.id();
    this.opened = new Promise((resolve) => (this.#resolveOpened = resolve));
    this.#watchdog = new Watchdog(HOST_TIMEOUT, onSilence, environment.clock);
    this.#channel = new TabChannel(environment.channel(`${name}/${this.#id}`), {
      onMessage: (message) => this.#receive(message),
      onUnreadable: () => this.end('a message of the tab that runs the model could not be read'),
    });
  }

  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /**
   * Looks for the host tab. The lock tells the host tab when this guest tab has ended.
   * @throws what the browser throws if this page may have no locks
   */
  async start(): Promise<void> {
    const { environment, name } = this.#options;
    await holdLock(environment.locks, `${name}/${this.#id}`, this.#ended.signal);
    if (this.#ended.signal.aborted) return;
    this.#opening = this.#watch();
    this.#greet();
  }

  /** Ends this connection, or looks for the host tab again: another tab says that it is the host tab from now on. */
  hostChanged(host: string): void {
    if (host === this.#host || this.#ended.signal.aborted) return;
    if (this.#model) return this.end('the tab that ran the model was closed, or has left the share');
    this.#host = undefined;
    this.#greet();
  }

  /** Ends the connection. */
  end(why: string): void {
    if (this.#ended.signal.aborted) return;
    const error = new TabServeError('worker-lost', `The shared model is no longer available: ${why}.`);
    this.#watchdog.stop();
    this.#cancelHeartbeat?.();
    this.#channel.close();
    this.#ended.abort(error);
    this.#resolveOpened(undefined);
    for (const { settle } of this.#pending.values()) settle({ ok: false, error: errorToData(error) });
    this.#pending.clear();
  }

  async run(job: Job, stop: AbortSignal): Promise<SharedAnswer> {
    const request = requestOf(job);
    const id = this.#nextId();
    const { chunks } = job;
    if (chunks) chunks.onRead = () => this.#post({ type: 'more', id });
    const canceled = (): void => {
      this.#post({ type: 'cancel', id });
      this.#settle(id, { ok: false, error: errorToData(abortError(stop)) });
    };
    stop.addEventListener('abort', canceled, { once: true });
    return (await this.#call({ type: 'request', id, request }, job)) as SharedAnswer;
  }

  async describe(): Promise<Description> {
    return (await this.#call({ type: 'ask', id: this.#nextId(), question: 'describe' })) as Description;
  }

  async ping(): Promise<void> {
    await this.#call({ type: 'ask', id: this.#nextId(), question: 'ping' });
  }

  #nextId(): string {
    return String(++this.#calls);
  }

  /** Sends something that the host tab answers. @throws the error that it answers; `not-cloneable`; `worker-lost` */
  #call(message: GuestMessage & { readonly id: string }, job?: Job): Promise<unknown> {
    if (this.#ended.signal.aborted) return Promise.reject(this.#ended.signal.reason as TabServeError);
    return new Promise((resolve, reject) => {
      const settle = (answer: Envelope<unknown>): void => {
        if (answer.ok) resolve(answer.value);
        else reject(asTabServeError(errorFromData(answer.error as ErrorData)));
      };
      this.#pending.set(message.id, { watched: this.#watch(), settle, job });
      this.#post(message, (cause) => this.#settle(message.id, { ok: false, error: errorToData(notSent(cause)) }));
    });
  }

  #settle(id: string, answer: Envelope<unknown>): void {
    const call = this.#pending.get(id);
    if (!call) return;
    this.#pending.delete(id);
    this.#watchdog.forget(call.watched);
    call.settle(answer);
  }

  #post(message: GuestMessage, onUnsent: (cause: unknown) => void = () => {}): void {
    try {
      const posting = this.#channel.post(message);
      if (posting) posting.catch(onUnsent);
    } catch (cause) {
      onUnsent(cause);
    }
  }

  #greet(): void {
    this.#options.lobby.postMessage({ type: 'hello', guest: this.#id } satisfies LobbyMessage);
  }

  #receive(message: HostMessage): void {
    if (this.#ended.signal.aborted) return;
    if (this.#host === undefined && message.type !== 'heartbeat') this.#host = message.host;
    // A former host tab sent it.
    if (message.host !== this.#host) return;
    this.#watchdog.beat(undefined);
    if (message.type === 'opening' && message.progress) this.#options.onProgress?.(message.progress);
    else if (message.type === 'open') this.#opened(message.model);
    else if (message.type === 'unreadable')
      this.end('a request could not be read in the tab that runs the model, or its answer not be sent');
    else if (message.type === 'event' && this.#model) this.#options.onEvent(message.event);
    else if (message.type === 'chunk') this.#pending.get(message.id)?.job?.receive(message);
    else if (message.type === 'http') this.#pending.get(message.id)?.job?.http?.onAnswer(message.answer);
    else if (message.type === 'answer') this.#settle(message.id, message.answer);
  }

  #opened(model: SharedModel): void {
    if (this.#opening) this.#watchdog.forget(this.#opening);
    this.#opening = undefined;
    this.#model = model;
    this.#resolveOpened(model);
  }

  #watch(): WatchedCall {
    if (!this.#cancelHeartbeat) this.#scheduleHeartbeat();
    return this.#watchdog.watch(undefined);
  }

  #scheduleHeartbeat(): void {
    this.#cancelHeartbeat = this.#options.environment.clock.schedule(() => {
      this.#cancelHeartbeat = undefined;
      if (this.#opening) this.#greet();
      else if (this.#pending.size > 0) this.#post({ type: 'heartbeat' });
      else return;
      this.#scheduleHeartbeat();
    }, HEARTBEAT_MS);
  }
}

/**
 * Returns a job as a message. What the job transfers has left the page then, as if it had gone to a worker.
 * @throws `not-cloneable`
 */
function requestOf(job: Job): SharedRequest {
  const { request, params, priority, exclusive, losses, chunks, sequence, http } = job;
  try {
    const messages = job.messages(NONE_KNOWN);
    const transfer = [...new Set(messages.flatMap(({ transferables }) => transferables))];
    return {
      request,
      rows: structuredClone(
        messages.map(({ value }) => value),
        { transfer },
      ),
      params,
      priority,
      exclusive,
      isReplay: losses.length > 0,
      room: chunks?.room,
      resumed: chunks?.resume,
      sequence: sequence && { id: sequence.id, state: sequence.state?.value },
      http: http?.request,
    };
  } catch (cause) {
    throw notSent(cause);
  }
}

function notSent(cause: unknown): TabServeError {
  const message = `This cannot be sent to the tab that runs the model: ${messageOf(cause)}`;
  return new TabServeError('not-cloneable', message, { cause });
}
