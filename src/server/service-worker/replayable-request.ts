/**
 * A request that can be sent again: another page, or the server, may need it after the first page is lost. Its body is
 * read at most once.
 */
export class ReplayableRequest {
  readonly #request: Request;
  readonly #maxBytes: number;
  #reading: Promise<Blob | 'too-large' | undefined> | undefined;

  /** @param maxBytes of a body that can be sent again */
  constructor(request: Request, maxBytes: number) {
    this.#request = request;
    this.#maxBytes = maxBytes;
  }

  /** Returns the body; undefined if the request has none. A Blob crosses to a page by reference. */
  body(): Promise<Blob | 'too-large' | undefined> {
    const { method } = this.#request;
    this.#reading ??= method === 'GET' || method === 'HEAD' ? Promise.resolve(undefined) : this.#read();
    return this.#reading;
  }

  /** Reads a copy, so that a body that is too large still streams to the server without being buffered. */
  async #read(): Promise<Blob | 'too-large'> {
    const copy = this.#request.clone();
    const type = copy.headers.get('content-type') ?? '';
    const parts: BlobPart[] = [];
    let size = 0;
    // Firefox has no stream of a request's body.
    const reader = copy.body?.getReader();
    if (!reader) {
      const body = await copy.blob();
      return body.size > this.#maxBytes ? 'too-large' : body;
    }
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return new Blob(parts, { type });
      parts.push(value);
      size += value.byteLength;
      if (size <= this.#maxBytes) continue;
      void reader.cancel().catch(() => {});
      return 'too-large';
    }
  }

  /** Returns the request for the server: with the body that was read, or the original if it was not. */
  async forServer(): Promise<Request> {
    const body = await this.#reading;
    const { method } = this.#request;
    return body instanceof Blob ? new Request(this.#request, { method, body }) : this.#request;
  }

  get method(): string {
    return this.#request.method;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  get headers(): readonly (readonly [string, string])[] {
    return [...this.#request.headers];
  }
}
