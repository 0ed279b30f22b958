import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import { browserClock, type Clock } from '../../shared/clock.js';
import { answerAsk } from './answer-ask.js';
import { lockName, PROTOCOL, type Ask } from './protocol.js';

/** What answers a hosting page's requests. */
export interface ModelHttpServer {
  /**
   * Answers a request of TorchServe's inference API or the Open Inference Protocol, its paths beginning at the origin's
   * root.
   */
  fetch(request: Request): Promise<Response>;
}

/** A page that hosts models. */
export interface ModelHost {
  /** Resolves as soon as the service worker finds this page. @throws `disposed` if hosting ends before */
  readonly ready: Promise<void>;
  /** Ends hosting. What is being answered goes to another page, or to the server. */
  dispose(): void;
}

let current: ModelHost | undefined;

/**
 * Has this page answer the requests that the service worker (`answerPredictions`) relays, for as long as it lives or
 * until `dispose`. Hosting begins when a service worker is active for this page; it pauses while the page is frozen or
 * in the back/forward cache.
 *
 * @param server answers the requests: a `ModelServer`
 * @throws `unsupported` where there are no service workers, `invalid-input` if this page hosts already, and for what is
 *   no server
 */
export function hostModels(server: ModelHttpServer): ModelHost {
  if (typeof server?.fetch !== 'function')
    throw new TabServeError('invalid-input', `hostModels: expected a ModelServer, got ${describeValue(server)}.`);
  const { serviceWorker, locks } = globalThis.navigator ?? {};
  if (!serviceWorker || !locks)
    throw new TabServeError(
      'unsupported',
      'This page cannot host models: it has no service workers. They need a secure context (https: or localhost), and private windows of some browsers have none. Requests go to the server.',
    );
  if (current)
    throw new TabServeError(
      'invalid-input',
      'This page hosts models already. Register all of them with one ModelServer, or dispose of what hostModels returned first.',
    );
  const environment: PageEnvironment = { serviceWorker, locks, page: globalThis, clock: browserClock };
  const hosting = new Hosting(server, environment);
  current = {
    ready: hosting.ready,
    dispose() {
      hosting.dispose();
      if (current === this) current = undefined;
    },
  };
  return current;
}

/** What hosting needs of the page. */
export interface PageEnvironment {
  readonly serviceWorker: Pick<ServiceWorkerContainer, 'addEventListener' | 'removeEventListener' | 'startMessages'> & {
    readonly ready: Promise<Pick<ServiceWorkerRegistration, 'scope'>>;
  };
  readonly locks: Pick<LockManager, 'request'>;
  readonly page: Pick<EventTarget, 'addEventListener'>;
  readonly clock: Clock;
}

/** Hosts models on a page: holds the lock by which service workers find it, and answers what they ask. */
export class Hosting {
  /** Resolves when the lock is held for the first time. */
  readonly ready: Promise<void>;
  readonly #server: ModelHttpServer;
  readonly #environment: PageEnvironment;
  readonly #disposing = new AbortController();
  #isReady!: () => void;
  /** Missing during a pause. */
  #present: { readonly host: string; readonly leaving: AbortController } | undefined;

  constructor(server: ModelHttpServer, environment: PageEnvironment) {
    this.#server = server;
    this.#environment = environment;
    const { signal } = this.#disposing;
    this.ready = new Promise((resolve, reject) => {
      this.#isReady = resolve;
      signal.addEventListener('abort', () =>
        reject(new TabServeError('disposed', 'Hosting was ended before a service worker was active.')),
      );
    });
    this.ready.catch(() => {});
    const { page, serviceWorker } = environment;
    serviceWorker.addEventListener('message', (event) => this.#receive(event as MessageEvent), { signal });
    serviceWorker.startMessages();
    // A page that is frozen or in the back/forward cache cannot answer, and nobody knows whether it comes back.
    for (const type of ['pagehide', 'freeze']) page.addEventListener(type, () => this.#leave(), { signal });
    for (const type of ['pageshow', 'resume']) page.addEventListener(type, () => void this.#join(), { signal });
    void this.#join();
  }

  dispose(): void {
    this.#disposing.abort();
    this.#leave();
  }

  /** Takes a lock of a new name, and holds it until the page leaves. Never rejects. */
  async #join(): Promise<void> {
    if (this.#present || this.#disposing.signal.aborted) return;
    const host = crypto.randomUUID();
    const leaving = new AbortController();
    this.#present = { host, leaving };
    const { scope } = await this.#environment.serviceWorker.ready;
    if (leaving.signal.aborted) return;
    const hold = async (): Promise<void> => {
      this.#isReady();
      await new Promise<void>((left) => {
        if (leaving.signal.aborted) left();
        leaving.signal.addEventListener('abort', () => left());
      });
    };
    // Browsers refuse locks to pages that are being unloaded.
    await this.#environment.locks.request(lockName(host, scope), hold).catch(() => this.#leave());
  }

  #leave(): void {
    this.#present?.leaving.abort();
    this.#present = undefined;
  }

  /**
   * Answers a service worker. Ignores one of another version, which knows from the lock's name that no answer comes.
   */
  #receive({ data, ports: [port] }: MessageEvent): void {
    const ask = data as Partial<Ask> | null;
    if (ask?.tabserve !== 'ask' || ask.protocol !== PROTOCOL || !port || !this.#present) return;
    const { host, leaving } = this.#present;
    void answerAsk(ask as Ask, port, host, this.#server, leaving.signal, this.#environment.clock);
  }
}
