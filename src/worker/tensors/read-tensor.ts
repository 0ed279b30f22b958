import { DTYPES, type ArrayClass } from '../../contract/dtypes.js';
import type { Tensor, TensorDataMap, DType } from '../../contract/tensors.js';
import { bytesOf, elementSize, memoryOf } from './gpu-memory.js';
import { GpuTensor } from './gpu-tensor.js';

/** A buffer's parts are copied in words of this many bytes. */
const WORD = 4;

/** Returns a tensor as plain data. @throws `device-lost`, `inference-failed` */
export async function readTensor(tensor: Tensor): Promise<Tensor> {
  if (!(tensor instanceof GpuTensor)) return tensor;
  const { dtype, dims } = tensor;
  const bytes = bytesOf(tensor);
  const [data] = await readBytes(tensor, [0], bytes);
  return { dtype, dims, data: arrayOf(dtype, data!) };
}

/**
 * Returns copies of the last index of the second axis, one for each index of the first one: of `[rows, tokens, size]`,
 * as many as there are rows, with `size` numbers each. From a GPU, nothing else is read back.
 * @throws `device-lost`, `inference-failed`
 */
export async function readLast(tensor: Tensor): Promise<readonly TensorDataMap[DType][]> {
  const { dtype, dims } = tensor;
  const [rows, tokens, size] = dims as [number, number, number];
  const starts = Array.from({ length: rows }, (_, row) => ((row + 1) * tokens - 1) * size);
  if (!(tensor instanceof GpuTensor))
    return starts.map((start) => (tensor.data as Float32Array).slice(start, start + size));
  const bytes = elementSize(dtype);
  const read = await readBytes(
    tensor,
    starts.map((start) => start * bytes),
    size * bytes,
  );
  return read.map((data) => arrayOf(dtype, data));
}

/** Copies `length` bytes from each of the `starts`. */
async function readBytes(
  tensor: GpuTensor,
  starts: readonly number[],
  length: number,
): Promise<readonly ArrayBuffer[]> {
  const memory = memoryOf(tensor);
  const { device } = memory;
  // Each part has the words that it lies in: one more, if it begins in the middle of one.
  const room = Math.ceil(length / WORD) * WORD + (starts.every((start) => start % WORD === 0) ? 0 : WORD);
  return await memory.wait(async () => {
    const staging = device.createBuffer({
      size: room * starts.length,
      usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
    });
    try {
      const encoder = device.createCommandEncoder();
      for (const [index, start] of starts.entries()) {
        const first = start - (start % WORD);
        const size = Math.min(room, tensor.buffer.size - first);
        encoder.copyBufferToBuffer(tensor.buffer, first, staging, index * room, size);
      }
      device.queue.submit([encoder.finish()]);
      await staging.mapAsync(GPUMapMode.READ);
      const mapped = staging.getMappedRange();
      return starts.map((start, index) => {
        const from = index * room + (start % WORD);
        return mapped.slice(from, from + length);
      });
    } finally {
      staging.destroy();
    }
  });
}

function arrayOf(dtype: DType, buffer: ArrayBuffer): TensorDataMap[DType] {
  return new (DTYPES[dtype].array as ArrayClass)(buffer);
}
