import type { Settings } from './answer-predictions.js';
import { askDevice, type Answer } from './ask-device.js';
import type { Environment } from './environment.js';
import type { ReplayableRequest } from './replayable-request.js';
import { ANSWERED_BY, FAILURES, REASON, type AnsweredBy, type Failure, type Policy } from './protocol.js';
import type { Route } from './routes.js';

/** Answers one request as its model's policy says: on the device, by the server, or by itself where neither can. */
export async function answer(
  request: ReplayableRequest,
  { policy, ...route }: Route,
  { serverTimeout }: Settings,
  environment: Environment,
): Promise<Response> {
  const { signal, method } = request;
  // The device may need the same request after the server.
  const isServerFirst = policy === 'server-first';
  if (isServerFirst) await request.body();
  return await answerByPolicy(policy, {
    device: () => askDevice({ method, ...route }, request, signal, environment),
    server: async () =>
      askServer(await request.forServer(), isServerFirst ? serverTimeout : undefined, signal, environment),
  });
}

/** The two that may answer. Each is asked at most once. They throw only when the request was aborted. */
interface Answerers {
  readonly device: () => Promise<Answer>;
  readonly server: () => Promise<Answer>;
}

const ORDER: Readonly<Record<Policy, readonly (keyof Answerers)[]>> = {
  'device-first': ['device', 'server'],
  'server-first': ['server', 'device'],
  'device-only': ['device'],
};

/** Answers a request according to its model's policy. The response's headers say who answered, and why. */
async function answerByPolicy(policy: Policy, answerers: Answerers): Promise<Response> {
  const failures: Partial<Record<keyof Answerers, Failure>> = {};
  let failed: { readonly by: keyof Answerers; readonly response: Response } | undefined;
  for (const by of ORDER[policy]) {
    const { response, failure } = await answerers[by]();
    if (failure === undefined) {
      void failed?.response.body?.cancel().catch(() => {});
      return marked(response, by, Object.values(failures)[0] ?? policy);
    }
    failures[by] = failure;
    if (response && failed) void response.body?.cancel().catch(() => {});
    else if (response) failed = { by, response };
  }
  // The error of the first one says most; the reason is why the other one could not help.
  if (failed)
    return marked(failed.response, failed.by, failures[failed.by === 'device' ? 'server' : 'device'] ?? policy);
  return refusal(Object.values(failures));
}

/** Returns the response with the headers that say who answered and why. */
function marked(response: Response, by: AnsweredBy, reason: Failure | Policy): Response {
  // The headers of a response without CORS can neither be read nor changed.
  if (response.type === 'opaque' || response.type === 'opaqueredirect' || response.type === 'error') return response;
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  headers.set(ANSWERED_BY, by);
  headers.set(REASON, reason);
  return new Response(response.body, { status, statusText, headers });
}

/** Returns the service worker's own response when nobody else can answer: an error as TorchServe writes them. */
function refusal(failures: readonly Failure[]): Response {
  const isTooLarge = failures.includes('body-too-large');
  const message = failures.map((failure) => FAILURES[failure]).join(' ');
  const [code, type] = isTooLarge ? [413, 'RequestEntityTooLargeException'] : [503, 'ServiceUnavailableException'];
  return marked(Response.json({ code, type, message }, { status: code as number }), 'none', failures[0]!);
}

/**
 * Sends a request to the server behind its URL, once.
 *
 * @param timeout milliseconds until the response's headers; undefined if nobody else can answer, so that there is no
 *   limit
 * @throws the signal's reason
 */
async function askServer(
  request: Request,
  timeout: number | undefined,
  signal: AbortSignal,
  { fetch, clock }: Pick<Environment, 'fetch' | 'clock'>,
): Promise<Answer> {
  const late = new AbortController();
  const cancel = timeout === undefined ? () => {} : clock.schedule(() => late.abort(), timeout);
  try {
    const response = await fetch(request, { signal: AbortSignal.any([signal, late.signal]) });
    return response.status >= 500 ? { response, failure: 'server-failed' } : { response };
  } catch {
    signal.throwIfAborted();
    return { failure: late.signal.aborted ? 'server-timeout' : 'server-unreachable' };
  } finally {
    cancel();
  }
}
