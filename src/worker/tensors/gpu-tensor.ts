import { TabServeError } from '../../contract/errors.js';
import type { Session, Tensor } from '../../contract/tensors.js';

/**
 * A float32 tensor in a buffer of a GPU. A session on the same device takes it as a feed, and reads it where it is. All
 * other code may read its dims, and must not change the buffer or free it: that is up to whoever made the tensor.
 */
export class GpuTensor implements Tensor<'float32'> {
  readonly dtype = 'float32';

  constructor(
    readonly dims: readonly number[],
    readonly buffer: GPUBuffer,
  ) {}

  /** @throws `handler-failed`: the numbers are on the GPU */
  get data(): Float32Array {
    throw new TabServeError(
      'handler-failed',
      `The numbers of this tensor of [${this.dims.join(', ')}] are on the GPU. Only a session reads them there.`,
    );
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
