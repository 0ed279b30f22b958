import { TabServeError } from '../../contract/errors.js';
import type { DType, Session, Tensor } from '../../contract/tensors.js';

/** The memory of a GPU that a session's tensors are in. */
export interface GpuMemory {
  readonly device: GPUDevice;
  /** Returns a tensor for the caller to fill, whose first user is the caller. */
  allocate(dtype: DType, dims: readonly number[]): GpuTensor;
  /** Frees a tensor that has no user any more. */
  free(tensor: GpuTensor): void;
  /** Waits for work on the device. @throws `device-lost`, `inference-failed` */
  wait<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * A tensor in a buffer of a GPU. A session on the same device takes it as a feed, and reads it where it is. Its `data`
 * cannot be read: `readTensor` copies the numbers.
 *
 * One that a session has made is in that session's memory until its last user has called `free`. One without a memory
 * is only lent: whoever made it frees its buffer.
 */
export class GpuTensor implements Tensor {
  #users = 1;

  constructor(
    readonly dtype: DType,
    readonly dims: readonly number[],
    readonly buffer: GPUBuffer,
    readonly memory?: GpuMemory,
  ) {}

  /** @throws `handler-failed`: the numbers are on the GPU */
  get data(): never {
    throw new TabServeError(
      'handler-failed',
      `The numbers of this tensor of [${this.dims.join(', ')}] are on the GPU. Only a session reads them there.`,
    );
  }

  /** Adds a user, who calls `free`, too. */
  use(): this {
    this.#users += 1;
    return this;
  }

  /** Ends one use; each user must call it once. After the last use, the tensor cannot be used any more. */
  free(): void {
    this.#users -= 1;
    if (this.#users === 0) this.memory?.free(this);
  }
}

/** A session that takes `GpuTensor`s of its device. */
export interface GpuSession extends Session {
  /** The device; undefined if the session computes elsewhere. */
  readonly device: GPUDevice | undefined;
}

/** Returns the device whose tensors a session takes, or undefined if it takes none. */
export function deviceOf(session: Session): GPUDevice | undefined {
  return (session as Partial<GpuSession>).device;
}
