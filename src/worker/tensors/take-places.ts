/** Copies of parts of tensors, made where the tensors are. */
import { zeroData } from '../../contract/dtypes.js';
import { TabServeError } from '../../contract/errors.js';
import type { DType, Tensor } from '../../contract/tensors.js';
import { elementSize, freeTensors, memoryOf } from './gpu-memory.js';
import { GpuTensor } from './gpu-tensor.js';
import { readTensor } from './read-tensor.js';

/** Places of an axis: `length` of them, from `start` on. */
export interface Places {
  readonly start: number;
  readonly length: number;
}

/** A tensor, and the axis whose places are taken. */
export interface Part {
  readonly tensor: Tensor;
  readonly axis: number;
}

/** Elements to copy. */
interface Run {
  readonly from: number;
  readonly to: number;
  readonly length: number;
}

/** A buffer's parts are copied in words of so many bytes. */
const WORD = 4;

/**
 * Returns tensors with these places of an axis, in this order. Copies of tensors on a GPU are on it, too, and the
 * caller frees them.
 * @throws `device-lost`, `out-of-memory`, `inference-failed`
 */
export async function takePlaces(parts: readonly Part[], places: readonly Places[]): Promise<readonly Tensor[]> {
  const plans = parts.map(({ tensor, axis }) => ({ tensor, ...plan(tensor.dims, axis, places) }));
  const read = await Promise.all(
    // Buffers are copied in words: what is shorter is copied here.
    plans.map(async ({ tensor, runs }) =>
      tensor instanceof GpuTensor && !isInWords(tensor.dtype, runs) ? await readTensor(tensor) : tensor,
    ),
  );
  const onGpu = plans.filter((_, index) => read[index] instanceof GpuTensor) as GpuPlan[];
  const copies = new Map(onGpu.length > 0 ? await copyOnGpu(onGpu) : []);
  return plans.map(({ tensor, dims, runs }, index) => copies.get(tensor) ?? copyHere(read[index]!, dims, runs));
}

function plan(
  dims: readonly number[],
  axis: number,
  places: readonly Places[],
): { readonly dims: readonly number[]; readonly runs: readonly Run[] } {
  const inner = product(dims.slice(axis + 1));
  const taken = places.reduce((sum, { length }) => sum + length, 0);
  const runs: Run[] = [];
  let to = 0;
  for (let at = 0; at < product(dims.slice(0, axis)); at++)
    for (const { start, length } of places) {
      runs.push({ from: (at * dims[axis]! + start) * inner, to, length: length * inner });
      to += length * inner;
    }
  return { dims: dims.map((size, at) => (at === axis ? taken : size)), runs };
}

function copyHere({ dtype, data }: Tensor, dims: readonly number[], runs: readonly Run[]): Tensor {
  const from = data as Float32Array;
  // One piece is a view: no copy is needed, because nobody changes the data of a tensor.
  if (runs.length === 1) return { dtype, dims, data: from.subarray(runs[0]!.from, runs[0]!.from + runs[0]!.length) };
  const copy = zeroData(dtype, product(dims)) as Float32Array;
  for (const { from: start, to, length } of runs) copy.set(from.subarray(start, start + length), to);
  return { dtype, dims, data: copy };
}

interface GpuPlan {
  readonly tensor: GpuTensor;
  readonly dims: readonly number[];
  readonly runs: readonly Run[];
}

async function copyOnGpu(plans: readonly GpuPlan[]): Promise<readonly (readonly [Tensor, Tensor])[]> {
  const memory = memoryOf(plans[0]!.tensor);
  const { device } = memory;
  const copies: (readonly [Tensor, Tensor])[] = [];
  try {
    await memory.wait(async () => {
      // A buffer that the GPU has no room for is an error here only, and would read as zeros.
      for (const kind of ['validation', 'out-of-memory'] as const) device.pushErrorScope(kind);
      const encoder = device.createCommandEncoder();
      for (const { tensor, dims, runs } of plans) {
        const copy = memory.allocate(tensor.dtype, dims);
        copies.push([tensor, copy]);
        const size = elementSize(tensor.dtype);
        for (const { from, to, length } of runs)
          encoder.copyBufferToBuffer(tensor.buffer, from * size, copy.buffer, to * size, length * size);
      }
      device.queue.submit([encoder.finish()]);
      const [full, invalid] = await Promise.all([device.popErrorScope(), device.popErrorScope()]);
      if (full) throw new TabServeError('out-of-memory', `The GPU has no room for a copy of a cache: ${full.message}`);
      if (invalid) throw new Error(invalid.message);
    });
  } catch (error) {
    freeTensors(copies.map(([, copy]) => copy));
    throw error;
  }
  return copies;
}

function isInWords(dtype: DType, runs: readonly Run[]): boolean {
  return runs.every((run) => [run.from, run.to, run.length].every((at) => (at * elementSize(dtype)) % WORD === 0));
}

function product(sizes: readonly number[]): number {
  return sizes.reduce((result, size) => result * size, 1);
}
