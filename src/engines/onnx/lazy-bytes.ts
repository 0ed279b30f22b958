/** Reads a Blob at once, in a worker. TypeScript declares it for workers only. */
interface FileReaderSync {
  readAsArrayBuffer(blob: Blob): ArrayBuffer;
}

/** Returns whether files can be read while ONNX Runtime waits: in every browser's workers, not under Node. */
export function canReadLazily(): boolean {
  return 'FileReaderSync' in globalThis;
}

/**
 * A file that looks like an array of its bytes, and reads only the parts that it is asked for. ONNX Runtime (1.30) takes external data as an array, and uses its
 * `byteLength`, and `subarray` once for each tensor. So the file is never in memory as a whole.
 */
export class LazyBytes extends Uint8Array {
  readonly #blob: Blob;

  constructor(blob: Blob) {
    super();
    this.#blob = blob;
  }

  override get byteLength(): number {
    return this.#blob.size;
  }

  override subarray(start: number, end: number): Uint8Array<ArrayBuffer> {
    const { FileReaderSync } = globalThis as unknown as { FileReaderSync: new () => FileReaderSync };
    return new Uint8Array(new FileReaderSync().readAsArrayBuffer(this.#blob.slice(start, end)));
  }
}
