import { ServingError } from '../../serving-error.js';

/** Limit for the total size of the bodies that are being read: 256 MB. */
const MAX_BYTES = 2 ** 28;

/** A body that is being read. */
interface BufferedBody {
  bytes: number;
  /** Ends the reading. */
  readonly evict: (why: ServingError) => void;
}

/**
 * The bodies that a server is reading. If they are too large in total, the oldest one is evicted. So requests that are
 * sent in one go are answered, however many clients stop in the middle of theirs or send them slowly.
 */
export class BufferedBodies {
  readonly #limit: number;
  /** In the order in which the requests came. */
  readonly #bodies = new Set<BufferedBody>();
  #total = 0;

  constructor(limit = MAX_BYTES) {
    this.#limit = limit;
  }

  /** Counts a body from now on. Returns functions that add the bytes of a chunk, and that end it. */
  begin(evict: BufferedBody['evict']): { readonly add: (bytes: number) => void; readonly end: () => void } {
    const body: BufferedBody = { bytes: 0, evict };
    this.#bodies.add(body);
    return {
      add: (bytes) => {
        if (!this.#bodies.has(body)) return;
        body.bytes += bytes;
        this.#total += bytes;
        // `maxRequestSize` limits a single body.
        while (this.#total > this.#limit && this.#bodies.size > 1) {
          const [oldest] = this.#bodies;
          this.#remove(oldest!);
          oldest!.evict(tooMany());
        }
      },
      end: () => this.#remove(body),
    };
  }

  #remove(body: BufferedBody): void {
    if (this.#bodies.delete(body)) this.#total -= body.bytes;
  }
}

function tooMany(): ServingError {
  const message =
    'The server is receiving more than it can buffer, and this request has been arriving for longest. Send it again.';
  return new ServingError('queue-full', 503, 'ServiceUnavailableException', message);
}
