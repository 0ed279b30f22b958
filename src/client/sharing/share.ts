import type { Archive, Progress } from '../../contract/archive.js';
import type { Backend, Probe } from '../../contract/backends.js';
import { errorFromData } from '../../contract/error-data.js';
import { asTabServeError } from '../../contract/errors.js';
import { LONGEST_MS } from '../../contract/settings.js';
import type { SessionState, WorkerEvent } from '../../contract/wire.js';
import { abortError } from '../../shared/abort.js';
import { Connection } from '../workers/connection.js';
import type { Recovery } from '../workers/recovery.js';
import type { OpenedWorker } from '../workers/slot.js';
import type { DistantWorker } from './distant-worker.js';
import { Election } from './election.js';
import { aborted, type ShareEnvironment } from './environment.js';
import { GuestWorker } from './guest-worker.js';
import type { Membership } from './join.js';
import type { LobbyMessage, SessionInfo } from './messages.js';
import { ShareHost, type HostedClient } from './share-host.js';

export interface ShareOptions {
  /** Makes the client whose session is shared, if this one becomes the host. */
  readonly host: () => HostedClient;
  /** Aborts when the client is disposed of. */
  readonly disposed: AbortSignal;
  readonly onSession: (archive: Archive, probe: Probe | undefined) => void;
  readonly recovered: (recovery: Recovery) => void;
  readonly warn: (message: string) => void;
  readonly log: (message: string, since?: number) => void;
}

export interface JoinOptions {
  readonly signal: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** How long the host of a share goes on after `dispose`, to answer what it has accepted from other tabs, in milliseconds. */
const DRAIN_MS = 1000;

/** The membership of one client in a share: as the host, which has the session, or as a guest of another tab's. */
export class Share implements Membership {
  readonly #name: string;
  readonly #options: ShareOptions;
  readonly #environment: ShareEnvironment;
  readonly #lobby: BroadcastChannel;
  readonly #election: Election;
  left: Promise<void> | undefined;
  /** While the page is in the back/forward cache: aborts when it is back. */
  #away: AbortController | undefined;
  #host: ShareHost | undefined;
  /** The client's connection, to this host or to another tab's; the last one that was made. */
  #worker: DistantWorker | undefined;

