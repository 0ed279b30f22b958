import { envelope } from '../../contract/error-data.js';
import type { HttpAnswer } from '../../contract/http.js';
import { type Chunk, Chunks } from '../requests/chunks.js';
import { closePictures, TabChannel } from './channel.js';
import type { GuestMessage, HostMessage, SharedAnswer, SharedRequest } from './messages.js';

/**
 * How long the last answer of a host tab that leaves may be under way, in milliseconds. The host tab releases its lock
 * after that, because the release could overtake the answer.
 */
export const ANSWER_MS = 50;

/** A request that is not answered yet. */
export interface RunningRequest {
  /** The chunks of the answer, if it is streamed. */
  readonly chunks: Chunks | undefined;
  /** Aborts when the guest tab no longer waits for the answer. */
  readonly stop: AbortSignal;
  /** Tells the guest tab what the handler says of the answer over HTTP. */
  readonly onHttp: (answer: HttpAnswer) => void;
}

export interface ServedGuestOptions {
  readonly channel: BroadcastChannel;
  /** The host tab's id. */
  readonly host: string;
  readonly answer: (request: SharedRequest, running: RunningRequest) => Promise<SharedAnswer>;
  readonly ask: (question: 'describe' | 'ping') => Promise<unknown>;
}

type Message = HostMessage extends infer M ? (M extends unknown ? Omit<M, 'host'> : never) : never;

/** Answers the messages of one guest tab, in the host tab. */
export class ServedGuest {
  readonly #options: ServedGuestOptions;
  readonly #channel: TabChannel<HostMessage, GuestMessage>;
  readonly #running = new Map<string, { readonly stop: AbortController; readonly sender: ChunkSender | undefined }>();
  /** When the last answer was sent, by `performance.now()`. */
  #answeredAt = -Infinity;
  #isLeaving = false;
  /** Called when the last running request has ended. */
  #onIdle = (): void => {};

  constructor(options: ServedGuestOptions) {
    this.#options = options;
    this.#channel = new TabChannel(options.channel, {
      onMessage: (message) => this.#receive(message),
      onUnreadable: () => this.post({ type: 'unreadable' }),
    });
  }

  /** Sends a message. Tells the guest tab if it cannot be sent. */
  post(message: Message): void {
    const refuse = (): void => {
      if (message.type !== 'unreadable') this.post({ type: 'unreadable' });
    };
    try {
      const posting = this.#channel.post({ ...message, host: this.#options.host } as HostMessage);
      if (posting) posting.catch(refuse);
    } catch {
      refuse();
    }
  }

  /**
   * Waits until every running request has ended, and its answer has arrived. Later ones are left unanswered, for the
   * next host tab.
   */
  async drain(): Promise<void> {
    this.#isLeaving = true;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      if (this.#running.size === 0) resolve();
    });
    const left = this.#answeredAt + ANSWER_MS - performance.now();
    if (left > 0) await new Promise((resolve) => setTimeout(resolve, left));
  }

  /** Drops the guest tab's requests: it has ended, or the host tab ends. */
  close(): void {
    for (const { stop } of this.#running.values()) stop.abort();
    this.#channel.close();
  }

  #receive(message: GuestMessage): void {
    switch (message.type) {
      case 'heartbeat':
        return this.post({ type: 'heartbeat' });
      case 'cancel':
        return this.#running.get(message.id)?.stop.abort();
      case 'more':
        return this.#running.get(message.id)?.sender?.more();
      case 'ask':
        return void this.#reply(message.id, () => this.#options.ask(message.question));
      case 'request':
        if (!this.#isLeaving) void this.#run(message.id, message.request);
    }
  }

  async #run(id: string, request: SharedRequest): Promise<void> {
    const { room, resumed: resume } = request;
    const stop = new AbortController();
    const send = (chunk: Chunk): void => this.post({ ...chunk, type: 'chunk', id });
    const sender =
      room === undefined ? undefined : new ChunkSender(room, { restarts: request.request === 'explain', resume }, send);
    this.#running.set(id, { stop, sender });
    await this.#reply(id, async () => {
      const answer = await this.#options.answer(request, {
        chunks: sender?.chunks,
        stop: stop.signal,
        onHttp: (http) => this.post({ type: 'http', id, answer: http }),
      });
      await sender?.allSent(stop.signal);
      return answer;
    });
    this.#running.delete(id);
    closePictures(request.rows);
    this.#answeredAt = performance.now();
    if (this.#running.size === 0) this.#onIdle();
  }

  async #reply(id: string, work: () => Promise<unknown>): Promise<void> {
    this.post({ type: 'answer', id, answer: await envelope(work) });
  }
}

/** Sends the chunks of one answer, as long as the guest tab has room for them. */
class ChunkSender {
  readonly chunks: Chunks;
  readonly #send: (chunk: Chunk) => void;
  #room: number;
  #onAllSent: (() => void) | undefined;

  constructor(
    room: number,
    options: { readonly restarts: boolean; readonly resume: unknown },
    send: (chunk: Chunk) => void,
  ) {
    this.#room = room;
    this.#send = send;
    this.chunks = new Chunks(options);
    this.chunks.onChunk = () => this.#pass();
  }

  /** Records that the guest tab has room for one more chunk. */
  more(): void {
    this.#room += 1;
    this.#pass();
  }

  /** Waits until every chunk has been sent: the answer comes after them. */
  async allSent(signal: AbortSignal): Promise<void> {
    if (!this.chunks.hasUnread || signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#onAllSent = resolve;
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  #pass(): void {
    for (; this.#room > 0 && this.chunks.hasUnread; this.#room -= 1) this.#send(this.chunks.take());
    if (!this.chunks.hasUnread) this.#onAllSent?.();
  }
}
