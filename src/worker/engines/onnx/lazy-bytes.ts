import type { Range } from '../../models/onnx/ranges.js';

/**
 * The maximum number of bytes that are read at once, of tensors that lie side by side. Even a short read takes
 * milliseconds while the browser compiles the engine (`bench/README.md` has figures).
 */
const MAX_GROUP_BYTES = 2 ** 23;

/**
 * The maximum number of bytes of one file that are kept until ONNX Runtime asks for them. It never asks for some tensors:
 * their bytes are kept until the session is created.
 */
const MAX_HELD_BYTES = 2 ** 25;

/** Reads a Blob at once, in a worker. TypeScript declares it for workers only. */
interface FileReaderSync {
  readAsArrayBuffer(blob: Blob): ArrayBuffer;
}

/** Tensors that are read together. */
interface Group extends Range {
  /** How many of them have not been asked for. */
  waiting: number;
  bytes?: ArrayBuffer | undefined;
}

/**
 * A file that looks like an array of its bytes, and reads only the parts that it is asked for. ONNX Runtime (1.30)
 * takes external data as an array, and uses its `byteLength`, and `subarray` once for each tensor, in no order, whose
 * bytes it copies at once. So a part is freed when the next one is asked for, and the file is never in memory as a
 * whole.
 */
export class LazyBytes extends Uint8Array {
  readonly #file: Blob;
  /** By where their tensors begin. */
  readonly #groups = new Map<number, Group>();
  #heldBytes = 0;
  /** What nobody needs any more when the next part is asked for. */
  #last: ArrayBuffer | undefined;

  /** @param tensors where in the file those are that will be asked for */
  constructor(file: Blob, tensors: readonly Range[]) {
    super();
    this.#file = file;
    let group: Group | undefined;
    const inside = tensors.filter(({ to }) => to <= file.size);
    for (const { from, to } of inside.sort((one, other) => one.from - other.from)) {
      if (group && to - group.from <= MAX_GROUP_BYTES)
        Object.assign(group, { to: Math.max(group.to, to), waiting: group.waiting + 1 });
      else group = { from, to, waiting: 1 };
      this.#groups.set(from, group);
    }
  }

  override get byteLength(): number {
    return this.#file.size;
  }

  override subarray(start: number, end: number): Uint8Array<ArrayBuffer> {
    this.#freeLast();
    const group = this.#groups.get(start);
    const bytes = group && this.#take(group, end);
    if (bytes) return new Uint8Array(bytes, start - group.from, end - start);
    return new Uint8Array((this.#last = this.#read(start, end)));
  }

  /** Frees all that was read. */
  free(): void {
    this.#freeLast();
    for (const group of new Set(this.#groups.values())) if (group.bytes) free(group.bytes);
    this.#groups.clear();
  }

  /** Returns a group's bytes, for a tensor that begins in it; undefined if that is to be read alone. */
  #take(group: Group, end: number): ArrayBuffer | undefined {
    // A tensor may be longer than its graph says, as one with a length of 0, which is for "not known".
    if (end > group.to) return undefined;
    const size = group.to - group.from;
    group.waiting -= 1;
    if (!group.bytes && group.waiting > 0 && this.#heldBytes + size <= MAX_HELD_BYTES) {
      group.bytes = this.#read(group.from, group.to);
      this.#heldBytes += size;
    }
    const { bytes } = group;
    if (bytes && group.waiting === 0) {
      this.#last = bytes;
      group.bytes = undefined;
      this.#heldBytes -= size;
    }
    return bytes;
  }

  #read(start: number, end: number): ArrayBuffer {
    const { FileReaderSync } = globalThis as unknown as { FileReaderSync: new () => FileReaderSync };
    return new FileReaderSync().readAsArrayBuffer(this.#file.slice(start, end));
  }

  #freeLast(): void {
    if (this.#last) free(this.#last);
    this.#last = undefined;
  }
}

let closed: MessagePort | undefined;

/**
 * Frees a buffer: a closed port throws a message away, with what it carries. Without that, Chromium (156) keeps what
 * `FileReaderSync` has returned until its next garbage collection, also behind `transfer()`: of weights, 200 MB and more.
 */
function free(buffer: ArrayBuffer): void {
  if (!closed) {
    closed = new MessageChannel().port1;
    closed.close();
  }
  closed.postMessage(undefined, [buffer]);
}
