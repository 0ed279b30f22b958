/** Buffers of one kind on a GPU. Those that are given back are reused for the same size. */
export class GpuBuffers {
  readonly #device: GPUDevice;
  readonly #usage: GPUBufferUsageFlags;
  readonly #taken = new Set<GPUBuffer>();
  /** The oldest first. */
  readonly #idle: GPUBuffer[] = [];
  /** The maximum number of buffers that wait for reuse: a GPU has at most two batches in flight. */
  #maxIdle = 2;

  constructor(device: GPUDevice, usage: GPUBufferUsageFlags) {
    this.#device = device;
    this.#usage = usage;
  }

  /** Returns a buffer of `bytes` bytes, rounded up to 16, with any contents. */
  take(bytes: number): GPUBuffer {
    const size = Math.ceil(bytes / 16) * 16;
    const found = this.#idle.findIndex((buffer) => buffer.size === size);
    const buffer =
      found < 0 ? this.#device.createBuffer({ size, usage: this.#usage }) : this.#idle.splice(found, 1)[0]!;
    this.#taken.add(buffer);
    return buffer;
  }

  /** Takes a buffer back. What the device has yet to do with it is done before its next use. */
  giveBack(buffer: GPUBuffer): void {
    if (!this.#taken.delete(buffer)) return;
    this.#idle.push(buffer);
    if (this.#idle.length > this.#maxIdle) this.#idle.shift()!.destroy();
  }

  /** Destroys a buffer that may be unusable. */
  discard(buffer: GPUBuffer): void {
    if (this.#taken.delete(buffer)) buffer.destroy();
  }

  /** Destroys all buffers; those that are still in use when they are given back. */
  destroy(): void {
    this.#maxIdle = 0;
    for (const buffer of this.#idle.splice(0)) buffer.destroy();
  }
}
