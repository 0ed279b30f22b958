import { Hosting, type ModelHttpServer } from '../../../src/server/service-worker/host-models.ts';
import { readOptions, respondTo, type AnswerOptions } from '../../../src/server/service-worker/answer-predictions.ts';
import type { Environment } from '../../../src/server/service-worker/environment.ts';
import { lockName } from '../../../src/server/service-worker/protocol.ts';
import { FakeClock } from './fake-clock.ts';

export const SCOPE = 'https://app.example/';

/**
 * Locks as the browser has them, as far as hosts and service workers use them: one exclusive holder, and shared
 * requests that wait for its end.
 */
class Locks {
  readonly #ended = new Map<string, Promise<unknown>>();

  readonly request = (async (name: string, ...rest: unknown[]): Promise<unknown> => {
    const work = rest.at(-1) as () => unknown;
    const { signal } = (rest.length > 1 ? rest[0] : {}) as LockOptions;
    await this.#ended.get(name);
    if (signal?.aborted) throw signal.reason;
    if (signal) return await work();
    const held = Promise.resolve(work()).finally(() => this.#ended.delete(name));
    this.#ended.set(name, held);
    return await held;
  }) as LockManager['request'];

  query = async (): Promise<LockManagerSnapshot> => ({
    held: [...this.#ended.keys()].map((name): LockInfo => ({ name, mode: 'exclusive', clientId: 'any' })),
    pending: [],
  });

  /** What the lock of a page in another version of the app looks like. */
  hold(name: string): void {
    this.#ended.set(name, new Promise(() => {}));
  }
}

/** A page of the app: a window to which a service worker can send messages. */
export class FakePage extends EventTarget {
  readonly url: string;
  readonly container = new EventTarget();
  /** A page that is frozen, or whose script hangs, takes no messages. */
  isStuck = false;
  readonly #ports: MessagePort[] = [];
  readonly #world: World;

  constructor(world: World, url: string) {
    super();
    this.#world = world;
    this.url = url;
  }

  host(server: ModelHttpServer, scope = SCOPE): Hosting {
    const { locks, clock } = this.#world;
    const { container } = this;
    const serviceWorker = {
      addEventListener: container.addEventListener.bind(container),
      removeEventListener: container.removeEventListener.bind(container),
      startMessages() {},
      ready: Promise.resolve({ scope }),
    };
    return new Hosting(server, { serviceWorker, locks, page: this, clock } as never);
  }

  /** From now on its script does nothing. */
  hang(): void {
    this.isStuck = true;
    for (const port of this.#ports) port.onmessage = null;
  }

  postMessage(data: unknown, ports: MessagePort[]): void {
    this.#ports.push(...ports);
    if (this.isStuck) return;
    this.container.dispatchEvent(Object.assign(new Event('message'), { data, ports }));
  }
}

/** One service worker, its pages, and the server behind the URL. */
export class World {
  readonly clock = new FakeClock();
  readonly locks = new Locks();
  pages: FakePage[] = [];
  /** What the service worker stays alive for. */
  readonly kept: Promise<unknown>[] = [];
  /** The bodies that the server got. */
  readonly received: string[] = [];
  /** What the server does; by default it answers. */
  server: (request: Request, signal: AbortSignal) => Promise<Response> = async () => Response.json('server');

  open(path = ''): FakePage {
    const page = new FakePage(this, `${SCOPE}${path}`);
    this.pages.push(page);
    return page;
  }

  get environment(): Environment {
    return {
      clients: { matchAll: async () => this.pages as never, claim: async () => {} },
      locks: this.locks,
      clock: this.clock,
      scope: SCOPE,
      waitUntil: (work) => void this.kept.push(work),
      fetch: async (request, { signal }) => {
        this.received.push(await request.text());
        return await this.server(request, signal);
      },
    };
  }

  /** Sends a request as a page does. Resolves with what the page sees. */
  async fetch(path: string, options: Partial<AnswerOptions> = {}, init: RequestInit = {}): Promise<Seen> {
    const response = await this.respond(path, options, init);
    const by = response.headers.get('TabServe-Answered-By');
    return {
      said: `${response.status} by ${by}, because: ${response.headers.get('TabServe-Reason')}`,
      body: await response.json().catch(() => undefined),
    };
  }

  /** Sends a request as a page does. */
  async respond(path: string, options: Partial<AnswerOptions> = {}, init: RequestInit = {}): Promise<Response> {
    const settings = readOptions({ models: { digits: 'device-first' }, ...options }, SCOPE);
    const method = /^\/(predictions|v2\/models)/.test(path) ? 'POST' : 'GET';
    const request = new Request(new URL(path, SCOPE), {
      method,
      body: method === 'POST' ? 'three' : null,
      ...init,
    });
    const response = respondTo(request, settings, this.environment);
    if (!response) throw new Error(`${path} is not for a model`);
    return await response;
  }

  holdLockOfVersion(protocol: number): void {
    this.locks.hold(lockName('another', SCOPE, protocol));
  }
}

export interface Seen {
  readonly said: string;
  readonly body: unknown;
}

/** A model server that is a page's. */
export class FakeServer implements ModelHttpServer {
  readonly name: string;
  /** The requests that it got, but those that ask whether a model is ready. */
  readonly got: string[] = [];
  readonly aborted: string[] = [];
  ready = 200;
  /** What it does with a request; by default it answers with its name. */
  respond: () => Promise<Response> = async () => Response.json(this.name);

  constructor(name: string) {
    this.name = name;
  }

  async fetch(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    if (pathname.endsWith('/ready')) return new Response(null, { status: this.ready });
    this.got.push(`${request.method} ${pathname}${search} ${await request.text()}`);
    request.signal.addEventListener('abort', () => this.aborted.push(pathname));
    return await this.respond();
  }
}

/** Lets the messages arrive that are under way. */
export async function delivered(): Promise<void> {
  for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
}
