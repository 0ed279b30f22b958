import { expose, type Endpoint } from 'comlink';
import { errorToData } from '../../contract/error-data.js';
import { asTabServeError, PredictionError } from '../../contract/errors.js';
import type { ModelInfo } from '../../contract/handler.js';
import type {
  Envelope,
  HandleAnswer,
  HandleRequest,
  PartMessage,
  SessionState,
  WorkerApi,
} from '../../contract/wire.js';
import type { RanRequest, Requester } from '../requester.js';
import type { SequenceState } from '../requests/job.js';
import { Parts } from '../requests/parts.js';
import type { Description } from '../options.js';
import { closePictures } from './pack.js';

/** The session of a host: a client of its own, which only the share knows. */
export interface SharedSession {
  readonly requester: Pick<Requester, 'send'>;
  describe(): Promise<Description>;
  ping(): Promise<number>;
}

/** How long the last answer of a host that leaves may be on its way, in milliseconds: the lock that it then releases takes another way. */
export const ANSWER_MS = 50;

/** A request of a guest that is not answered yet. */
interface Running {
  readonly stop: AbortController;
  readonly stream: Stream | undefined;
}

/** Serves one client of a share, the host's own or another tab's: what it sends goes into the queue of the host's session. */
export class Relay {
  readonly #session: SharedSession;
  /** How many clients share the session. */
  readonly #clients: () => number;
  readonly #running = new Map<string, Running>();
  /** When the last answer was sent, by `performance.now()`. */
  #answeredAt = -Infinity;
  #isLeaving = false;
  /** Called when the last running request has ended. */
  #onIdle = (): void => {};

  constructor(session: SharedSession, clients: () => number) {
    this.#session = session;
    this.#clients = clients;
  }

  /** Answers the calls that come through a port or a channel. */
  serve(calls: Endpoint): void {
    const send = (message: PartMessage): void => calls.postMessage(message);
    const api: Pick<WorkerApi, 'handle' | 'cancel' | 'more' | 'describe' | 'ping'> = {
      handle: (requests) => Promise.all(requests.map((one) => enveloped(() => this.#handle(one, send)))),
      cancel: (id) => this.#running.get(id)?.stop.abort(),
      more: (id) => this.#running.get(id)?.stream?.more(),
      describe: () => enveloped(() => this.#describe()),
      ping: () => enveloped(async () => void (await this.#session.ping())),
    };
    expose(api, calls);
  }

  /** Waits until every running request has ended, and its answer has arrived. Later ones are left unanswered, for the next host. */
  async drain(): Promise<void> {
    this.#isLeaving = true;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      if (this.#running.size === 0) resolve();
    });
    const left = this.#answeredAt + ANSWER_MS - performance.now();
    if (left > 0) await new Promise((resolve) => setTimeout(resolve, left));
  }

  /** Drops the requests of a client that has ended. */
  close(): void {
    for (const { stop } of this.#running.values()) stop.abort();
  }

  async #handle(batch: HandleRequest, send: (message: PartMessage) => void): Promise<HandleAnswer> {
    if (this.#isLeaving) return await new Promise(() => {});
    const { id, request, rows, params, room, sequenceIds, states, terms } = batch;
    const stop = new AbortController();
    const stream =
      room === undefined
        ? undefined
        : new Stream(room, request === 'explain', (part) => send({ type: 'part', id, part }));
    this.#running.set(id, { stop, stream });
    const held: SequenceState | undefined =
      sequenceIds?.[0] === undefined ? undefined : { id: sequenceIds[0], state: states?.[0] };
    let ran: RanRequest | undefined;
    try {
      const options = { params: params[0]!, priority: terms?.priority ?? 0, signal: stop.signal };
      const answers = await this.#session.requester.send(rows, options, {
        request,
        exclusive: terms?.exclusive ?? false,
        isReplay: terms?.isReplay ?? false,
        ...(stream && { streamed: { parts: stream.parts, stop: stop.signal } }),
        ...(held && { sequence: { held, ended: stop.signal } }),
        onRan: (one) => (ran = one),
      });
      await stream?.drained(stop.signal);
      return {
        rows: answers.map((value) =>
          value instanceof PredictionError ? { ok: false, error: errorToData(value) } : { ok: true, value },
        ),
        ...(ran ?? { timings: {}, handlerTime: 0, memory: 0 }),
        ...(held && { states: [held.state === states?.[0] ? undefined : held.state] }),
      };
    } finally {
      this.#running.delete(id);
      closePictures(rows);
      this.#answeredAt = performance.now();
      if (this.#running.size === 0) this.#onIdle();
    }
  }

  async #describe(): Promise<ModelInfo & { readonly session: SessionState }> {
    const description = await this.#session.describe();
    const { workers, jobQueueStatus, metrics } = description;
    return { ...description, session: { workers, jobQueueStatus, metrics, clients: this.#clients() } };
  }
}

async function enveloped<T>(work: () => Promise<T>): Promise<Envelope<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, error: errorToData(asTabServeError(error)) };
  }
}

/** Passes the parts of one answer on, as long as the client has room for them. */
class Stream {
  readonly parts: Parts;
  readonly #send: (part: unknown) => void;
  #room: number;
  #onDrained: (() => void) | undefined;

  constructor(room: number, restarts: boolean, send: (part: unknown) => void) {
    this.#room = room;
    this.#send = send;
    this.parts = new Parts({ restarts });
    this.parts.onPart = () => this.#pass();
  }

  more(): void {
    this.#room += 1;
    this.#pass();
  }

  /** Waits until every part has been sent: the answer comes after them. */
  async drained(signal: AbortSignal): Promise<void> {
    if (!this.parts.hasUnread || signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#onDrained = resolve;
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  #pass(): void {
    for (; this.#room > 0 && this.parts.hasUnread; this.#room -= 1) this.#send(this.parts.read());
    if (!this.parts.hasUnread) this.#onDrained?.();
  }
}
