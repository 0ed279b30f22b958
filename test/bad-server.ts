import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

/**
 * How the server misbehaves on one request for a file. A request takes the first behavior in its file's list, and the
 * last one stays.
 *
 * - `ok`: as a good server does, with ranges and validators.
 * - `cut`: closes the connection after so many bytes of what it sends.
 * - `stall`: sends so many bytes, and then nothing.
 * - `length`: says this Content-Length, and closes the connection after the file.
 * - `flip`: flips a bit of one byte.
 * - `slow`: sends so many pieces, one each so many milliseconds.
 * - `status`: answers with a status, without the file.
 * - `changed`: has another version of the file, as long, with other validators.
 * - `no-ranges`: answers a request for a range with the whole file.
 * - `other-range`: answers with another range than the one that was asked for.
 * - `redirect`: answers 302.
 * - `gzip`: compresses, with a Content-Length or without; it may cut, too.
 * - `chunked`: sends no Content-Length.
 * - `type`: with this Content-Type.
 */
export type Behavior =
  | { readonly kind: 'ok' | 'changed' | 'no-ranges' | 'other-range' | 'chunked' }
  | { readonly kind: 'cut' | 'stall' | 'flip'; readonly at: number }
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'slow'; readonly pieces: number; readonly everyMs: number }
  | { readonly kind: 'status'; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: 'redirect'; readonly to: string }
  | { readonly kind: 'gzip'; readonly length: boolean; readonly cut?: number }
  | { readonly kind: 'type'; readonly type: string };

/** A request as the server got it. */
export interface Seen {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Milliseconds. */
  readonly at: number;
}

export interface BadServerOptions {
  /** The files, by path. */
  readonly files: Readonly<Record<string, Buffer>>;
  /** Which validators it sends. @default both */
  readonly validators?: 'etag' | 'weak-etag' | 'last-modified' | 'none' | 'both';
  /** Headers of each answer, e.g. for CORS. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A server that misbehaves on command. */
export class BadServer {
  readonly seen: Seen[] = [];
  /** Requests of browsers that ask for permission (CORS). */
  preflights = 0;
  readonly #plans = new Map<string, Behavior[]>();
  readonly #server: Server;
  readonly #options: BadServerOptions;

  private constructor(options: BadServerOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  static async start(options: BadServerOptions): Promise<BadServer> {
    const server = new BadServer(options);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Sets how the next requests for a file are answered. */
  plan(path: string, ...behaviors: Behavior[]): void {
    this.#plans.set(path, behaviors);
  }

  /** The requests for a file so far. */
  requestsFor(path: string): readonly Seen[] {
    return this.seen.filter((one) => one.path === path);
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer({ url, method, headers }: IncomingMessage, response: ServerResponse): void {
    const path = new URL(url!, 'http://localhost').pathname;
    for (const [name, value] of Object.entries(this.#options.headers ?? {})) response.setHeader(name, value);
    if (method === 'OPTIONS') {
      this.preflights += 1;
      return void response.writeHead(204).end();
    }
    this.seen.push({ path, headers, at: performance.now() });
    const plan = this.#plans.get(path) ?? [];
    const behavior = (plan.length > 1 ? plan.shift() : plan[0]) ?? { kind: 'ok' };
    const file = this.#options.files[path];
    if (behavior.kind === 'status') return void response.writeHead(behavior.status, behavior.headers).end('no file');
    if (behavior.kind === 'redirect') return void response.writeHead(302, { Location: behavior.to }).end();
    if (!file) return void response.writeHead(404, { 'Content-Type': 'text/plain' }).end('no file');
    this.#send(file, behavior, headers, response);
  }

  #send(file: Buffer, behavior: Behavior, asked: IncomingMessage['headers'], response: ServerResponse): void {
    const version = behavior.kind === 'changed' ? Buffer.from(file.map((byte) => byte ^ 255)) : file;
    const validators = this.#validators(version, behavior.kind === 'changed');
    for (const [name, value] of Object.entries(validators)) response.setHeader(name, value);
    response.setHeader('Content-Type', behavior.kind === 'type' ? behavior.type : 'application/octet-stream');
    const known = asked['if-none-match'] ?? asked['if-modified-since'];
    if (known !== undefined && Object.values(validators).includes(known)) return void response.writeHead(304).end();
    let body = version;
    if (behavior.kind === 'gzip') {
      body = gzipSync(version);
      response.setHeader('Content-Encoding', 'gzip');
    } else if (behavior.kind !== 'no-ranges') {
      response.setHeader('Accept-Ranges', 'bytes');
      const from = Number(/^bytes=(\d+)-$/.exec(asked.range ?? '')?.[1] ?? NaN);
      const fresh = !asked['if-range'] || Object.values(validators).includes(asked['if-range'] as string);
      if (!Number.isNaN(from) && fresh) {
        const start = behavior.kind === 'other-range' ? from - 1 : from;
        response.statusCode = 206;
        response.setHeader('Content-Range', `bytes ${start}-${version.length - 1}/${version.length}`);
        body = version.subarray(start);
      }
    }
    const chunked = behavior.kind === 'chunked' || (behavior.kind === 'gzip' && !behavior.length);
    if (!chunked) response.setHeader('Content-Length', behavior.kind === 'length' ? behavior.length : body.length);
    if (behavior.kind === 'flip') {
      body = Buffer.from(body);
      body[behavior.at]! ^= 1;
    }
    if (behavior.kind === 'gzip' && behavior.cut !== undefined)
      response.write(body.subarray(0, behavior.cut), () => response.destroy());
    else if (behavior.kind === 'cut' || behavior.kind === 'length')
      response.write(behavior.kind === 'cut' ? body.subarray(0, behavior.at) : body, () => response.destroy());
    else if (behavior.kind === 'stall') response.write(body.subarray(0, behavior.at));
    else if (behavior.kind === 'slow') trickle(body, behavior, response);
    else {
      // A body that is written before its end has no Content-Length of Node's own.
      response.write(body);
      response.end();
    }
  }

  #validators(version: Buffer, changed: boolean): Record<string, string> {
    const { validators = 'both' } = this.#options;
    const hash = createHash('sha256').update(version).digest('hex').slice(0, 16);
    const date = changed ? 'Tue, 02 Jan 2024 00:00:00 GMT' : 'Mon, 01 Jan 2024 00:00:00 GMT';
    return {
      ...((validators === 'etag' || validators === 'both') && { ETag: `"${hash}"` }),
      ...(validators === 'weak-etag' && { ETag: `W/"${hash}"` }),
      ...((validators === 'last-modified' || validators === 'both') && { 'Last-Modified': date }),
    };
  }
}

function trickle(
  body: Buffer,
  { pieces, everyMs }: { pieces: number; everyMs: number },
  response: ServerResponse,
): void {
  let sent = 0;
  const timer = setInterval(() => {
    const from = Math.floor((body.length * sent) / pieces);
    response.write(body.subarray(from, Math.floor((body.length * ++sent) / pieces)));
    if (sent < pieces) return;
    clearInterval(timer);
    response.end();
  }, everyMs);
}
