import type { Envelope, HandleAnswer, HandleRequest } from '../../contract/wire.js';

type Answer = Envelope<HandleAnswer>;

/** Sends requests to the worker in one message. A worker of another library may answer anything. */
export type SendRequests = (
  requests: readonly HandleRequest[],
  transferables: readonly Transferable[],
) => Promise<readonly Answer[] | undefined>;

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
    if (most === 1) {
      this.#flush();
      return this.#sendAlone(request, transferables);
    }
    return new Promise((resolve) => {
      this.#waiting.push({ request, transferables, resolve });
      if (this.#waiting.length >= most) this.#flush();
      else if (this.#waiting.length === 1) queueMicrotask(() => this.#flush());
    });
  }

  #flush(): void {
    const group = this.#waiting;
    this.#waiting = [];
    if (group.length === 0) return;
    const answers = this.#send(
      group.map(({ request }) => request),
      group.flatMap(({ transferables }) => transferables),
    );
    for (const [at, { request, transferables, resolve }] of group.entries())
      // If one of them cannot be sent, each goes alone.
      resolve(answers.then((all) => all?.[at] as Answer, () => this.#sendAlone(request, transferables))); // prettier-ignore
  }

  async #sendAlone(request: HandleRequest, transferables: readonly Transferable[]): Promise<Answer> {
    const answers = await this.#send([request], transferables);
    return answers?.[0] as Answer;
  }
}
