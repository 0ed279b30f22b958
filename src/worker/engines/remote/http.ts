import { shorten } from '../../../contract/describe-value.js';
import { isError, messageOf, TabServeError } from '../../../contract/errors.js';
import { MAX_ANSWER_BYTES } from '../../../contract/limits.js';
import type { RemoteServer } from '../../../contract/remote.js';
import type { OnArrayBuffer } from '../../../contract/tensors.js';
import { abortError } from '../../../shared/abort.js';
import type { Clock } from '../../../shared/clock.js';
import { discard, isRedirect } from '../../../shared/request-policy.js';
import { readRetryAfter, TransientFailure, withRetries } from '../../../shared/retry.js';
import { type Answer, describeAnswer, type HttpRequest } from './protocol.js';

export interface HttpOptions {
  readonly server: RemoteServer;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  /** Returns a number in 0..1. */
  readonly random: () => number;
}

/** The statuses of a server, or a proxy before it, that is busy or being replaced. */
const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/**
 * The statuses with which no request will be answered: the server does not serve this client, or does not have the
 * model.
 */
const LOST: ReadonlySet<number> = new Set([401, 403, 404, 407, 410]);

/**
 * Sends one request, again after a connection error and while the server is busy; but while a model is opened, a server
 * that cannot be reached is given up at once if there is another backend. No redirect is followed, so that neither the
 * app's headers nor a tensor reaches another origin than the one that the app has named.
 * @throws `device-lost` if no answer comes: the server cannot be reached, is slow, stays busy, redirects, or knows
 *   neither this client nor the model; `inference-failed` for an answer that is too large; `aborted`
 */
export async function send(request: HttpRequest, options: HttpOptions): Promise<Answer> {
  const { clock, random, server } = options;
  const { signal } = request;
  try {
    const answer = await withRetries(() => attempt(request, options), { clock, random, signal });
    if (LOST.has(answer.status)) throw lost(server, describeAnswer(answer));
    return answer;
  } catch (error) {
    throw signal?.aborted ? abortError(signal) : error;
  }
}

async function attempt({ path, body, headers, signal }: HttpRequest, options: HttpOptions): Promise<Answer> {
  const { server, fetch, clock } = options;
  const { timeout, credentials = 'same-origin' } = server;
  const url = new URL(path, server.url);
  const stop = new AbortController();
  const cancel = clock.schedule(() => stop.abort(), timeout);
  try {
    const response = await fetch(url, {
      headers: mergeHeaders(server.headers, headers),
      credentials,
      redirect: 'manual',
      referrerPolicy: 'no-referrer',
      cache: 'no-store',
      signal: signal ? AbortSignal.any([signal, stop.signal]) : stop.signal,
      ...(body !== undefined && { method: 'POST', body }),
    });
    if (isRedirect(response)) {
      discard(response);
      throw redirected(url, response);
    }
    const { status } = response;
    const answer = { url: url.href, status, headers: response.headers, body: await readBody(response, url) };
    if (!RETRIED.has(status)) return answer;
    throw new TransientFailure(lost(server, describeAnswer(answer)), false, readRetryAfter(response));
  } catch (cause) {
    if (isError(cause) && (cause instanceof TabServeError || cause instanceof TransientFailure)) throw cause;
    if (signal?.aborted) throw abortError(signal);
    if (stop.signal.aborted) throw lost(server, `${url.href} did not answer within ${timeout} ms`, cause);
    const what = `${url.href} cannot be reached, or ended the connection${corsHint(url)}: ${whyOf(cause)}`;
    const failure = lost(server, what, cause);
    // Only a run has a body.
    throw body === undefined && server.hasFallback ? failure : new TransientFailure(failure);
  } finally {
    cancel();
  }
}

/**
 * Returns a hint at CORS: a browser does not tell a page that a server of another origin has answered without allowing
 * it.
 */
function corsHint(url: URL): string {
  const { origin } = (globalThis as { readonly location?: Location }).location ?? {};
  return origin === undefined || origin === url.origin
    ? ''
    : `, or does not allow pages of ${origin} (CORS; npx tabserve serve --cors ${origin})`;
}

/** Merges headers. The protocol's own headers win over those of the app. */
function mergeHeaders(theirs: RemoteServer['headers'], own: HttpRequest['headers'] = {}): Headers {
  const headers = new Headers(theirs);
  for (const [name, value] of Object.entries(own)) headers.set(name, value);
  return headers;
}

/** Returns why a request failed. Node says it in the cause; a browser does not say it at all. */
function whyOf(error: unknown): string {
  const why = messageOf(error);
  return isError(error) && isError(error.cause) ? `${why} (${messageOf(error.cause)})` : why;
}

function redirected({ href }: URL, { headers }: Response): TabServeError {
  const target = headers.get('location');
  const where = target === null ? '' : ` to ${shorten(target)}`;
  return new TabServeError(
    'device-lost',
    `${href} is redirected${where}. A redirect of a model's server is not followed: set remote.url to the URL that answers.`,
  );
}

function lost({ url }: RemoteServer, what: string, cause?: unknown): TabServeError {
  const message = `The server at ${new URL(url).origin} does not serve the model: ${what}.`;
  return new TabServeError('device-lost', message, { cause });
}

/** Reads a body. @throws `inference-failed` if it is larger than any answer may be */
async function readBody(response: Response, { href }: URL): Promise<ArrayBuffer> {
  const stream = response.body as ReadableStream<OnArrayBuffer<Uint8Array>> | null;
  if (!stream) return new ArrayBuffer(0);
  const tooLarge = `${href} answered more than ${MAX_ANSWER_BYTES} bytes, which is the limit.`;
  const chunks: OnArrayBuffer<Uint8Array>[] = [];
  let length = Number(response.headers.get('content-length')) > MAX_ANSWER_BYTES ? Infinity : 0;
  const reader = stream.getReader();
  while (length <= MAX_ANSWER_BYTES) {
    const { value, done } = await reader.read();
    if (done) return await new Blob(chunks).arrayBuffer();
    length += value.length;
    chunks.push(value);
  }
  void reader.cancel().catch(() => {});
  throw new TabServeError('inference-failed', tooLarge);
}
