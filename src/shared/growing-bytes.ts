/** Collects bytes that arrive in parts, in one buffer, so that even tiny parts cost no more than their bytes. */
export class GrowingBytes {
  #buffer = new Uint8Array(0);
  #length = 0;

  /** Number of bytes. */
  get length(): number {
    return this.#length;
  }

  append(chunk: Uint8Array): void {
    const length = this.#length + chunk.byteLength;
    if (length > this.#buffer.byteLength) {
      // Doubling copies each byte once or twice, in total.
      const larger = new Uint8Array(Math.max(length, 2 * this.#length));
      larger.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = larger;
    }
    this.#buffer.set(chunk, this.#length);
    this.#length = length;
  }

  /** Returns the bytes in a buffer of their size, and is empty afterwards. */
  take(): Uint8Array<ArrayBuffer> {
    const isFull = this.#length === this.#buffer.byteLength;
    const bytes = isFull ? this.#buffer : this.#buffer.slice(0, this.#length);
    this.#buffer = new Uint8Array(0);
    this.#length = 0;
    return bytes;
  }
}
