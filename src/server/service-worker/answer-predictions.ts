import { TabServeError } from '../../contract/errors.js';
import { MAX_DELAY_MS } from '../../contract/settings.js';
import { browserClock } from '../../shared/clock.js';
import { readCallOptions, wrongValue } from '../../shared/read-options.js';
import { answerAsk } from './answer-ask.js';
import { answer } from './answer-by-policy.js';
import { answerOpenAi } from './answer-openai.js';
import type { Environment, ServiceWorkerScope } from './environment.js';
import { POLICIES, PROTOCOL, type Claim, type DeviceOnlyRequest, type Policies, type Policy } from './protocol.js';
import { ReplayableRequest } from './replayable-request.js';
import { routeOfBody, routeOf } from './routes.js';

/** Options of `answerPredictions`. */
export interface AnswerOptions {
  /**
   * The models whose requests are answered here, by their names in the URL, each with its policy. Requests to other
   * models go to the network as without a service worker.
   */
  readonly models: Readonly<Record<string, Policy>>;
  /**
   * Where the paths of the API begin: `/api/` for `/api/predictions/digits`, `./` for the scope's own folder. It may be
   * on another origin.
   * @default '/'
   */
  readonly base?: string;
  /**
   * With `server-first`, milliseconds within which the server's response must begin. After that, the device is asked.
   * @default 30_000
   */
  readonly serverTimeout?: number;
  /**
   * The maximum number of bytes of a body that the device answers. Larger ones go to the server if the policy allows it; otherwise
   * the answer is 413. The default is TorchServe's.
   * @default 6_553_500
   */
  readonly maxRequestSize?: number;
}

/** The checked options, by which a request is answered. */
export interface Settings extends Required<Omit<AnswerOptions, 'base'>> {
  readonly base: URL;
}

/**
 * Answers requests of TorchServe's inference API and of the Open Inference Protocol in a service worker: by a page that
 * hosts the model, or by the server behind the URL, as the model's policy says. Call it at the top of the service
 * worker's script. Other requests are left to the script's other listeners.
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
  const environment: Omit<Environment, 'waitUntil'> = {
    clients: scope.clients,
    locks: navigator.locks,
    fetch: (request, init) => fetch(request, init),
    clock: browserClock,
    scope: scope.registration.scope,
  };
  scope.addEventListener('fetch', (event) => {
    const waitUntil = (work: Promise<unknown>): void => event.waitUntil(work);
    const response = respondTo(event.request, settings, { ...environment, waitUntil });
    if (response) event.respondWith(response);
  });
  scope.addEventListener('message', (event) => {
    const data = event.data as Partial<Claim> | Partial<DeviceOnlyRequest> | null;
    const [port] = event.ports;
    const waitUntil = (work: Promise<unknown>): void => event.waitUntil(work);
    if (data?.tabserve === 'claim') {
      waitUntil(scope.clients.claim());
      port?.postMessage({ base: settings.base.href, models: settings.models } satisfies Policies);
    }
    if (data?.tabserve !== 'device-only' || data.protocol !== PROTOCOL || data.base !== settings.base.href) return;
    if (port) waitUntil(answerOnDevice(data as DeviceOnlyRequest, port, settings, { ...environment, waitUntil }));
  });
}

/** Answers a request that a page has sent by message. Nothing of it reaches the network. Never rejects. */
export function answerOnDevice(
  { method, url, model = '' }: DeviceOnlyRequest,
  port: MessagePort,
  settings: Settings,
  environment: Environment,
): Promise<void> {
  const ownSettings: Settings = { ...settings, models: { [model]: 'device-only' } };
  const fetch = async (): Promise<Response> => {
    throw new TypeError('A request to a device-only model is not sent to the network.');
  };
  const server = {
    fetch: async (request: Request) =>
      (await respondTo(request, ownSettings, { ...environment, fetch })) ?? new Response(null, { status: 404 }),
  };
  return answerAsk({ method, path: url }, port, '', server, new AbortController().signal, environment.clock);
}

/** Answers a request; undefined if it is not for a model. */
export function respondTo(
  request: Request,
  settings: Settings,
  environment: Environment,
): Promise<Response> | undefined {
  const { base, models, maxRequestSize } = settings;
  const replayable = new ReplayableRequest(request, maxRequestSize);
  const ofBody = routeOfBody(request, base);
  if (ofBody) return answerOpenAi(replayable, ofBody, settings, environment);
  const route = routeOf(request, base, models);
  return route && answer(replayable, route, settings, environment);
}

/** @throws `invalid-input` */
export function readOptions(options: AnswerOptions, scope: string): Settings {
  const read = readCallOptions(options, 'answerPredictions', ['models', 'base', 'serverTimeout', 'maxRequestSize']);
  const { models, base = '/', serverTimeout = 30_000, maxRequestSize = 6_553_500 } = read;
  const entries = Object.entries(models ?? {});
  if (entries.length === 0)
    throw wrongValue('models', "the name and policy of a model, such as { digits: 'device-first' }", models);
  for (const [name, policy] of entries)
    if (!POLICIES.includes(policy)) throw wrongValue(`models.${name}`, `one of ${POLICIES.join(', ')}`, policy);
  if (!isAboveZero(serverTimeout) || serverTimeout > MAX_DELAY_MS)
    throw wrongValue('serverTimeout', `a number above 0, and up to ${MAX_DELAY_MS}`, serverTimeout);
  if (!isAboveZero(maxRequestSize)) throw wrongValue('maxRequestSize', 'a number above 0', maxRequestSize);
  if (!URL.canParse(base, scope)) throw wrongValue('base', 'a URL or a path', base);
  const url = new URL(base, scope);
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return { models, serverTimeout, maxRequestSize, base: url };
}

function isAboveZero(value: unknown): boolean {
  return typeof value === 'number' && value > 0;
}
