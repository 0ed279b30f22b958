import type { IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import * as zlib from 'node:zlib';
import type { ByteStreams, HttpRequest } from '../../http/messages.js';

/** The methods that no `Request` may have. */
const FORBIDDEN = new Set(['CONNECT', 'TRACE', 'TRACK']);

/** Node 22 has zstd; Node 20 has none. */
const { createBrotliDecompress, createZstdDecompress } = zlib as Pick<typeof zlib, 'createBrotliDecompress'> & {
  readonly createZstdDecompress?: () => Duplex;
};
const toWeb = (open: () => Duplex) => (): ByteStreams => Duplex.toWeb(open()) as ByteStreams;
const DECODERS: ReadonlyMap<string, () => ByteStreams> = new Map([
  ['br', toWeb(createBrotliDecompress)],
  ...(createZstdDecompress ? [['zstd', toWeb(createZstdDecompress)] as const] : []),
]);

/**
 * A request of `node:http`, as the server reads it. Making a `Request` of a small one would take as long as answering
 * it.
 */
export class NodeRequest implements HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly signal: AbortSignal;
  readonly whole?: ArrayBuffer;
  readonly decoders = DECODERS;
  #body: ReadableStream<Uint8Array<ArrayBuffer>> | null;

  /**
   * @param path with its query
   * @param body whole, or as a stream
   * @throws TypeError if a `Request` cannot have this method, path or headers
   */
  constructor(
    { method = 'GET', headersDistinct }: Pick<IncomingMessage, 'method' | 'headersDistinct'>,
    path: string,
    signal: AbortSignal,
    body: ArrayBuffer | ReadableStream<Uint8Array<ArrayBuffer>> | null,
  ) {
    if (!path.startsWith('/') || FORBIDDEN.has(method)) throw new TypeError('This is no request for a server.');
    this.method = method;
    // The routes read only the path. A path may begin with two slashes.
    this.url = new URL(`http://localhost${path}`).href;
    this.headers = new Headers();
    for (const [name, values = []] of Object.entries(headersDistinct))
      for (const value of values) this.headers.append(name, value);
    this.signal = signal;
    this.#body = body instanceof ArrayBuffer ? null : body;
    if (body instanceof ArrayBuffer) this.whole = body;
  }

  /** The body as a stream, the same one at each access. */
  get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    if (this.whole) this.#body ??= new Response(this.whole).body;
    return this.#body;
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.whole ?? (await new Response(this.#body).arrayBuffer());
  }

  /** Ends the body's stream if nobody reads it. */
  async end(): Promise<void> {
    if (this.#body && !this.#body.locked) await this.#body.cancel();
  }
}