  constructor(name: string, options: ShareOptions, environment: ShareEnvironment) {
    this.#name = name;
    this.#options = options;
    this.#environment = environment;
    this.#lobby = environment.channel(name);
    this.#lobby.addEventListener('message', ({ data }: MessageEvent<LobbyMessage | null>) => {
      // Other code of the origin may use the channel's name.
      if (!data) return;
      if (data.type === 'hello') this.#host?.greet(data.guest);
      else if (this.#worker instanceof GuestWorker) this.#worker.hostChanged(data.host);
    });
    this.#election = new Election(environment.locks, name, {
      elected: () => this.#elected(),
      deposed: () => this.#leave('another tab runs the model now, because this one did not answer'),
    });
    const { disposed } = options;
    // In the back/forward cache, a page keeps its locks, and answers nothing.
    environment.page.addEventListener('pagehide', () => this.#hide(), { signal: disposed });
    environment.page.addEventListener('pageshow', () => this.#show(), { signal: disposed });
    disposed.addEventListener('abort', () => (this.left = this.#close()), { once: true });
  }

  describe(session: SessionState | undefined): ReturnType<Membership['describe']> {
    if (!session) return {};
    const { clients, ...state } = session;
    return { ...state, sharing: { role: this.#host ? 'host' : 'guest', clients } };
  }

  /**
   * Connects to the session, which the host opens if it is not open. Whoever waits here, or is connected, becomes the host when the present one ends.
   * @throws what `Client.initialize` throws; `aborted`
   */
  async open({ signal, onProgress }: JoinOptions): Promise<OpenedWorker> {
    const { disposed } = this.#options;
    const abort = (): void => this.#leave('opening it was aborted');
    signal?.addEventListener('abort', abort);
    try {
      for (;;) {
        await this.#present([disposed, signal]);
        for (const end of [disposed, signal]) if (end?.aborted) throw abortError(end);
        this.#election.stand();
        const opened = await (this.#host ? this.#asHost(this.#host, onProgress) : this.#asGuest(onProgress));
        if (opened) return opened;
      }
    } catch (error) {
      this.#leave('it could not be opened');
      throw error;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  async #asHost(host: ShareHost, onProgress: JoinOptions['onProgress']): Promise<OpenedWorker | undefined> {
    try {
      const session = await host.opened(onProgress);
      return await this.#connect(host.worker(), session);
    } catch (error) {
      if (host.failure) throw error;
      // Another tab has taken over.
      return undefined;
    }
  }

  /** @returns undefined if the host has changed */
  async #asGuest(onProgress: JoinOptions['onProgress']): Promise<OpenedWorker | undefined> {
    const since = performance.now();
    const worker = new GuestWorker({
      environment: this.#environment,
      name: this.#name,
      lobby: this.#lobby,
      onProgress,
      onSilence: () => {
        this.#options.log('The tab that runs the model does not answer; this tab takes over.');
        this.#election.seize();
      },
    });
    this.#worker = worker;
    await worker.start();
    const session = await worker.opened;
    if (!session) return undefined;
    this.#options.log('Another tab runs the model.', since);
    return await this.#connect(worker, session);
  }

  async #connect(worker: DistantWorker, { backend, archive, probe }: SessionInfo): Promise<OpenedWorker> {
    this.#worker = worker;
    let follow: (backend: Backend) => void = () => {};
    const onEvent = (event: WorkerEvent): void => {
      if (event.type === 'backend') follow(event.backend);
      else if (event.type === 'warn') this.#options.warn(event.message);
      else if (event.type === 'recover')
        this.#options.recovered({ ...event.recovery, cause: asTabServeError(errorFromData(event.recovery.cause)) });
    };
    // The session watches its own worker, and a guest its host.
    const connection = await Connection.start(worker.factory, {
      signal: undefined,
      startupTimeout: LONGEST_MS / 1000,
      onEvent,
    });
    this.#options.onSession(archive, probe);
    return { connection, backend, shared: { onBackend: (listener) => (follow = listener) } };
  }

  #elected(): void {
    this.#options.log('This tab runs the model for all tabs.');
    const former = this.#worker;
    const host = new ShareHost({
      environment: this.#environment,
      name: this.#name,
      lobby: this.#lobby,
      hosted: this.#options.host(),
      onFail: (error) => this.#host === host && this.#leave(error.message),
    });
    this.#host = host;
    // Whoever waits for it, in `open`, reports the failure.
    host.opened(undefined).catch(() => this.#host === host && this.#leave('it could not be opened'));
    former?.end('the tab that ran the model was closed, or has left the share');
  }

  #hide(): void {
    if (this.#away) return;
    this.#away = new AbortController();
    this.#leave('its page was left');
  }

  #show(): void {
    this.#away?.abort();
    this.#away = undefined;
  }

  /** Waits until the page is shown, or one of the signals aborts. */
  async #present(ends: readonly (AbortSignal | undefined)[]): Promise<void> {
    if (!this.#away) return;
    await aborted(AbortSignal.any([this.#away.signal, ...ends].filter((signal) => signal !== undefined)));
  }

  /** Ends the session, if this is the host, and no longer waits to be it. */
  #leave(why: string): void {
    this.#election.withdraw();
    this.#host?.close();
    this.#host = undefined;
    this.#worker?.end(`the session in this tab has ended: ${why}`);
  }

  async #close(): Promise<void> {
    await this.#host?.drain(DRAIN_MS);
    this.#leave('the client has been disposed of');
    this.#lobby.close();
  }
}
