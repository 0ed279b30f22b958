import { asTabServeError } from '../../contract/errors.js';
import type { Clock } from '../../shared/clock.js';
import type { ModelHttpServer } from './host-models.js';
import { MAX_HANDSHAKE_MS, type Ask, type Failure, type FromHost, type Header, type ToHost } from './protocol.js';

/** Milliseconds that an accepted request may take to arrive: the service worker reads its body meanwhile. */
const MAX_SEND_MS = 30_000;

/** What is asked before the request is sent. */
type Question = Omit<Ask, 'tabserve' | 'protocol'>;

/**
 * Answers one question of a service worker: whether this page answers a request, and if it is then sent, the request.
 * Never rejects.
 */
export async function answerAsk(
  ask: Question,
  port: MessagePort,
  host: string,
  server: ModelHttpServer,
  leaving: AbortSignal,
  clock: Clock,
): Promise<void> {
  const ending = new AbortController();
  const listening = new AbortController();
  const post = (message: FromHost, transfer: Transferable[] = []): void => port.postMessage(message, transfer);
  /** Does nothing after the answer. */
  const stop = (): void => {
    if (!listening.signal.aborted) ending.abort();
  };
  const sent = new Promise<Extract<ToHost, { type: 'send' }> | undefined>((resolve) => {
    port.onmessage = ({ data }: MessageEvent<ToHost>) => {
      if (data.type === 'send') resolve(data);
      if (data.type === 'ping') post({ type: 'pong' });
      if (data.type !== 'cancel') return;
      stop();
      port.close();
    };
    // The service worker has ended. Not all browsers tell.
    port.addEventListener('close', stop);
    ending.signal.addEventListener('abort', () => resolve(undefined));
  });
  leaving.addEventListener(
    'abort',
    () => {
      post({ type: 'leave' });
      ending.abort();
    },
    { signal: listening.signal },
  );
  try {
    const failure = await failureOf(ask, server);
    if (ending.signal.aborted) return;
    if (failure) return post({ type: 'decline', host, failure });
    post({ type: 'accept', host });
    const cancel = clock.schedule(stop, MAX_HANDSHAKE_MS + MAX_SEND_MS);
    const request = await sent;
    cancel();
    if (!request) return;
    const response = await server.fetch(requestOf(ask, request, ending.signal));
    const { status, statusText } = response;
    const head = { type: 'answer', status, statusText, headers: [...response.headers] } as const;
    if (comesInParts(response)) {
      post({ ...head, body: 'parts' });
      await relay(response.body!, post, ending.signal);
      return;
    }
    const body = response.body ? await response.arrayBuffer() : undefined;
    if (!ending.signal.aborted) post({ ...head, body }, body ? [body] : []);
  } catch (error) {
    if (!ending.signal.aborted) post(failed(error));
  } finally {
    // The port stays open, so that what was posted arrives: the service worker closes it.
    listening.abort();
  }
}

/** Returns whether an answer is to be passed on as it comes: server-sent events, and what says so as nginx reads it. */
function comesInParts({ body, headers }: Response): boolean {
  const isEvents = headers.get('content-type')?.startsWith('text/event-stream') === true;
  return body !== null && (isEvents || headers.get('x-accel-buffering') === 'no');
}

/** Posts a body in parts, as they come, until it ends or nobody waits any more. Never rejects. */
async function relay(
  body: ReadableStream<Uint8Array>,
  post: (message: FromHost) => void,
  ending: AbortSignal,
): Promise<void> {
  const reader = body.getReader();
  ending.addEventListener('abort', () => void reader.cancel().catch(() => {}));
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (ending.aborted) return;
      if (done) return post({ type: 'end', complete: true });
      post({ type: 'part', bytes: value });
    }
  } catch {
    post({ type: 'end', complete: false });
  }
}

/** Returns why this page cannot answer now; undefined if it can. */
async function failureOf({ model, version }: Question, server: ModelHttpServer): Promise<Failure | undefined> {
  if (model === undefined) return undefined;
  const versioned = version === undefined ? '' : `/versions/${encodeURIComponent(version)}`;
  const { status } = await server.fetch(requestTo(`/v2/models/${encodeURIComponent(model)}${versioned}/ready`));
  if (status === 200) return undefined;
  return status === 404 ? 'unknown-model' : 'not-ready';
}

function requestOf(
  { method, path }: Question,
  { headers, body }: Extract<ToHost, { type: 'send' }>,
  signal: AbortSignal,
) {
  return requestTo(path, {
    method,
    headers: headers.map(([name, value]): [string, string] => [name, value]),
    body: body ?? null,
    signal,
  });
}

function requestTo(path: string, init?: RequestInit): Request {
  return new Request(new URL(path, globalThis.location?.href ?? 'http://localhost/'), init);
}

/** Returns the answer when the server itself fails, as TorchServe writes errors. */
function failed(error: unknown): FromHost {
  const { message } = asTabServeError(error);
  const body = new TextEncoder().encode(JSON.stringify({ code: 500, type: 'InternalServerException', message }));
  const headers: readonly Header[] = [['Content-Type', 'application/json']];
  return { type: 'answer', status: 500, statusText: '', headers, body: body.buffer as ArrayBuffer };
}
