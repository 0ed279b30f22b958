/** A request whose body is read at most once, and kept: another page, or the server, may need it after the first page is lost. */
export class KeptRequest {
  readonly #request: Request;
  #reading: Promise<Blob | undefined> | undefined;

  constructor(request: Request) {
    this.#request = request;
  }

  /** Returns the body, or undefined if the request has none. A Blob crosses to a page by reference. */
  body(): Promise<Blob | undefined> {
    const { method } = this.#request;
    this.#reading ??= method === 'GET' || method === 'HEAD' ? Promise.resolve(undefined) : this.#request.blob();
    return this.#reading;
  }

  /** Returns the request for the server: the original if its body is unread, else the same with the kept body. */
  async forServer(): Promise<Request> {
    const body = await this.#reading;
    const { method } = this.#request;
    return body ? new Request(this.#request, { method, body }) : this.#request;
  }

  get headers(): readonly (readonly [string, string])[] {
    return [...this.#request.headers];
  }
}
