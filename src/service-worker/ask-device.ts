import type { Answer } from './answer-by-policy.js';
import type { Environment } from './environment.js';
import { end, findHost, type Accepted } from './hosts.js';
import type { KeptRequest } from './kept-request.js';
import {
  ANSWER_LIMIT,
  HANDSHAKE_LIMIT,
  lockName,
  PING_EVERY,
  SILENCE_LIMIT,
  type Ask,
  type FromHost,
  type ToHost,
} from './protocol.js';

/** The most pages that are tried for one request, each after the one before was lost. */
const MOST_HOSTS = 4;

/**
 * Has a page answer a request. If it is closed, or no longer responds, before it has answered, another page gets the same request.
 *
 * @throws the signal's reason
 */
export async function askDevice(
  ask: Omit<Ask, 'tabserve' | 'protocol'>,
  request: KeptRequest,
  signal: AbortSignal,
  environment: Environment,
): Promise<Answer> {
  const lost = new Set<string>();
  while (lost.size < MOST_HOSTS) {
    const found = await findHost(ask, lost, signal, environment).catch(() => {
      signal.throwIfAborted();
      return 'no-answer' as const;
    });
    if (typeof found === 'string') return { failure: lost.size > 0 ? 'host-lost' : found };
    try {
      const acceptedAt = environment.clock.now();
      const body = await request.body();
      signal.throwIfAborted();
      // The page no longer waits for a body that took long. It is kept, so that the next time it takes none.
      if (environment.clock.now() - acceptedAt > HANDSHAKE_LIMIT) continue;
      if (body === 'too-large') return { failure: 'body-too-large' };
      const answer = await relay(found, { type: 'send', headers: request.headers, body }, signal, environment);
      if (answer.failure !== 'host-lost') return answer;
      lost.add(found.host);
    } finally {
      end(found.port);
    }
  }
  return { failure: 'host-lost' };
}

/** Sends a request to a page that has accepted it, and waits: for the answer, the page's end, or the limits. */
async function relay(
  { host, port }: Accepted,
  message: ToHost,
  signal: AbortSignal,
  { locks, clock, scope }: Environment,
): Promise<Answer> {
  const over = new AbortController();
  let stopPinging = (): void => {};
  let stopWaiting = (): void => {};
  try {
    return await new Promise<Answer>((resolve, reject) => {
      const gone = (): void => resolve({ failure: 'host-lost' });
      let heardAt = clock.now();
      // The page may have listeners of its own that answer any message.
      port.onmessage = ({ data }: MessageEvent<FromHost | null>) => {
        heardAt = clock.now();
        if (data?.type === 'leave') gone();
        if (data?.type === 'answer') resolve(answerOf(data));
      };
      const ping = (): void => {
        if (clock.now() - heardAt >= SILENCE_LIMIT) return gone();
        port.postMessage({ type: 'ping' } satisfies ToHost);
        stopPinging = clock.schedule(ping, PING_EVERY);
      };
      stopPinging = clock.schedule(ping, PING_EVERY);
      stopWaiting = clock.schedule(() => resolve({ failure: 'device-timeout' }), ANSWER_LIMIT);
      // The browser grants the page's lock as soon as the page has ended.
      locks.request(lockName(host, scope), { mode: 'shared', signal: over.signal }, gone).catch(() => {});
      signal.addEventListener('abort', () => reject(signal.reason as Error), { signal: over.signal });
      port.postMessage(message);
    });
  } finally {
    stopPinging();
    stopWaiting();
    over.abort();
  }
}

function answerOf({ status, statusText, headers, body }: Extract<FromHost, { type: 'answer' }>): Answer {
  let response: Response;
  try {
    const list = headers.map(([name, value]): [string, string] => [name, value]);
    response = new Response(body ?? null, { status, statusText, headers: list });
  } catch {
    // What the page has answered is no response of HTTP, such as `Response.error()`.
    return { failure: 'device-failed' };
  }
  // The model was removed after the page had accepted.
  if (status === 404) return { response, failure: 'unknown-model' };
  if (status === 408) return { response, failure: 'device-timeout' };
  if (status === 413) return { response, failure: 'body-too-large' };
  return status >= 500 || status === 415 ? { response, failure: 'device-failed' } : { response };
}
