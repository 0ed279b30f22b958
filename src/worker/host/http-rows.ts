import { describeValue } from '../../contract/describe-value.js';
import { messageOf, TabServeError } from '../../contract/errors.js';
import type { HttpAnswer, HttpRequest, HttpRequestData } from '../../contract/http.js';

/** Returns a request as a handler reads it. */
export function readHttpRequest({ headers, path, query }: HttpRequestData): HttpRequest {
  return { headers: new Headers(headers), path, query: new URLSearchParams(query) };
}

/** Returns a copy of what a handler says of an answer. @throws `handler-failed` for a status or headers that cannot be */
export function readHttpAnswer({ status, headers }: HttpAnswer): HttpAnswer {
  if (status !== undefined && !(Number.isInteger(status) && status >= 200 && status <= 599))
    throw new TabServeError(
      'handler-failed',
      `context.respond: expected a status from 200 to 599, got ${describeValue(status)}.`,
    );
  try {
    return {
      ...(status !== undefined && { status }),
      ...(headers && { headers: Object.fromEntries(new Headers(headers)) }),
    };
  } catch (cause) {
    throw new TabServeError('handler-failed', `context.respond: ${messageOf(cause)}`, { cause });
  }
}

/** Returns what a handler has said of an answer in two calls: the later one counts. */
export function withAnswer(before: HttpAnswer | undefined, answer: HttpAnswer): HttpAnswer {
  return { ...before, ...answer, headers: { ...before?.headers, ...answer.headers } };
}
