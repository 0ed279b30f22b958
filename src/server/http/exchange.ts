import type { HttpAnswer, HttpExchange, HttpRequestData } from '../../contract/http.js';

/** A request over HTTP, as the handler reads it, and what the handler says of its answer. */
export class Exchange implements HttpExchange {
  readonly request: HttpRequestData;
  #answer: HttpAnswer = {};

  /** @param path what follows the model's version */
  constructor(request: Request, path: readonly string[]) {
    const query = new URL(request.url).search.slice(1);
    this.request = { headers: Object.fromEntries(request.headers), path: path.join('/'), query };
  }

  readonly onAnswer = (answer: HttpAnswer): void => void (this.#answer = answer);

  /** Returns the response with the status and the headers that the handler has set. */
  apply(response: Response): Response {
    const { status = 200, headers } = this.#answer;
    if (status === 200 && !headers) return response;
    const isBare = status === 204 || status === 205 || status === 304;
    // What nobody reads must end, or the model would never be without a request.
    if (isBare) void response.body?.cancel();
    const all = new Headers(response.headers);
    if (isBare) for (const name of ['Content-Type', 'Content-Length']) all.delete(name);
    for (const [name, value] of Object.entries(headers ?? {})) all.set(name, value);
    return new Response(isBare ? null : response.body, { status, headers: all });
  }

  /** Returns the response for a row that failed, with the status that the handler has set. */
  applyToError(response: Response): Response {
    const { status = 0 } = this.#answer;
    return status >= 400 ? new Response(response.body, { status, headers: response.headers }) : response;
  }
}
