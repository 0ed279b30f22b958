import { blobOf } from '../read-blob.js';
import type { Clock } from '../../../shared/clock.js';

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Parts are moved into a Blob when they have this many bytes, because the browser stores a Blob outside of the worker's
 * memory, or on disk.
 */
const FLUSH_BYTES = 4 * 2 ** 20;

/** The bytes of a file that have arrived, in Blobs. */
export class ReceivedBytes {
  #blobs: Blob[] = [];
  #parts: Bytes[] = [];
  #waiting = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(bytes: Bytes): void {
    this.#parts.push(bytes);
    this.#waiting += bytes.byteLength;
    this.#size += bytes.byteLength;
    if (this.#waiting >= FLUSH_BYTES) this.#flush();
  }

  clear(): void {
    this.#blobs = [];
    this.#parts = [];
    this.#waiting = this.#size = 0;
  }

  /** Returns all bytes as one Blob, which refers to the parts and copies none of them. */
  toBlob(): Blob {
    if (this.#blobs.length === 0) return blobOf(this.#parts);
    this.#flush();
    return new Blob(this.#blobs);
  }

  #flush(): void {
    if (this.#waiting > 0) this.#blobs.push(new Blob(this.#parts));
    this.#parts = [];
    this.#waiting = 0;
  }
}

/**
 * Reads a body to its end.
 * @param onBytes called with the bytes as they arrive; what it throws ends the reading
 * @throws the signal's reason, at once; why the connection broke
 */
export async function readBody(
  body: ReadableStream<Bytes>,
  signal: AbortSignal,
  onBytes: (bytes: Bytes) => void,
): Promise<void> {
  const reader = body.getReader();
  const aborted = new Promise<never>((_, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
  // It may reject when nobody waits for it any more.
  aborted.catch(() => {});
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), aborted]);
      if (done) return;
      onBytes(value);
    }
  } catch (error) {
    void reader.cancel().catch(() => {});
    throw error;
  }
}

/** A connection without data for this long counts as broken. */
const STALL_MS = 30_000;

/** Aborts an attempt if nothing arrives for long. */
export class StallTimer {
  readonly #aborter = new AbortController();
  #cancel: () => void = () => {};

  constructor(private readonly clock: Clock) {
    this.restart();
  }

  get signal(): AbortSignal {
    return this.#aborter.signal;
  }

  /** Starts the time limit again, because something has arrived. */
  restart(): void {
    this.stop();
    this.#cancel = this.clock.schedule(
      () => this.#aborter.abort(new Error(`nothing has arrived for ${STALL_MS / 1000} s`)),
      STALL_MS,
    );
  }

  stop(): void {
    this.#cancel();
  }
}
