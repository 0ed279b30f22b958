/** The request over HTTP that brought a row, as data. */
export interface HttpRequestData {
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** What follows the model's version in the path, decoded and without a slash in front; empty if nothing does. */
  readonly path: string;
  /** The query without its question mark; empty if there is none. */
  readonly query: string;
}

/** The request over HTTP that brought a row, as a handler reads it. */
export interface HttpRequest {
  readonly headers: Headers;
  /**
   * What follows the model's version in the path, decoded and without a slash in front, such as `v1/embeddings` of
   * `/predictions/m/1.0/v1/embeddings`; empty if nothing does.
   */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** What a handler says of the answer over HTTP to a row. */
export interface HttpAnswer {
  /** 200 to 599. @default 200 */
  readonly status?: number;
  /** They replace the server's own, such as `Content-Type`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request over HTTP, and a listener for what the handler says of its answer. */
export interface HttpExchange {
  readonly request: HttpRequestData;
  /** Called with what the handler says of the answer, before the answer itself or its first part. */
  readonly onAnswer: (answer: HttpAnswer) => void;
}
