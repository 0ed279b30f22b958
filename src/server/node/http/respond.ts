import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { GrowingBytes } from '../../../shared/growing-bytes.js';
import type { BufferedBodies } from './buffered-bodies.js';
import { guard, preflightHeaders, type GuardOptions } from './guard.js';
import { NodeRequest } from './node-request.js';
import type { HttpRequest, HttpResponse } from '../../http/messages.js';

/** Limits for reading the rest of a body whose request was answered before its end: bytes, and milliseconds. */
const MAX_DRAINED = 2 ** 26;
const DRAIN_MS = 5000;

/**
 * Answers a request of `node:http`. Never rejects.
 * @param bodies those that the server is receiving
 */
export async function respond(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answer: (request: HttpRequest) => Promise<HttpResponse>,
  { bodies, ...options }: GuardOptions & { readonly bodies: BufferedBodies },
): Promise<void> {
  const { host, path } = targetOf(incoming);
  // A proxy may have read another one of several.
  if ((incoming.headersDistinct['host']?.length ?? 0) > 1)
    return await refuse(incoming, outgoing, 400, 'The request has more than one header Host.');
  if (host === undefined && incoming.httpVersion !== '1.0')
    return await refuse(incoming, outgoing, 400, 'The request has no header Host, which HTTP/1.1 asks for.');
  const access = guard({ ...incoming.headers, host }, options);
  if (!access.allowed) return await refuse(incoming, outgoing, 403, access.why);
  for (const [name, value] of Object.entries(access.headers)) outgoing.setHeader(name, value);
  if (incoming.method === 'OPTIONS' && incoming.headers['access-control-request-method'] !== undefined) {
    outgoing.writeHead(204, preflightHeaders(incoming.headers)).end();
    return;
  }
  const gone = new AbortController();
  outgoing.once('close', () => {
    // A request that has ended well needs no abort, which would take as long as the rest of a small request.
    if (!outgoing.writableFinished) gone.abort(new Error('The client has closed the connection.'));
  });
  const hasBody = incoming.method !== 'GET' && incoming.method !== 'HEAD';
  const body = hasBody ? ((await smallBody(incoming, bodies)) ?? bodyOf(incoming, bodies)) : null;
  const request = requestOf(incoming, path, gone.signal, body);
  if (!request)
    return await refuse(incoming, outgoing, 400, 'The request has no path, or a method or a header that is not valid.');
  const response = await answer(request);
  await request.end();
  await send(response, incoming, outgoing);
}

/**
 * Returns whom a request is meant for, and its path with its query. In a request line with a whole URL, as for a proxy,
 * the URL's host counts, and not the header's.
 */
function targetOf({ url = '', headers }: IncomingMessage): {
  readonly host: string | undefined;
  readonly path: string;
} {
  const [, host, path = ''] = /^http:\/\/([^/?#]*)(.*)$/i.exec(url) ?? [];
  return host === undefined ? { host: headers.host, path: url } : { host, path: path.replace(/^(?!\/)/, '/') };
}

/** Returns undefined if it cannot be one. */
function requestOf(...parts: ConstructorParameters<typeof NodeRequest>): NodeRequest | undefined {
  try {
    return new NodeRequest(...parts);
  } catch {
    return undefined;
  }
}

/** A body of at most this many bytes is read completely before the request is handled: a stream would cost more. */
const SMALL = 2 ** 18;

/**
 * Returns a small body; undefined for a large one, and for one without a declared size. Returns a failing stream for a
 * body that is cut off, or evicted from `bodies`.
 */
async function smallBody(
  incoming: IncomingMessage,
  bodies: BufferedBodies,
): Promise<ArrayBuffer | ReadableStream<Uint8Array<ArrayBuffer>> | undefined> {
  const size = Number(incoming.headers['content-length'] ?? NaN);
  if (!(size > 0 && size <= SMALL)) return undefined;
  const bytes = new GrowingBytes();
  let counted!: ReturnType<BufferedBodies['begin']>;
  const failure = await new Promise<unknown>((resolve) => {
    counted = bodies.begin(resolve);
    incoming.on('data', (chunk: Buffer) => {
      // The received bytes count, not the announced ones.
      counted.add(chunk.byteLength);
      bytes.append(chunk);
    });
    incoming.once('end', () => resolve(undefined));
    incoming.once('error', resolve);
    incoming.once('close', () => resolve(new Error('The body ends early.')));
  });
  counted.end();
  if (failure === undefined) return bytes.take().buffer;
  return new ReadableStream({ start: (controller) => controller.error(failure) });
}

/** How many bytes of a body are buffered for its reader. */
const MAX_BUFFERED_BYTES = 2 ** 16;

/**
 * Returns a body as a stream. Chunks that come together are merged: a client may send a million of a single byte each.
 * Unlike `Readable.toWeb`, cancelling it does not end the connection, on which the answer is still to be sent.
 */
function bodyOf(incoming: IncomingMessage, bodies: BufferedBodies): ReadableStream<Uint8Array<ArrayBuffer>> {
  const buffered = new GrowingBytes();
  let isOpen = true;
  let counted: ReturnType<BufferedBodies['begin']>;
  let delivery: NodeJS.Immediate | undefined;
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      const deliver = (): void => {
        delivery = undefined;
        if (isOpen && buffered.length > 0) controller.enqueue(buffered.take());
      };
      const end = (act: () => void): void => {
        clearImmediate(delivery);
        deliver();
        if (isOpen) act();
        isOpen = false;
        counted.end();
      };
      counted = bodies.begin((why) => end(() => controller.error(why)));
      incoming.on('data', (chunk: Buffer) => {
        if (!isOpen) return;
        buffered.append(chunk);
        counted.add(chunk.byteLength);
        // Node has one event for each chunk that it reads at once.
        delivery ??= setImmediate(deliver);
        if (buffered.length >= MAX_BUFFERED_BYTES || controller.desiredSize! <= 0) incoming.pause();
      });
      incoming.once('end', () => end(() => controller.close()));
      incoming.once('error', (error) => end(() => controller.error(error)));
      incoming.once('close', () => end(() => controller.error(new Error('The body ends early.'))));
      incoming.pause();
    },
    pull: () => void incoming.resume(),
    cancel() {
      isOpen = false;
      counted.end();
      incoming.pause();
    },
  });
}

