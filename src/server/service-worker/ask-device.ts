import type { Environment } from './environment.js';
import { end, findPage } from './find-page.js';
import type { ReplayableRequest } from './replayable-request.js';
import {
  MAX_ANSWER_MS,
  FAILURES,
  MAX_HANDSHAKE_MS,
  lockName,
  PING_MS,
  MAX_SILENCE_MS,
  type Ask,
  type Failure,
  type FromHost,
  type ToHost,
} from './protocol.js';

/** An answer, or why there is none; with both, the response is the one that says why. */
export type Answer =
  | { readonly response: Response; readonly failure?: undefined }
  | { readonly response?: Response | undefined; readonly failure: Failure };

/** The maximum number of pages that are tried for one request, each after the one before was lost. */
const MAX_PAGES = 4;

/**
 * Has a page answer a request. If it is closed, or no longer responds, before it has answered, another page gets the
 * same request.
 *
 * @throws the signal's reason
 */
export async function askDevice(
  ask: Omit<Ask, 'tabserve' | 'protocol'>,
  request: ReplayableRequest,
  signal: AbortSignal,
  environment: Environment,
): Promise<Answer> {
  const lost = new Set<string>();
  while (lost.size < MAX_PAGES) {
    const found = await findPage(ask, lost, signal, environment).catch(() => {
      signal.throwIfAborted();
      return 'no-answer' as const;
    });
    if (typeof found === 'string') return { failure: lost.size > 0 ? 'host-lost' : found };
    const acceptedAt = environment.clock.now();
    const body = await request.body();
    // The page stopped waiting because reading the body took long. The next page gets the body that was read.
    const isLate = environment.clock.now() - acceptedAt > MAX_HANDSHAKE_MS;
    if (signal.aborted || isLate || body === 'too-large') end(found.port);
    signal.throwIfAborted();
    if (isLate) continue;
    if (body === 'too-large') return { failure: 'body-too-large' };
    const { locks, scope, clock, waitUntil } = environment;
    // The browser grants the page's lock as soon as the page has ended.
    const whenGone = (gone: () => void, ended: AbortSignal): void =>
      void locks.request(lockName(found.host, scope), { mode: 'shared', signal: ended }, gone).catch(() => {});
    const message = { type: 'send', headers: request.headers, body } as const;
    const answer = await sendTo(found.port, message, signal, { clock, waitUntil, whenGone });
    if (answer.failure !== 'host-lost') return answer;
    lost.add(found.host);
  }
  return { failure: 'host-lost' };
}

interface SendEnvironment extends Pick<Environment, 'clock' | 'waitUntil'> {
  /** Calls `gone` when the other side has ended, until `ended` aborts. */
  readonly whenGone: (gone: () => void, ended: AbortSignal) => void;
}

/**
 * Sends a request to what answers it on the other side of a port, and waits: for the answer, the other side's end, or
 * the limits. A body that comes in parts is watched until it ends; it breaks off with the other side.
 */
export async function sendTo(
  port: MessagePort,
  message: ToHost,
  signal: AbortSignal,
  { clock, waitUntil, whenGone }: SendEnvironment,
): Promise<Answer> {
  const over = new AbortController();
  let stopPinging = (): void => {};
  let stopWaiting = (): void => {};
  let parts: ReadableStreamDefaultController<Uint8Array> | undefined;
  const close = (): void => {
    stopPinging();
    stopWaiting();
    over.abort();
    end(port);
  };
  try {
    return await new Promise<Answer>((resolve, reject) => {
      const breakOff = (reason: unknown): void => {
        parts?.error(reason);
        if (parts) close();
      };
      const gone = (): void => {
        resolve({ failure: 'host-lost' });
        breakOff(new TypeError(FAILURES['host-lost']));
      };
      let heardAt = clock.now();
      // The page may have listeners of its own that answer any message.
      port.onmessage = ({ data }: MessageEvent<FromHost | null>) => {
        heardAt = clock.now();
        if (data?.type === 'leave') gone();
        if (data?.type === 'part') parts?.enqueue(data.bytes);
        if (data?.type === 'end' && !data.complete) breakOff(new TypeError(FAILURES['device-failed']));
        else if (data?.type === 'end') {
          parts?.close();
          close();
        }
        if (data?.type !== 'answer') return;
        stopWaiting();
        if (data.body === 'parts') {
          const body = new ReadableStream({ start: (controller) => void (parts = controller), cancel: close });
          // The browser may end a service worker after its events.
          waitUntil(new Promise<void>((ended) => over.signal.addEventListener('abort', () => ended())));
          resolve(answerOf(data, body));
        } else resolve(answerOf(data, data.body));
      };
      const ping = (): void => {
        if (clock.now() - heardAt >= MAX_SILENCE_MS) return gone();
        port.postMessage({ type: 'ping' } satisfies ToHost);
        stopPinging = clock.schedule(ping, PING_MS);
      };
      stopPinging = clock.schedule(ping, PING_MS);
      stopWaiting = clock.schedule(() => resolve({ failure: 'device-timeout' }), MAX_ANSWER_MS);
      whenGone(gone, over.signal);
      const abort = (): void => {
        reject(signal.reason as Error);
        breakOff(signal.reason);
      };
      signal.addEventListener('abort', abort, { signal: over.signal });
      port.postMessage(message);
    });
  } finally {
    if (!parts) close();
  }
}

function answerOf(
  { status, statusText, headers }: Extract<FromHost, { type: 'answer' }>,
  body: ArrayBuffer | ReadableStream | undefined,
): Answer {
  let response: Response;
  try {
    const list = headers.map(([name, value]): [string, string] => [name, value]);
    response = new Response(body ?? null, { status, statusText, headers: list });
  } catch {
    // The page's answer is not an HTTP response, such as `Response.error()`.
    return { failure: 'device-failed' };
  }
  // The model was removed after the page had accepted.
  if (status === 404) return { response, failure: 'unknown-model' };
  if (status === 408) return { response, failure: 'device-timeout' };
  if (status === 413) return { response, failure: 'body-too-large' };
  return status >= 500 || status === 415 ? { response, failure: 'device-failed' } : { response };
}
