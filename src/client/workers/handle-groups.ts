import type { Envelope, HandleAnswer, HandleRequest } from '../../contract/wire.js';

type Answer = Envelope<HandleAnswer>;

/** Sends requests to the worker in one message. */
export type SendRequests = (
  requests: readonly HandleRequest[],
  transferables: readonly Transferable[],
) => Promise<readonly Answer[]>;

interface Waiting {
  readonly request: HandleRequest;
  readonly transferables: readonly Transferable[];
  readonly resolve: (answer: Promise<Answer>) => void;
}

/**
 * Sends requests to a worker, quick ones several in a message: it costs more than a small model's run. A request waits only for those that the app makes before its
 * code returns. The worker runs them in order, each as a batch of its own, and answers them together.
 */
export class HandleGroups {
  readonly #send: SendRequests;
  #waiting: Waiting[] = [];

  constructor(send: SendRequests) {
    this.#send = send;
  }

  /** Sends a request. @param most of how many requests its message may be; with 1 it is sent at once, behind those that wait */
  handle(request: HandleRequest, transferables: readonly Transferable[], most: number): Promise<Answer> {
    if (most === 1) this.#flush();
    return new Promise((resolve) => {
      this.#waiting.push({ request, transferables, resolve });
      if (this.#waiting.length >= most) this.#flush();
      else if (this.#waiting.length === 1) queueMicrotask(() => this.#flush());
    });
  }

  #flush(): void {
    const group = this.#waiting;
    if (group.length === 0) return;
    this.#waiting = [];
    const send = async (some: readonly Waiting[]): Promise<readonly Answer[]> =>
      await this.#send(
        some.map(({ request }) => request),
        some.flatMap(({ transferables }) => transferables),
      );
    const answers = send(group);
    for (const [at, one] of group.entries())
      one.resolve(
        answers.then(
          (all) => all[at]!,
          async (error: unknown) => {
            if (group.length === 1) throw error;
            // One of them cannot be sent: each goes alone.
            return (await send([one]))[0]!;
          },
        ),
      );
  }
}