async function send(
  { status, headers, body }: HttpResponse,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  // If both the guard and a handler say who may read the answer, the guard's header counts, because a browser accepts
  // only one.
  const isGuarded = (name: string): boolean => name.startsWith('access-control-') && outgoing.hasHeader(name);
  for (const [name, value] of headers) if (!isGuarded(name)) outgoing.appendHeader(name, value);
  if (isUnread(incoming)) {
    const whole = Buffer.from(await new Response(body).arrayBuffer());
    return outgoing.destroyed ? undefined : await answerEarly(incoming, outgoing, status, whole);
  }
  outgoing.writeHead(status);
  if (incoming.method === 'HEAD') {
    if (body instanceof ReadableStream) void body.cancel();
    outgoing.end();
  } else if (body instanceof Blob || body instanceof ReadableStream) {
    const stream = body instanceof Blob ? body.stream() : body;
    // The client may go away, or a streamed answer may fail in its middle: then the connection is closed.
    await pipeline(Readable.fromWeb(stream as never), outgoing).catch(() => outgoing.destroy());
  } else outgoing.end(body && bytesOf(body));
}

/** Returns bytes in the same memory. */
function bytesOf(source: BufferSource): Uint8Array {
  return ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
}

async function refuse(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  code: number,
  message: string,
): Promise<void> {
  const type = code === 403 ? 'ForbiddenException' : 'BadRequestException';
  outgoing.setHeader('content-type', 'application/json');
  const body = Buffer.from(JSON.stringify({ code, type, message }));
  if (isUnread(incoming)) return await answerEarly(incoming, outgoing, code, body);
  outgoing.writeHead(code).end(body);
}

/** Returns whether the client may still be sending the body. */
function isUnread({ complete, destroyed }: IncomingMessage): boolean {
  return !complete && !destroyed;
}

/**
 * Answers a request whose body has not been read to its end. The client gets the whole answer at once. The connection
 * stays open for what the client is still sending, within a limit, because a client that is cut off while it sends may
 * lose the answer.
 */
async function answerEarly(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  status: number,
  body: Buffer,
): Promise<void> {
  outgoing.writeHead(status, { connection: 'close', 'content-length': body.length });
  outgoing.write(body);
  await new Promise<void>((resolve) => {
    let size = 0;
    const timer = setTimeout(resolve, DRAIN_MS);
    const end = (): void => {
      clearTimeout(timer);
      resolve();
    };
    incoming.on('data', ({ length }: Buffer) => {
      size += length;
      if (size > MAX_DRAINED) end();
    });
    for (const event of ['end', 'error', 'close']) incoming.once(event, end);
    // The body's stream would not deliver what nobody reads.
    incoming.on('pause', () => incoming.resume());
    incoming.resume();
  });
  outgoing.end();
}
