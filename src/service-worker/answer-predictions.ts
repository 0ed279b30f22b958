import { describeValue } from '../contract/describe-value.js';
import { TabServeError } from '../contract/errors.js';
import { LONGEST_MS } from '../contract/settings.js';
import { browserClock } from '../shared/clock.js';
import { readCallOptions } from '../shared/read-options.js';
import { answerByPolicy } from './answer-by-policy.js';
import { askDevice } from './ask-device.js';
import { askServer } from './ask-server.js';
import type { Environment, ServiceWorkerScope } from './environment.js';
import { KeptRequest } from './kept-request.js';
import { POLICIES, type Claim, type Policy } from './protocol.js';
import { routeOf, type Route } from './routes.js';

/** Options of `answerPredictions`. */
export interface AnswerOptions {
  /** The models whose requests are answered here, by their names in the URL, each with its policy. Requests to other models go to the network as without a service worker. */
  readonly models: Readonly<Record<string, Policy>>;
  /**
   * Where the paths of the API begin: `/api/` for `/api/predictions/digits`, `./` for the scope's own folder. It may be on another origin.
   * @default '/'
   */
  readonly base?: string;
  /**
   * With `server-first`, the most milliseconds until the server's response begins: then the device is asked.
   * @default 30_000
   */
  readonly serverTimeout?: number;
  /**
   * The most bytes of a body that the device answers. Larger ones go to the server if the policy allows it; otherwise the answer is 413. The default is TorchServe's.
   * @default 6_553_500
   */
  readonly maxRequestSize?: number;
}

/** What decides about a request, after all options are checked. */
export interface Settings extends Required<Omit<AnswerOptions, 'base'>> {
  readonly base: URL;
}

/**
 * Answers requests of TorchServe's inference API and of the Open Inference Protocol in a service worker: by a page that hosts the model, or by the server behind the
 * URL, as the model's policy says. Call it at the top of the service worker's script. Other requests are left to the script's other listeners.
 *
 * @throws `invalid-input` for a wrong option, `unsupported` outside of a service worker
 */
export function answerPredictions(options: AnswerOptions): void {
  const scope = globalThis as unknown as ServiceWorkerScope;
  if (!scope.registration || !scope.clients)
    throw new TabServeError(
      'unsupported',
      'answerPredictions was called outside of a service worker. Call it in the script that navigator.serviceWorker.register() names.',
    );
  const settings = readOptions(options, scope.registration.scope);
  const environment: Environment = {
    clients: scope.clients,
    locks: navigator.locks,
    fetch: (request, init) => fetch(request, init),
    clock: browserClock,
    scope: scope.registration.scope,
  };
  scope.addEventListener('fetch', (event) => {
    const route = routeOf(event.request, settings.base, settings.models);
    if (route) event.respondWith(answer(event.request, route, settings, environment));
  });
  scope.addEventListener('message', (event) => {
    if ((event.data as Partial<Claim> | null)?.tabserve === 'claim') event.waitUntil(scope.clients.claim());
  });
}

/** Answers one request. */
export async function answer(
  request: Request,
  { policy, ...route }: Route,
  { serverTimeout, maxRequestSize }: Settings,
  environment: Environment,
): Promise<Response> {
  const kept = new KeptRequest(request, maxRequestSize);
  const { signal } = request;
  // What the server gets may have to go to the device after it.
  const isServerFirst = policy === 'server-first';
  if (isServerFirst) await kept.body();
  return await answerByPolicy(policy, {
    device: () => askDevice({ method: request.method, ...route }, kept, signal, environment),
    server: async () =>
      askServer(await kept.forServer(), isServerFirst ? serverTimeout : undefined, signal, environment),
  });
}

/** @throws `invalid-input` */
export function readOptions(options: AnswerOptions, scope: string): Settings {
  const read = readCallOptions(options, 'answerPredictions', ['models', 'base', 'serverTimeout', 'maxRequestSize']);
  const { models, base = '/', serverTimeout = 30_000, maxRequestSize = 6_553_500 } = read;
  const entries = Object.entries(models ?? {});
  if (entries.length === 0)
    throw wrong('models', "the name and policy of a model, such as { digits: 'device-first' }", models);
  for (const [name, policy] of entries)
    if (!POLICIES.includes(policy)) throw wrong(`models.${name}`, `one of ${POLICIES.join(', ')}`, policy);
  if (!isAboveZero(serverTimeout) || serverTimeout > LONGEST_MS)
    throw wrong('serverTimeout', `a number above 0, and up to ${LONGEST_MS}`, serverTimeout);
  if (!isAboveZero(maxRequestSize)) throw wrong('maxRequestSize', 'a number above 0', maxRequestSize);
  if (!URL.canParse(base, scope)) throw wrong('base', 'a URL or a path', base);
  const url = new URL(base, scope);
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return { models, serverTimeout, maxRequestSize, base: url };
}

function isAboveZero(value: unknown): boolean {
  return typeof value === 'number' && value > 0;
}

function wrong(name: string, expected: string, value: unknown): TabServeError {
  return new TabServeError(
    'invalid-input',
    `answerPredictions: \`${name}\` must be ${expected}, not ${describeValue(value)}.`,
  );
}
