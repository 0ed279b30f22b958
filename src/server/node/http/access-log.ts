import type { IncomingMessage, ServerResponse } from 'node:http';

/** The forms of a line: Apache's Common Log Format, or JSON. */
export const LOG_FORMATS = ['common', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** An answered request. */
interface Entry {
  readonly time: Date;
  readonly address: string;
  readonly method: string;
  readonly path: string;
  readonly protocol: string;
  /** 0 if the connection was closed before there was an answer. */
  readonly status: number;
  /** Of the body. */
  readonly bytes: number;
  /** From the request's headers until the last byte of the answer. */
  readonly milliseconds: number;
  readonly requestId: string | undefined;
}

/**
 * Returns what writes a line for each request when its answer was sent, or its connection closed.
 * @param write gets a line without its end
 */
export function accessLog(
  format: LogFormat,
  write: (line: string) => void,
): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const lineOf = format === 'json' ? (entry: Entry) => JSON.stringify(entry) : commonLine;
  return (incoming, outgoing) => {
    const time = new Date();
    const started = performance.now();
    const { method = '-', url = '-', httpVersion } = incoming;
    const address = incoming.socket.remoteAddress ?? '-';
    const counted = countBytes(outgoing);
    outgoing.once('close', () =>
      write(
        lineOf({
          time,
          address,
          method,
          path: url,
          protocol: `HTTP/${httpVersion}`,
          status: outgoing.headersSent ? outgoing.statusCode : 0,
          bytes: counted(),
          milliseconds: Math.round((performance.now() - started) * 10) / 10,
          requestId: outgoing.getHeader('x-request-id')?.toString(),
        }),
      ),
    );
  };
}

/** Counts the bytes of an answer's body. Returns how many there are so far. */
function countBytes(outgoing: ServerResponse): () => number {
  let bytes = 0;
  const count = (chunk: unknown): void => {
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) bytes += Buffer.byteLength(chunk);
  };
  for (const method of ['write', 'end'] as const) {
    const original = outgoing[method].bind(outgoing) as (...args: unknown[]) => never;
    outgoing[method] = (...args: unknown[]): never => {
      count(args[0]);
      return original(...args);
    };
  }
  return () => bytes;
}

/** Returns a line such as `127.0.0.1 - - [28/Nov/2026:06:31:40 +0000] "GET /ping HTTP/1.1" 200 20`. */
function commonLine({ time, address, method, path, protocol, status, bytes }: Entry): string {
  const [, day, month, year, clock] = /^\w+, (\d+) (\w+) (\d+) (\S+)/.exec(time.toUTCString())!;
  // A path has no quotes, but what a client sends as a path may have some.
  const asked = `${method} ${path} ${protocol}`.replace(/["\\]/g, (character) => `\\${character}`);
  return `${address} - - [${day}/${month}/${year}:${clock} +0000] "${asked}" ${status} ${bytes === 0 ? '-' : bytes}`;
}
