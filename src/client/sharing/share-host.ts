import type { Endpoint } from 'comlink';
import type { Archive, Progress } from '../../contract/archive.js';
import { errorToData } from '../../contract/error-data.js';
import { asTabServeError, type TabServeError } from '../../contract/errors.js';
import type { ConnectMessage, WorkerEvent } from '../../contract/wire.js';
import type { Client } from '../client.js';
import type { Requester } from '../requester.js';
import { DistantWorker } from './distant-worker.js';
import type { ShareEnvironment } from './environment.js';
import type { GuestMessage, HostMessage, LobbyMessage, SessionInfo } from './messages.js';
import { closePictures, pack, unpack } from './pack.js';
import { Relay } from './relay.js';

/** The client whose session is shared, with the parts of it that no app sees. */
export interface HostedClient {
  readonly client: Pick<Client, 'initialize' | 'dispose' | 'describe' | 'ping' | 'on' | 'backend' | 'probe'>;
  readonly requester: Pick<Requester, 'send'>;
  /** Undefined until the session is open. */
  readonly archive: () => Archive | undefined;
}

export interface HostOptions {
  readonly environment: ShareEnvironment;
  /** The share's name. */
  readonly name: string;
  /** The channel of all tabs. */
  readonly lobby: Pick<BroadcastChannel, 'postMessage'>;
  readonly hosted: HostedClient;
  /** Called when the session has failed, and can answer nothing any more. */
  readonly onFail: (error: TabServeError) => void;
}

/** A client that the host serves. */
interface Served {
  readonly relay: Relay;
  readonly emit: (event: WorkerEvent) => void;
  readonly close: () => void;
}

/** Opens the session of a share, and serves its clients: that of the host's own page, and those of other tabs. */
export class ShareHost {
  readonly #options: HostOptions;
  readonly #id: string;
  readonly #served = new Set<Served>();
  readonly #guests = new Map<string, BroadcastChannel>();
  readonly #progress = new Set<(progress: Progress) => void>();
  readonly #closed = new AbortController();
  readonly #opening: Promise<SessionInfo>;
  #session: SessionInfo | undefined;
  #lastProgress: Progress | undefined;
  /** Why the session could not be opened; undefined as long as it may be, and if the host was closed before. */
  failure: TabServeError | undefined;

