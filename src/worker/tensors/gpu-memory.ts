import { DTYPES } from '../../contract/dtypes.js';
import { TabServeError } from '../../contract/errors.js';
import type { DType, Tensor } from '../../contract/tensors.js';
import type { GpuMemory, GpuTensor } from './gpu-tensor.js';

/** Returns the memory of a tensor that a session has made. @throws `handler-failed` for one that is lent */
export function memoryOf({ memory, dims }: GpuTensor): GpuMemory {
  if (memory) return memory;
  throw new TabServeError('handler-failed', `The tensor of [${dims.join(', ')}] is lent, and only a session reads it.`);
}

/** Returns how many bytes the numbers of a tensor have. Strings count as none. */
export function bytesOf({ dtype, dims }: Pick<Tensor, 'dtype' | 'dims'>): number {
  return dims.reduce((product, size) => product * size, elementSize(dtype));
}

/** Returns the bytes of one number. */
export function elementSize(dtype: DType): number {
  return DTYPES[dtype].array?.BYTES_PER_ELEMENT ?? 0;
}
