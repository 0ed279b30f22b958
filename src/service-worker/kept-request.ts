/** A request whose body is read at most once, and kept: another page, or the server, may need it after the first page is lost. */
export class KeptRequest {
  readonly #request: Request;
  readonly #most: number;
  #reading: Promise<Blob | 'too-large' | undefined> | undefined;

  /** @param most bytes of a body that is kept */
  constructor(request: Request, most: number) {
    this.#request = request;
    this.#most = most;
  }

  /** Returns the body; undefined if the request has none. A Blob crosses to a page by reference. */
  body(): Promise<Blob | 'too-large' | undefined> {
    const { method } = this.#request;
    this.#reading ??= method === 'GET' || method === 'HEAD' ? Promise.resolve(undefined) : this.#read();
    return this.#reading;
  }

  /** Reads a copy, so that a body that is too large still flows to the server, and is nowhere in memory as a whole. */
  async #read(): Promise<Blob | 'too-large'> {
    const copy = this.#request.clone();
    const type = copy.headers.get('content-type') ?? '';
    const parts: BlobPart[] = [];
    let size = 0;
    // Firefox has no stream of a request's body.
    const reader = copy.body?.getReader();
    if (!reader) {
      const body = await copy.blob();
      return body.size > this.#most ? 'too-large' : body;
    }
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return new Blob(parts, { type });
      parts.push(value);
      size += value.byteLength;
      if (size <= this.#most) continue;
      void reader.cancel().catch(() => {});
      return 'too-large';
    }
  }

  /** Returns the request for the server: the original if its body is not kept, else the same with the kept body. */
  async forServer(): Promise<Request> {
    const body = await this.#reading;
    const { method } = this.#request;
    return body instanceof Blob ? new Request(this.#request, { method, body }) : this.#request;
  }

  get headers(): readonly (readonly [string, string])[] {
    return [...this.#request.headers];
  }
}
