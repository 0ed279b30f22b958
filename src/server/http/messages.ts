import type { OnArrayBuffer } from '../../contract/tensors.js';

/** What decodes bytes, such as a `DecompressionStream`. */
export type ByteStreams = ReadableWritablePair<OnArrayBuffer<Uint8Array>, OnArrayBuffer<Uint8Array>>;

/** The part of a `Request` that the server reads. */
export interface HttpRequest extends Pick<Request, 'method' | 'url' | 'headers' | 'signal' | 'body' | 'arrayBuffer'> {
  /** The body, if it was read before the request was handled. */
  readonly whole?: ArrayBuffer;
  /** What decodes a compressed body, beside `gzip` and `deflate`, by the name of the encoding. */
  readonly decoders?: ReadonlyMap<string, () => ByteStreams>;
}

/**
 * What the server answers. It becomes a `Response` for those who call `ModelServer.fetch`; Node's server sends it as it
 * is, because converting a small answer to a `Response`, and reading it again, takes longer than sending it.
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
