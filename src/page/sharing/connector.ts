import { isError, messageOf, TabServeError } from '../../contract/errors.js';
import { abortError } from '../../shared/abort.js';
import type { Description, WorkerStatus } from '../requests/sender.js';
import type { Job } from '../requests/job.js';
import type { Opening } from '../requests/sender.js';
import type { MakeLocalSender } from '../selection/local-sender.js';
import { Election } from './election.js';
import { aborted, type ShareEnvironment } from './election.js';
import { GuestTab } from './guest-tab.js';
import { HostTab } from './host-tab.js';
import type { LobbyMessage, SharedModelEvent, SharedModel, SharedAnswer } from './messages.js';

/** Takes a tab's requests to the shared model: the host tab itself, or a guest tab. It is used until it has ended. */
export interface ModelLink {
  /** Aborts when it has ended, with the error that says why. */
  readonly ended: AbortSignal;
  /** The model's workers; none if they are in another tab. */
  readonly workerStatus: readonly WorkerStatus[];
  /** Runs a request. @param stop aborts when its answer is no longer wanted */
  run(job: Job, stop: AbortSignal): Promise<SharedAnswer>;
  describe(): Promise<Description>;
  ping(): Promise<void>;
}

/** A link to a shared model that is open, and what the tab knows of the model. */
export interface OpenLink {
  readonly link: ModelLink;
  readonly info: SharedModel;
}

export interface ConnectorOptions {
  /** The share's name. */
  readonly name: string;
  readonly environment: ShareEnvironment;
  /** Makes what runs the shared model, if this tab becomes the host tab. */
  readonly makeLocalSender: MakeLocalSender;
  readonly onEvent: (event: SharedModelEvent) => void;
  readonly log: (message: string, since?: number) => void;
}

/**
 * Connects a tab to the shared model: takes part in the election of the host tab, opens the model if this tab is
 * elected, and finds it in another tab otherwise.
 */
export class Connector {
  readonly #options: ConnectorOptions;
  readonly #lobby: BroadcastChannel;
  readonly #election: Election;
  readonly #closed = new AbortController();
  /** What runs the shared model in this tab; undefined unless this is the host tab. */
  #hostTab: HostTab | undefined;
  /** The latest connection to a host tab. */
  #guestTab: GuestTab | undefined;
  /** While the page is in the back/forward cache: aborts when it is back. */
  #away: AbortController | undefined;

  constructor(options: ConnectorOptions) {
    this.#options = options;
    const { name, environment } = options;
    this.#lobby = environment.channel(name);
    this.#lobby.addEventListener('message', ({ data }: MessageEvent<LobbyMessage | null>) => {
      // Other code of the origin may use the channel's name.
      if (!data) return;
      if (data.type === 'hello') this.#hostTab?.greet(data.guest);
      else this.#guestTab?.hostChanged(data.host);
    });
    this.#election = new Election(environment.locks, name, {
      elected: () => this.#elected(),
      deposed: () => this.#leave('another tab runs the model now, because this one did not answer'),
    });
    // In the back/forward cache, a page keeps its locks, and answers nothing.
    const { signal } = this.#closed;
    environment.page.addEventListener('pagehide', () => this.#hide(), { signal });
    environment.page.addEventListener('pageshow', () => this.#show(), { signal });
  }

  get isHost(): boolean {
    return this.#hostTab !== undefined;
  }

  /**
   * Connects to the shared model, which the host tab opens if it is not open. A tab that waits here, or is connected,
   * becomes the host tab when the present one ends.
   * @throws what `Client.initialize` throws; `aborted`; `unsupported` if the browser refuses what it needs
   */
  async connect({ signal, onProgress }: Partial<Opening>): Promise<OpenLink> {
    const abort = (): void => this.#leave('opening it was aborted');
    signal?.addEventListener('abort', abort);
    try {
      for (;;) {
        const ends = [this.#closed.signal, signal].filter((one) => one !== undefined);
        if (this.#away) await aborted(AbortSignal.any([this.#away.signal, ...ends]));
        for (const end of ends) if (end.aborted) throw abortError(end);
        this.#election.stand();
        const opened = await (this.#hostTab ? this.#asHost(this.#hostTab, onProgress) : this.#asGuest(onProgress));
        if (opened && !opened.link.ended.aborted) return opened;
      }
    } catch (error) {
      this.#leave('it could not be opened');
      if (isError(error) && error instanceof TabServeError) throw error;
      const message = `share: the browser refuses what tabs need to share a model: ${messageOf(error)} Connect without the option share.`;
      throw new TabServeError('unsupported', message, { cause: error });
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  /**
   * Leaves the share. As the host tab, it first answers what it has accepted from other tabs.
   * @param drainFor milliseconds, at most
   */
  async close(error: TabServeError, drainFor: number): Promise<void> {
    this.#closed.abort(error);
    await this.#hostTab?.drain(drainFor);
    this.#leave('the client has been disposed of');
    this.#lobby.close();
  }

  /** @returns undefined if another tab has taken over */
  async #asHost(host: HostTab, onProgress: Opening['onProgress'] | undefined): Promise<OpenLink | undefined> {
    try {
      return { link: host, info: await host.opened(onProgress) };
    } catch (error) {
      if (host.failure) throw error;
      return undefined;
    }
  }

  /** @returns undefined if the host tab has changed */
  async #asGuest(onProgress: Opening['onProgress'] | undefined): Promise<OpenLink | undefined> {
    const { environment, name, onEvent, log } = this.#options;
    const since = performance.now();
    const guest = new GuestTab({
      environment,
      name,
      lobby: this.#lobby,
      onProgress,
      onEvent,
      onSilence: () => {
        log('The tab that runs the model does not answer; this tab takes over.');
        this.#election.seize();
      },
    });
    this.#guestTab = guest;
    await guest.start();
    const info = await guest.opened;
    if (!info) return undefined;
    log('Another tab runs the model.', since);
    return { link: guest, info };
  }

  #elected(): void {
    const { environment, name, makeLocalSender, onEvent, log } = this.#options;
    log('This tab runs the model for all tabs.');
    const host = new HostTab({
      environment,
      name,
      lobby: this.#lobby,
      makeLocalSender,
      onEvent,
      onFail: (error) => this.#hostTab === host && this.#leave(error.message),
      log,
    });
    this.#hostTab = host;
    host.opened(undefined).catch(() => this.#hostTab === host && this.#leave('it could not be opened'));
    this.#guestTab?.end('the tab that ran the model was closed, or has left the share');
  }

  #hide(): void {
    if (this.#away) return;
    this.#away = new AbortController();
    this.#leave("this tab's page was left");
  }

  #show(): void {
    this.#away?.abort();
    this.#away = undefined;
  }

  /** Closes the shared model if this is the host tab, and no longer waits to become the host tab. */
  #leave(why: string): void {
    this.#election.withdraw();
    const host = this.#hostTab;
    this.#hostTab = undefined;
    for (const link of [host, this.#guestTab]) link?.end(why);
  }
}
