import { describeValue } from '../../contract/describe-value.js';
import { messageOf, TabServeError } from '../../contract/errors.js';
import type { HttpAnswer, HttpRequest, HttpRequestData } from '../../contract/http.js';

/** Returns a request as a handler reads it. */
export function readHttpRequest({ headers, path, query }: HttpRequestData): HttpRequest {
  return { headers: new Headers(headers), path, query: new URLSearchParams(query) };
}

/** Headers that frame the answer: with a wrong one, the client might read the answer to another request. */
const OF_CONNECTION = ['connection', 'content-length', 'keep-alive', 'trailer', 'transfer-encoding', 'upgrade'];

/**
 * Returns a copy of what a handler says of an answer. @throws `handler-failed` for an invalid status or invalid headers
 */
export function readHttpAnswer({ status, headers }: HttpAnswer): HttpAnswer {
  if (status !== undefined && !(Number.isInteger(status) && status >= 200 && status <= 599))
    throw new TabServeError(
      'handler-failed',
      `context.respond: expected a status from 200 to 599, got ${describeValue(status)}.`,
    );
  const read = headers && readHeaders(headers);
  return { ...(status !== undefined && { status }), ...(read && { headers: read }) };
}

function readHeaders(headers: NonNullable<HttpAnswer['headers']>): Readonly<Record<string, string>> {
  let read: Readonly<Record<string, string>>;
  try {
    read = Object.fromEntries(new Headers(headers));
  } catch (cause) {
    throw new TabServeError('handler-failed', `context.respond: ${messageOf(cause)}`, { cause });
  }
  const own = OF_CONNECTION.find((name) => name in read);
  if (own === undefined) return read;
  throw new TabServeError('handler-failed', `context.respond: the server itself sets the header ${own}. Leave it out.`);
}

/** Returns what a handler has said of an answer in two calls: the later one counts. */
export function withAnswer(before: HttpAnswer | undefined, answer: HttpAnswer): HttpAnswer {
  return { ...before, ...answer, headers: { ...before?.headers, ...answer.headers } };
}
