import { Client } from '../../../src/page/client/client.ts';
import type { ClientOptions } from '../../../src/page/options/client-options.ts';
import type { ShareEnvironment } from '../../../src/page/sharing/election.ts';
import { EchoWorker } from './fake-worker.ts';
import { FakeClock } from './fake-clock.ts';

/** A request for a lock, as the browser's lock manager keeps it. */
interface LockRequest {
  readonly tab: string;
  readonly work: (lock?: null) => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Web Locks of an origin: exclusive, first come, first served, with `signal`, `steal` and `ifAvailable`. A tab's locks are released
 * when it ends.
 */
class OriginLocks {
  readonly #held = new Map<string, LockRequest>();
  readonly #queues = new Map<string, LockRequest[]>();

  get names(): readonly string[] {
    return [...this.#held.keys()];
  }

  get waiting(): number {
    return [...this.#queues.values()].flat().length;
  }

  of(tab: string): ShareEnvironment['locks'] {
    return {
      request: ((name: string, ...rest: unknown[]) =>
        new Promise<unknown>((resolve, reject) => {
          const { signal, steal, ifAvailable } = (rest.length > 1 ? rest[0] : {}) as LockOptions;
          if (signal?.aborted) return reject(signal.reason as Error);
          const work = rest.at(-1) as LockRequest['work'];
          const request: LockRequest = { tab, work, resolve, reject };
          const queue = this.#queues.get(name) ?? [];
          if (ifAvailable && (this.#held.has(name) || queue.length > 0)) return resolve(work(null));
          this.#queues.set(name, queue);
          if (steal) {
            this.#held.get(name)?.reject(new DOMException('stolen', 'AbortError'));
            this.#held.delete(name);
            queue.unshift(request);
          } else queue.push(request);
          signal?.addEventListener('abort', () => {
            if (!queue.includes(request)) return;
            queue.splice(queue.indexOf(request), 1);
            reject(signal.reason as Error);
          });
          this.#grant(name);
        })) as unknown as LockManager['request'],
    };
  }

  /** Releases what a tab that has ended holds or waits for. */
  end(tab: string): void {
    for (const [name, queue] of this.#queues)
      this.#queues.set(
        name,
        queue.filter((one) => one.tab !== tab),
      );
    for (const [name, request] of this.#held) if (request.tab === tab) this.#release(name, request);
  }

  #grant(name: string): void {
    queueMicrotask(() => {
      if (this.#held.has(name)) return;
      const next = this.#queues.get(name)?.shift();
      if (!next) return;
      this.#held.set(name, next);
      void Promise.resolve(next.work()).then((value) => {
        next.resolve(value);
        this.#release(name, next);
      });
    });
  }

  #release(name: string, request: LockRequest): void {
    if (this.#held.get(name) !== request) return;
    this.#held.delete(name);
    this.#grant(name);
  }
}

/** A BroadcastChannel between the tabs of a world. */
class Channel extends EventTarget {
  #isTabGone = false;

  constructor(
    readonly world: ShareWorld,
    readonly tab: string,
    readonly name: string,
  ) {
    super();
    world.channels.add(this as never);
  }

  postMessage(message: unknown): void {
    if (this.#isTabGone) return;
    if (!this.world.channels.has(this)) throw new DOMException('Channel is closed', 'InvalidStateError');
    const data = structuredClone(message);
    for (const other of this.world.channels)
      if (other !== this && other.name === this.name)
        queueMicrotask(() => {
          if (!this.world.channels.has(other)) return;
          const frozen = this.world.frozen.get(other.tab);
          const receive = (): unknown =>
            this.world.isUnreadable(data)
              ? other.dispatchEvent(new MessageEvent('messageerror'))
              : other.dispatchEvent(new MessageEvent('message', { data: structuredClone(data) }));
          if (frozen) frozen.push(receive);
          else receive();
        });
  }

  close(): void {
    this.world.channels.delete(this);
  }

  /** The tab has ended. What still runs of its code here, no browser would run. */
  endTab(): void {
    this.#isTabGone = true;
    this.close();
  }
}

/** Tabs of one origin, under Node. */
export class ShareWorld {
  readonly clock = new FakeClock();
  readonly locks = new OriginLocks();
  readonly channels = new Set<Channel>();
  /** What tabs that answer nothing have received, by tab. */
  readonly frozen = new Map<string, (() => unknown)[]>();
  /** Whether a message cannot be made in the tab that receives it, for want of memory. */
  isUnreadable = (_message: unknown): boolean => false;
  /** The workers that were started, by tab. Those that live are counted. */
  readonly workers: { readonly tab: string; readonly worker: EchoWorker; isAlive: boolean }[] = [];
  /** The pages' own events, by tab. */
  readonly pages = new Map<string, EventTarget>();
  #ids = 0;

  get live(): number {
    return this.workers.filter(({ isAlive }) => isAlive).length;
  }

  environment(tab: string): ShareEnvironment {
    return {
      locks: this.locks.of(tab),
      channel: (name) => new Channel(this, tab, name) as unknown as BroadcastChannel,
      clock: this.clock,
      page: this.#page(tab),
      id: () => `${tab}-${++this.#ids}`,
    };
  }

  /** Opens a tab with a client of a worker that answers each row with itself. */
  tab(
    tab: string,
    options: Partial<ClientOptions> = {},
    environment: ShareEnvironment | string = this.environment(tab),
    make = (): EchoWorker => new EchoWorker(),
  ): Client {
    const factory = (): Worker => {
      const worker = make();
      const entry = { tab, worker, isAlive: true };
      this.workers.push(entry);
      const terminate = worker.terminate.bind(worker);
      worker.terminate = () => {
        entry.isAlive = false;
        terminate();
      };
      return worker as unknown as Worker;
    };
    const verdicts = { get: async () => undefined, set: async () => {}, clear: async () => {} };
    return new Client(
      factory,
      { model: 'http://127.0.0.1/model.onnx', share: 'test', verdicts, ...options },
      { shareEnvironment: environment },
    );
  }

  #page(tab: string): EventTarget {
    const page = this.pages.get(tab) ?? new EventTarget();
    this.pages.set(tab, page);
    return page;
  }

  /** Puts a tab's page into the back/forward cache: it keeps its locks, and nothing of it runs. */
  hide(tab: string): void {
    this.#page(tab).dispatchEvent(new Event('pagehide'));
    this.freeze(tab);
  }

  /** Shows the page again. */
  show(tab: string): void {
    this.thaw(tab);
    this.#page(tab).dispatchEvent(new Event('pageshow'));
  }

  freeze(tab: string): void {
    this.frozen.set(tab, []);
  }

  thaw(tab: string): void {
    const received = this.frozen.get(tab) ?? [];
    this.frozen.delete(tab);
    for (const receive of received) receive();
  }

  /** Ends a tab as a browser does: nothing of it runs any more, and its locks are released. */
  close(tab: string): void {
    for (const channel of this.channels) if (channel.tab === tab) channel.endTab();
    for (const entry of this.workers) if (entry.tab === tab) entry.worker.terminate();
    this.locks.end(tab);
  }
}
