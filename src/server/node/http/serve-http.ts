import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Server, type AddressInfo, type Socket } from 'node:net';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { TabServeError } from '../../../contract/errors.js';
import type { HttpRequest, HttpResponse } from '../../http/messages.js';
import type { GuardOptions } from './guard.js';
import { BufferedBodies } from './buffered-bodies.js';
import { respond } from './respond.js';
import { refuseUnreadable } from './unreadable-request.js';

/** Where and how to listen. */
export interface HttpOptions extends GuardOptions {
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
  /** Milliseconds within which a request must have arrived completely. */
  readonly timeout: number;
  /** Is called with each request when its headers have come. */
  readonly onRequest?: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
}

/** A server that listens. */
export interface HttpServer {
  readonly url: string;
  /**
   * Accepts no more connections, waits for the answers that are under way, and ends each connection after its answer;
   * an idle one after its promised keep-alive time.
   * @param onLate is called if answers are still under way after ten seconds, to end them: what has not ended when two
   *   seconds pass without the end of any, is cut off, and so is everything after ten more seconds
   */
  close(onLate?: () => void): Promise<void>;
}

/** How long a client may take to send the headers of a request, and how long an idle connection is kept alive. */
const HEADERS_MS = 10_000;
const KEEP_ALIVE_MS = 5_000;
/** How long a client may read nothing of an answer, which the server buffers until then. */
const STALLED_MS = 30_000;
/** The maximum number of requests that a client may send ahead of their answers, on one connection (pipelining). */
const MAX_AHEAD = 100;
/** How often the time limits are checked. */
const CHECK_MS = 1_000;
/**
 * The maximum number of connections; more are reset. Each takes about 20 kB. The memory of requests has limits of its
 * own.
 */
const MAX_CONNECTIONS = 10_000;
/** Connections that wait to be accepted: Linux takes no more than `net.core.somaxconn`, which is 4096. */
const BACKLOG = 4_096;
/** How long answers that are under way may take when the server ends. */
const FINISH_MS = 10_000;
/** How long none of them may end after `onLate`, and how often that is granted. A busy machine sends them slowly. */
const LATE_MS = 2_000;
const MAX_LATE_WAITS = 5;
/**
 * Idle time before the listener closes: nobody connects, and no answer ends. After this many waits, one idle turn of the
 * event loop is enough.
 */
const QUIET_MS = 100;
const MAX_WAITS = 20;

/** Listens, and answers requests. @throws `network` if the port or the address cannot be had */
export async function serveHttp(
  answer: (request: HttpRequest) => Promise<HttpResponse>,
  { host, port, timeout, onRequest, ...options }: HttpOptions,
): Promise<HttpServer> {
  let isClosing = false;
  /** While the server closes its listener, answers wait, so that clients do not connect again after an answer. */
  let stopped: Promise<void> | undefined;
  const limits = {
    headersTimeout: Math.min(HEADERS_MS, timeout),
    requestTimeout: timeout,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: CHECK_MS,
    // `respond` refuses a request without it, in words.
    requireHostHeader: false,
  };
  const bodies = new BufferedBodies();
  const answers = new Set<ServerResponse>();
  /** Requests without an answer, by their connection. */
  const unanswered = new WeakMap<Socket, number>();
  /** Counts connections that were accepted, and answers that were sent. */
  let events = 0;
  const server = createServer(limits, (incoming, outgoing) => {
    const { socket } = incoming;
    const ahead = (unanswered.get(socket) ?? 0) + 1;
    if (ahead > MAX_AHEAD) return void socket.destroy();
    unanswered.set(socket, ahead);
    onRequest?.(incoming, outgoing);
    answers.add(outgoing);
    outgoing.once('close', () => {
      answers.delete(outgoing);
      unanswered.set(socket, unanswered.get(socket)! - 1);
      events += 1;
    });
    if (isClosing) outgoing.shouldKeepAlive = false;
    outgoing.setTimeout(Math.min(STALLED_MS, timeout), () => {
      if (outgoing.writableLength > 0) outgoing.destroy();
    });
    respond(incoming, outgoing, answerLater, { ...options, bodies }).catch(() => outgoing.destroy());
  });
  const answerLater = async (request: HttpRequest): Promise<HttpResponse> => {
    const response = await answer(request);
    await stopped;
    return response;
  };
  server.on('connection', () => void (events += 1));
  server.on('clientError', (error, socket) => refuseUnreadable(error, socket, answers));
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(notListening(cause, host, port)));
    server.listen({ port, host, backlog: BACKLOG }, resolve);
  });
  /** Resolves as soon as no connection waits to be accepted: the system would reset it. */
  const untilNobodyConnects = async (): Promise<void> => {
    for (let waits = 0, before = -1; events !== before; waits++) {
      before = events;
      if (waits < MAX_WAITS) await wait(QUIET_MS);
      // Node continues in the same turn in which it has accepted a waiting connection.
      await setImmediate();
    }
  };
  const { address, family, port: actual } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${actual}`,
    async close(onLate = () => {}) {
      isClosing = true;
      for (const outgoing of answers) outgoing.shouldKeepAlive = false;
      stopped = untilNobodyConnects();
      await stopped;
      // `http.Server` would reset idle connections, and check no more limits. Each was promised `KEEP_ALIVE_MS`, and
      // its next request may be on its way: Node ends it when that time is over.
      const ended = new Promise((resolve) => Server.prototype.close.call(server, resolve));
      // One after the other: a process that was held up would run both at once, and cut off what it has just told to end.
      let timer = setTimeout(() => {
        onLate();
        const cutOff = (waits: number, before: number): void => {
          timer = setTimeout(() => {
            if (answers.size === before || waits === MAX_LATE_WAITS) server.closeAllConnections();
            else cutOff(waits + 1, answers.size);
          }, LATE_MS);
        };
        cutOff(1, answers.size);
      }, FINISH_MS);
      await ended;
      clearTimeout(timer);
      server.close();
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
