import { errorToData } from '../../contract/error-data.js';
import { messageOf, TabServeError } from '../../contract/errors.js';
import type { Progress } from '../../contract/archive.js';
import type { ConnectMessage, Envelope } from '../../contract/wire.js';
import { Watchdog } from '../workers/watchdog.js';
import { DistantWorker } from './distant-worker.js';
import { holdLock, type ShareEnvironment } from './environment.js';
import type { GuestMessage, HostMessage, LobbyMessage, SessionInfo } from './messages.js';
import { closePictures, pack, unpack, type Packed } from './pack.js';

/** How often a guest that waits for its host asks whether it is alive, in milliseconds. */
export const PING_MS = 2000;
/** How long a host may not answer, in seconds. Then it is replaced. */
export const HOST_TIMEOUT = 15;

export interface GuestOptions {
  readonly environment: ShareEnvironment;
  /** The share's name. */
  readonly name: string;
  /** The channel of all tabs. */
  readonly lobby: Pick<BroadcastChannel, 'postMessage'>;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  /** Called when the host has not answered for `HOST_TIMEOUT`. */
  readonly onSilence: () => void;
}

/** A guest's connection to the host in another tab. It looks like a worker. */
export class GuestWorker extends DistantWorker {
  /** What the host says when its session is open; undefined if this guest ended before. */
  readonly opened: Promise<SessionInfo | undefined>;
  readonly #options: GuestOptions;
  readonly #id: string;
  readonly #channel: BroadcastChannel;
  readonly #ended = new AbortController();
  readonly #watchdog: Watchdog;
  /** What the host has not answered yet: comlink's ids of calls, and the session. */
  readonly #pending = new Map<string, ReturnType<Watchdog['watch']>>();
  #resolve!: (session: SessionInfo | undefined) => void;
  /** The host's id; undefined until it has answered. */
  #host: string | undefined;
  #ports: Pick<ConnectMessage, 'calls' | 'events'> | undefined;
  #cancelPing: (() => void) | undefined;
  /** Messages leave in their order, though packing takes time. */
  #sending: Promise<void> | undefined;

  constructor(options: GuestOptions) {
    super();
    const { environment, name, onSilence } = options;
    this.#options = options;
    this.#id = environment.id();
    this.opened = new Promise((resolve) => (this.#resolve = resolve));
    this.#watchdog = new Watchdog(HOST_TIMEOUT, onSilence, environment.clock);
    this.#channel = environment.channel(`${name}/${this.#id}`);
    this.#channel.addEventListener('message', ({ data }: MessageEvent<HostMessage>) => this.#receive(data));
    this.#channel.addEventListener('messageerror', () => this.#unreadable());
  }

  /** Looks for the host. The lock tells the host when this guest's tab has ended. @throws what the browser throws if this page may have no locks */
  async start(): Promise<void> {
    const { environment, name } = this.#options;
    await holdLock(environment.locks, `${name}/${this.#id}`, this.#ended.signal);
    if (this.#ended.signal.aborted) return;
    this.#watch('session');
    this.#greet();
  }

  /** Another tab says that it is the host from now on. */
  hostChanged(host: string): void {
    if (host === this.#host || this.#ended.signal.aborted) return;
    if (this.#ports) return this.end('the tab that ran the model was closed, or has left the share');
    this.#host = undefined;
    this.#greet();
  }

  override postMessage({ calls, events }: ConnectMessage): void {
    this.#ports = { calls, events };
    calls.addEventListener('message', ({ data }: MessageEvent<{ readonly id: string }>) => this.#call(data));
    calls.start();
  }

  override terminate(): void {
    this.#ended.abort();
    this.#resolve(undefined);
    this.#watchdog.stop();
    this.#cancelPing?.();
    this.#channel.close();
    this.#ports?.calls.close();
    this.#ports?.events.close();
  }

  override end(why: string): void {
    super.end(why);
    this.terminate();
  }

  #greet(): void {
    this.#options.lobby.postMessage({ type: 'hello', guest: this.#id } satisfies LobbyMessage);
  }

  #receive(message: HostMessage): void {
    if (this.#ended.signal.aborted) return;
    if (this.#host === undefined && message.type !== 'pong') this.#host = message.host;
    // What a former host sent is late.
    if (message.host !== this.#host) return;
    this.#watchdog.beat(undefined);
    if (message.type === 'opening' && message.progress) this.#options.onProgress?.(message.progress);
    else if (message.type === 'open') {
      this.#answered('session');
      this.#resolve(message.session);
    } else if (message.type === 'unreadable')
      this.end('a request could not be read in the tab that runs the model, or its answer not be sent');
    else if (message.type === 'event') this.#ports?.events.postMessage(message.event);
    else if (message.type === 'answer') this.#unpack(message.data);
  }

  #unpack(data: Packed): void {
    let answer: unknown;
    try {
      answer = unpack(data);
    } catch {
      return this.#unreadable();
    }
    this.#deliver(answer as { readonly id?: string });
  }

  #unreadable(): void {
    this.end('a message of the tab that runs the model could not be read');
  }

  #deliver(data: { readonly id?: string; readonly type?: string }): void {
    // A part of an answer has the id of its request, which is not comlink's.
    if (data.id !== undefined && data.type !== 'part') this.#answered(data.id);
    this.#ports?.calls.postMessage(data);
  }

  /** Sends a message of comlink. */
  #call(data: { readonly id: string }): void {
    this.#watch(data.id);
    const packed = this.#sending ? this.#sending.then(() => pack(data)) : pack(data);
    if (!(packed instanceof Promise)) return this.#post(data, packed);
    const sending = packed
      .then(
        (value) => this.#post(data, value),
        (error: unknown) => this.#refuse(data, error),
      )
      .finally(() => {
        if (this.#sending === sending) this.#sending = undefined;
      });
    this.#sending = sending;
  }

  #post(data: { readonly id: string }, packed: Packed): void {
    try {
      if (!this.#ended.signal.aborted) this.#channel.postMessage(this.#message({ type: 'call', data: packed }));
    } catch (error) {
      this.#refuse(data, error);
    }
    // It was cloned: what was transferred to the worker is this guest's own.
    closePictures(data);
  }

  #message(message: { type: 'ping' } | { type: 'call'; data: Packed }): GuestMessage {
    return { ...message, guest: this.#id };
  }

  /** Answers a call whose arguments cannot go to another tab. */
  #refuse({ id }: { readonly id: string }, cause: unknown): void {
    const error = new TabServeError(
      'not-cloneable',
      `This cannot be sent to the tab that runs the model: ${messageOf(cause)}`,
      {
        cause,
      },
    );
    const value: Envelope<never> = { ok: false, error: errorToData(error) };
    if (!this.#ended.signal.aborted) this.#deliver({ id, type: 'RAW', value } as { readonly id: string });
  }

  #watch(what: string): void {
    this.#pending.set(what, this.#watchdog.watch(undefined));
    if (!this.#cancelPing) this.#schedulePing();
  }

  #answered(what: string): void {
    const call = this.#pending.get(what);
    if (call) this.#watchdog.forget(call);
    this.#pending.delete(what);
  }

  #schedulePing(): void {
    this.#cancelPing = this.#options.environment.clock.schedule(() => {
      this.#cancelPing = undefined;
      if (this.#pending.size === 0) return;
      if (this.#pending.has('session')) this.#greet();
      else this.#channel.postMessage(this.#message({ type: 'ping' }));
      this.#schedulePing();
    }, PING_MS);
  }
}