  constructor(options: HostOptions) {
    this.#options = options;
    const { environment, lobby, hosted, onFail } = options;
    this.#id = environment.id();
    lobby.postMessage({ type: 'host', host: this.#id } satisfies LobbyMessage);
    hosted.client.on('backendchange', (backend) => {
      if (this.#session) this.#session = { ...this.#session, backend };
      this.#emit({ type: 'backend', backend });
    });
    hosted.client.on('recover', ({ cause, ...recovery }) =>
      this.#emit({ type: 'recover', recovery: { ...recovery, cause: errorToData(cause) } }),
    );
    hosted.client.on('warn', ({ message }) => this.#emit({ type: 'warn', message }));
    hosted.client.on('fail', onFail);
    this.#opening = this.#open();
  }

  /** Waits until the session is open. @throws what `Client.initialize` throws */
  async opened(onProgress: ((progress: Progress) => void) | undefined): Promise<SessionInfo> {
    if (onProgress) this.#progress.add(onProgress);
    try {
      return await this.#opening;
    } finally {
      if (onProgress) this.#progress.delete(onProgress);
    }
  }

  /** Returns the connection for the host's own page. */
  worker(): DistantWorker {
    return new LocalWorker((calls, events) =>
      this.#serve(
        calls,
        (event) => events.postMessage(event),
        () => {},
      ),
    );
  }

  /** A guest looks for the host: it is told when the session is open, and served from then on. */
  greet(guest: string): void {
    const known = this.#guests.get(guest);
    if (known) return this.#report(known);
    const { environment, name } = this.#options;
    const channel = environment.channel(`${name}/${guest}`);
    this.#guests.set(guest, channel);
    const gone = new AbortController();
    const post = (message: HostMessage): void => {
      if (!gone.signal.aborted) channel.postMessage(message);
    };
    const refuse = (): void => post({ type: 'unreadable', host: this.#id });
    const calls = new ChannelCalls((data) => post({ type: 'answer', host: this.#id, data }), refuse);
    const leave = this.#serve(
      calls,
      (event) => post({ type: 'event', host: this.#id, event }),
      () => {
        gone.abort();
        channel.close();
        this.#guests.delete(guest);
      },
    );
    channel.addEventListener('message', ({ data }: MessageEvent<GuestMessage>) => {
      if (data.type === 'ping') return post({ type: 'pong', host: this.#id });
      let call: unknown;
      try {
        call = unpack(data.data);
      } catch {
        return refuse();
      }
      calls.receive(call);
    });
    channel.addEventListener('messageerror', refuse);
    // The guest holds this lock until it leaves or its tab ends.
    environment.locks.request(`${name}/${guest}`, { signal: gone.signal }, leave).catch(() => {});
    this.#report(channel);
  }

  /** Answers what has been accepted, for so many milliseconds at most, and nothing more. */
  async drain(milliseconds: number): Promise<void> {
    const drained = Promise.all(Array.from(this.#served, ({ relay }) => relay.drain()));
    let cancel = (): void => {};
    const late = new Promise<void>(
      (resolve) => (cancel = this.#options.environment.clock.schedule(resolve, milliseconds)),
    );
    await Promise.race([drained, late]);
    cancel();
  }

  /** Ends the session, and leaves the guests to the next host. */
  close(): void {
    this.#closed.abort();
    for (const served of this.#served) served.close();
    void this.#options.hosted.client.dispose();
  }

  async #open(): Promise<SessionInfo> {
    const { client, archive } = this.#options.hosted;
    const onProgress = (progress: Progress): void => {
      this.#lastProgress = progress;
      for (const listener of this.#progress) listener(progress);
      for (const channel of this.#guests.values()) this.#report(channel);
    };
    try {
      await client.initialize({ onProgress, signal: this.#closed.signal });
    } catch (error) {
      if (!this.#closed.signal.aborted) this.failure = asTabServeError(error);
      throw error;
    }
    this.#session = { backend: client.backend!, probe: client.probe, archive: withoutFiles(archive()!) };
    for (const channel of this.#guests.values()) this.#report(channel);
    return this.#session;
  }

  /** Tells a guest how far the session is. */
  #report(channel: BroadcastChannel): void {
    const message: HostMessage = this.#session
      ? { type: 'open', host: this.#id, session: this.#session }
      : { type: 'opening', host: this.#id, progress: this.#lastProgress };
    channel.postMessage(message);
  }

  /** @returns a function that stops to serve */
  #serve(calls: Endpoint, emit: (event: WorkerEvent) => void, onClose: () => void): () => void {
    const { client, requester } = this.#options.hosted;
    const session = { requester, describe: () => client.describe(), ping: () => client.ping() };
    const relay = new Relay(session, () => this.#served.size);
    const close = (): void => {
      if (!this.#served.delete(served)) return;
      relay.close();
      onClose();
    };
    const served: Served = { relay, emit, close };
    this.#served.add(served);
    relay.serve(calls);
    return close;
  }

  #emit(event: WorkerEvent): void {
    for (const { emit } of this.#served) emit(event);
  }
}

/** The connection between a host and the client of its own page. */
class LocalWorker extends DistantWorker {
  readonly #serve: (calls: MessagePort, events: MessagePort) => () => void;
  #stop = (): void => {};

  constructor(serve: (calls: MessagePort, events: MessagePort) => () => void) {
    super();
    this.#serve = serve;
  }

  override postMessage({ calls, events }: ConnectMessage): void {
    const stop = this.#serve(calls, events);
    this.#stop = () => {
      stop();
      calls.close();
      events.close();
    };
  }

  override terminate(): void {
    this.#stop();
  }
}

/** A guest's calls, for comlink. */
class ChannelCalls extends EventTarget implements Endpoint {
  readonly #post: (data: Awaited<ReturnType<typeof pack>>) => void;
  readonly #onUnsent: () => void;
  /** Messages leave in their order, though packing takes time. */
  #sending = Promise.resolve();
  #isPacking = 0;

  /** @param onUnsent called if an answer's frames cannot be read, or not be sent */
  constructor(post: (data: Awaited<ReturnType<typeof pack>>) => void, onUnsent: () => void) {
    super();
    this.#post = post;
    this.#onUnsent = onUnsent;
  }

  receive(data: unknown): void {
    this.dispatchEvent(new MessageEvent('message', { data }));
  }

  /** @throws `DataCloneError` */
  postMessage(data: unknown): void {
    const packed = pack(data);
    if (!(packed instanceof Promise) && this.#isPacking === 0) {
      this.#post(packed);
      closePictures(data);
      return;
    }
    this.#isPacking += 1;
    this.#sending = this.#sending
      .then(async () => this.#post(await packed))
      .catch(this.#onUnsent)
      .finally(() => {
        this.#isPacking -= 1;
        closePictures(data);
      });
  }
}

/** Returns what a guest needs of an archive: its manifest and its config. */
function withoutFiles(archive: Archive): Archive {
  const nodes = Object.entries(archive.nodes ?? {}).map(([name, node]) => [name, withoutFiles(node)] as const);
  return { ...archive, files: {}, local: undefined, ...(archive.nodes && { nodes: Object.fromEntries(nodes) }) };
}
