import { TabServeError } from '../../contract/errors.js';
import type { Clock } from '../../shared/clock.js';
import { modelIn } from './answer-openai.js';
import { sendTo } from './ask-device.js';
import { PROTOCOL, type Claim, type DeviceOnlyRequest, type Policies } from './protocol.js';
import { routeOfBody, routeOf } from './routes.js';

/** What the guard needs of a page. */
export interface GuardedPage {
  /** Where `fetch` is replaced. */
  readonly global: { fetch: typeof fetch };
  readonly serviceWorker: Pick<ServiceWorkerContainer, 'getRegistration' | 'addEventListener'>;
  readonly clock: Clock;
}

/** How often a request is sent to a service worker that ends before it has answered. */
const MAX_TRIES = 2;

/**
 * Replaces a page's `fetch`, so that a request to a `device-only` model reaches the service worker by message.
 *
 * The browser's own way sends it to the network where the service worker cannot be started or is just being stopped.
 * In Chromium 156 a service worker that is stopped while it becomes the active one never gets a request of its page
 * again: all of them go to the network until the page is reloaded.
 */
export class DeviceOnlyGuard {
  readonly #page: GuardedPage;
  readonly #fetch: typeof fetch;
  /** The models of the service worker, by the base of their paths. */
  readonly #models = new Map<string, Policies['models']>();

  /** Resolves when a service worker has said its policies. */
  readonly learned: Promise<void>;
  #resolveLearned!: () => void;

  constructor(page: GuardedPage) {
    this.#page = page;
    this.learned = new Promise((resolve) => (this.#resolveLearned = resolve));
    this.#fetch = page.global.fetch.bind(page.global);
    page.global.fetch = (input, init) => this.#answer(input, init);
    // The next service worker may have other policies. Until it says so, those of the one before count.
    page.serviceWorker.addEventListener('controllerchange', () => void this.learn());
  }

  /** Asks the active service worker to control the page, and which policies it has. */
  async learn(): Promise<void> {
    const worker = await this.#active();
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }: MessageEvent<Policies>) => {
      this.#models.set(data.base, data.models);
      this.#resolveLearned();
    };
    worker?.postMessage({ tabserve: 'claim' } satisfies Claim, [port2]);
  }

  /** Whether a service worker has said its policies. */
  get hasLearned(): boolean {
    return this.#models.size > 0;
  }

  async #active(): Promise<ServiceWorker | undefined> {
    return (await this.#page.serviceWorker.getRegistration())?.active ?? undefined;
  }

  async #answer(input: RequestInfo | URL, init: RequestInit | undefined): Promise<Response> {
    const found = await this.#find(input, init);
    if (found instanceof Request) return await this.#fetch(found);
    return await (found ? this.#send(found) : this.#fetch(input, init));
  }

  /** Returns a request to a `device-only` model; of another one the request if its body was read, or undefined. */
  async #find(input: RequestInfo | URL, init?: RequestInit): Promise<Found | Request | undefined> {
    const at = input instanceof Request ? input.url : String(input);
    const baseURI = globalThis.document?.baseURI;
    if (!URL.canParse(at, baseURI)) return undefined;
    const method = (init?.method ?? (input instanceof Request ? input.method : 'GET')).toUpperCase();
    const asked = { url: new URL(at, baseURI).href, method, mode: 'cors' } as const;
    for (const [base, models] of this.#models) {
      if (!Object.values(models).includes('device-only')) continue;
      if (routeOfBody(asked, new URL(base))) {
        const request = new Request(input, init);
        const named = await modelIn(await request.clone().blob(), request.headers);
        const { model } = named ?? {};
        const isOwn = model !== undefined && Object.hasOwn(models, model) && models[model] === 'device-only';
        return isOwn || !named ? { request, base, model } : request;
      }
      const route = routeOf(asked, new URL(base), models);
      if (route?.policy === 'device-only') return { request: new Request(input, init), base, model: route.model };
    }
    return undefined;
  }

  /** @throws `worker-lost` if no service worker answers; the reason of the request's signal */
  async #send({ request, base, model }: Found): Promise<Response> {
    const { method, url, signal, headers } = request;
    const body = method === 'GET' || method === 'HEAD' ? undefined : await request.blob();
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const worker = await this.#active();
      signal.throwIfAborted();
      if (!worker) break;
      const { port1, port2 } = new MessageChannel();
      const question = { tabserve: 'device-only', protocol: PROTOCOL, base, model, method, url } as const;
      worker.postMessage(question satisfies DeviceOnlyRequest, [port2]);
      const answer = await sendTo(port1, { type: 'send', headers: [...headers], body }, signal, {
        clock: this.#page.clock,
        waitUntil() {},
        // Chromium tells that the service worker has ended. Elsewhere its silence does.
        whenGone: (gone, ended) => port1.addEventListener('close', gone, { signal: ended }),
      });
      if (answer.response) return answer.response;
    }
    throw new TabServeError(
      'worker-lost',
      `No service worker answered a request to ${model ?? url}, which is device-only, so nothing was sent. Send it again; if that does not help, reload the page.`,
    );
  }
}

/** A request that must not reach the network. */
interface Found {
  readonly request: Request;
  readonly base: string;
  readonly model: string | undefined;
}
