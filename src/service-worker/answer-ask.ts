import { asTabServeError } from '../contract/errors.js';
import type { Clock } from '../shared/clock.js';
import type { ModelHttpServer } from './hosting.js';
import { HANDSHAKE_LIMIT, type Ask, type Failure, type FromHost, type Header, type ToHost } from './protocol.js';

/** Milliseconds that an accepted request may take to arrive: the service worker reads its body meanwhile. */
const SEND_LIMIT = 30_000;

/** Answers one question of a service worker: whether this page answers a request, and if it is then sent, the request. Never rejects. */
export async function answerAsk(
  ask: Ask,
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
    const cancel = clock.schedule(stop, HANDSHAKE_LIMIT + SEND_LIMIT);
    const request = await sent;
    cancel();
    if (!request) return;
    const response = await server.fetch(requestOf(ask, request, ending.signal));
    const body = response.body ? await response.arrayBuffer() : undefined;
    const { status, statusText } = response;
    const answer = { type: 'answer', status, statusText, headers: [...response.headers], body } as const;
    if (!ending.signal.aborted) post(answer, body ? [body] : []);
  } catch (error) {
    if (!ending.signal.aborted) post(failed(error));
  } finally {
    // The port stays open, so that what was posted arrives: the service worker closes it.
    listening.abort();
  }
}

/** Returns why this page cannot answer now; undefined if it can. */
async function failureOf({ model, version }: Ask, server: ModelHttpServer): Promise<Failure | undefined> {
  if (model === undefined) return undefined;
  const versioned = version === undefined ? '' : `/versions/${encodeURIComponent(version)}`;
  const { status } = await server.fetch(requestTo(`/v2/models/${encodeURIComponent(model)}${versioned}/ready`));
  if (status === 200) return undefined;
  return status === 404 ? 'unknown-model' : 'not-ready';
}

function requestOf({ method, path }: Ask, { headers, body }: Extract<ToHost, { type: 'send' }>, signal: AbortSignal) {
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
