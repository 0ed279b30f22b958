/** What the server reads of a request. A `Request` has all of it. */
export interface HttpRequest extends Pick<Request, 'method' | 'url' | 'headers' | 'signal' | 'body' | 'arrayBuffer'> {
  /** The body, if it was read before the request was looked at. */
  readonly whole?: ArrayBuffer;
}

/**
 * What the server answers. It becomes a `Response` for those who call `ModelServer.fetch`; Node's server sends it as it
 * is, because a small answer takes longer to be made a `Response`, and read from it, than to be sent.
 */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: BufferSource | Blob | ReadableStream<Uint8Array> | null;
}

/** Returns the response with an answer. */
export function toResponse({ body, status, headers }: HttpResponse): Response {
  return new Response(body, { status, headers });
}
