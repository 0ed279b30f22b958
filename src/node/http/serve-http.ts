import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TabServeError } from '../../contract/errors.js';
import type { GuardOptions } from './guard.js';
import { relay } from './relay.js';

/** Where and how to listen. */
export interface HttpOptions extends GuardOptions {
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
  /** Milliseconds within which a request must have arrived whole. */
  readonly timeout: number;
}

/** A server that listens. */
export interface HttpServer {
  readonly url: string;
  /** Accepts no more connections, and waits for the answers that are under way, for a limited time. */
  close(): Promise<void>;
}

/** How long a client may take to send the headers of a request, and how long an idle connection is kept. */
const HEADERS_MS = 10_000;
const KEEP_ALIVE_MS = 5_000;
/** How often the limits of time are checked. */
const CHECK_MS = 1_000;
const MOST_CONNECTIONS = 1_000;
/** How long answers that are under way may take when the server ends. */
const FINISH_MS = 10_000;

/** Listens, and answers requests. @throws `network` if the port or the address cannot be had */
export async function serveHttp(
  answer: (request: Request) => Promise<Response>,
  { host, port, timeout, ...options }: HttpOptions,
): Promise<HttpServer> {
  let isClosing = false;
  const limits = {
    headersTimeout: Math.min(HEADERS_MS, timeout),
    requestTimeout: timeout,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: CHECK_MS,
  };
  const server = createServer(limits, (incoming, outgoing) => {
    if (isClosing) outgoing.setHeader('connection', 'close');
    relay(incoming, outgoing, answer, options).catch(() => outgoing.destroy());
  });
  server.maxConnections = MOST_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(notListening(cause, host, port)));
    server.listen(port, host, resolve);
  });
  const { address, family, port: actual } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${actual}`,
    async close() {
      isClosing = true;
      const ended = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), FINISH_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}

function notListening(cause: NodeJS.ErrnoException, host: string, port: number): TabServeError {
  const why =
    cause.code === 'EADDRINUSE'
      ? 'another program listens there. Pass another --port; 0 takes any that is free.'
      : `${cause.message}.`;
  return new TabServeError('network', `The server cannot listen on ${host}, port ${port}: ${why}`, { cause });
}
