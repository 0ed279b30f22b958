import type { HttpAnswer, HttpExchange, HttpRequestData } from '../../contract/http.js';
import type { HttpRequest, HttpResponse } from './messages.js';
import type { HttpError } from './responses.js';

/** A request over HTTP, as the handler reads it, and what the handler says of its answer. */
export class Exchange implements HttpExchange {
  readonly request: HttpRequestData;
  #answer: HttpAnswer = {};

  /** @param path what follows the model's version */
  constructor(request: HttpRequest, path: readonly string[]) {
    const query = new URL(request.url).search.slice(1);
    this.request = { headers: Object.fromEntries(request.headers), path: path.join('/'), query };
  }

  readonly onAnswer = (answer: HttpAnswer): void => void (this.#answer = answer);

  /** Returns the response with the status and the headers that the handler has set. */
  apply(response: HttpResponse): HttpResponse {
    const { status = 200, headers } = this.#answer;
    if (status === 200 && !headers) return response;
    const isBare = status === 204 || status === 205 || status === 304;
    // An answer that nobody reads must end, or the model would always have a request.
    if (isBare && response.body instanceof ReadableStream) void response.body.cancel();
    const all = new Headers(response.headers);
    if (isBare) for (const name of ['Content-Type', 'Content-Length']) all.delete(name);
    for (const [name, value] of Object.entries(headers ?? {})) all.set(name, value);
    return { status, headers: all, body: isBare ? null : response.body };
  }

  /** Returns the error of a row that failed, with the status that the handler has set. */
  applyToError(error: HttpError): HttpError {
    const { status = 0 } = this.#answer;
    return status >= 400 ? { ...error, code: status } : error;
  }
}
