import { errorToData } from '../contract/error-data.js';
import { asTabServeError } from '../contract/errors.js';
import type { GroupedAnswers, HandleRequest } from '../contract/wire.js';

/** A message of comlink's: a call of the page, or the answer to one. */
interface CallMessage {
  readonly id?: string;
  readonly argumentList?: readonly { readonly value?: Partial<HandleRequest> }[];
}

/** How long an answer waits for others, as long as the batches behind it are quick, and the most answers of a group. */
const WAIT_MS = 2;
const MOST_ANSWERS = 8;

/** Sends messages to the page. @throws `DataCloneError` */
export type Post = (message: unknown, transferables: Transferable[]) => void;

/**
 * Sends the answers to quick batches in groups: a message that wakes the page costs more than a small model's run. Only requests that the page has marked
 * as `quick` are concerned, and only while others wait behind them. It is for built-in handlers, whose answers share no object and do not change once they are
 * given. A handler of the app's may change the object that it has returned when the next batch runs.
 */
export class AnswerGroups {
  readonly #post: Post;
  readonly #postAlone: Post;
  readonly #later: (task: () => void) => void;
  readonly #now: () => number;
  /** The ids of the quick requests that are not answered yet. */
  readonly #quick = new Set<string>();
  /** The answers that wait, and what moves with them. */
  #answers: { readonly message: unknown; readonly transferables: Transferable[] }[] = [];
  #since = 0;
  #isScheduled = false;

  /**
   * @param postAlone sends a message of one answer, whatever is in it
   * @param later runs a task behind the messages that have arrived
   */
  constructor(
    post: Post,
    postAlone: Post,
    later: (task: () => void) => void = (task) => setTimeout(task),
    now = (): number => performance.now(),
  ) {
    this.#post = post;
    this.#postAlone = postAlone;
    this.#later = later;
    this.#now = now;
  }

  /** Notes a message of the page. No answer waits for a request that may take long. */
  received(message: unknown): void {
    const { id, argumentList } = (message ?? {}) as CallMessage;
    if (id !== undefined && argumentList?.[0]?.value?.quick === true) this.#quick.add(id);
    else this.flush();
  }

  /** Sends an answer, at once or with others. */
  send(message: unknown, transferables: Transferable[]): void {
    if (!this.#quick.delete((message as CallMessage).id!)) {
      this.flush();
      return this.#postAlone(message, transferables);
    }
    if (this.#answers.length === 0) this.#since = this.#now();
    this.#answers.push({ message, transferables });
    if (this.#answers.length === MOST_ANSWERS || this.#now() - this.#since >= WAIT_MS) return this.flush();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#later(() => {
      this.#isScheduled = false;
      this.flush();
    });
  }

  /** Sends the answers that wait. */
  flush(): void {
    if (this.#answers.length === 0) return;
    const waiting = this.#answers;
    this.#answers = [];
    if (waiting.length > 1) {
      const answers = waiting.map(({ message }) => message);
      try {
        return this.#post({ type: 'answers', answers } satisfies GroupedAnswers, waiting.flatMap(({ transferables }) => transferables)); // prettier-ignore
      } catch {
        // One of them cannot be sent: each goes alone.
      }
    }
    for (const { message, transferables } of waiting) {
      try {
        this.#postAlone(message, transferables);
      } catch (error) {
        // The others are sent all the same.
        this.#postAlone(
          { ...(message as object), value: { ok: false, error: errorToData(asTabServeError(error)) } },
          [],
        );
      }
    }
  }
}
