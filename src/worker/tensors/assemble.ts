/** Tensors that are made of parts of others, where those are. */
import { zeroData } from '../../contract/dtypes.js';
import { TabServeError } from '../../contract/errors.js';
import type { Tensor } from '../../contract/tensors.js';
import { elementSize, memoryOf } from './gpu-memory.js';
import { GpuTensor } from './gpu-tensor.js';
import { readTensor } from './read-tensor.js';
import { freeTensors, useTensors } from './tensor-users.js';

/** A tensor to make. Its dtype is that of the first piece; what no piece fills is zero. */
export interface Assembly {
  readonly dims: readonly number[];
  readonly pieces: readonly Piece[];
}

/** Parts of one tensor. */
export interface Piece {
  readonly tensor: Tensor;
  readonly runs: readonly Run[];
}

/** Elements to copy. */
export interface Run {
  readonly from: number;
  readonly to: number;
  readonly length: number;
}

/** A buffer's parts are copied in words of this many bytes. */
const WORD = 4;

/**
 * Makes tensors of parts of others, which the caller frees. Those whose parts are on a GPU are on it, too.
 * @throws `device-lost`, `out-of-memory`, `inference-failed`
 */
export async function assemble(assemblies: readonly Assembly[]): Promise<readonly Tensor[]> {
  const onGpu = assemblies.filter(canStay);
  const made = onGpu.length > 0 ? await assembleOnGpu(onGpu) : new Map<Assembly, Tensor>();
  return await Promise.all(assemblies.map(async (one) => made.get(one) ?? (await assembleHere(one))));
}

/** Returns whether all parts are on a GPU, and in words. */
function canStay({ pieces }: Assembly): boolean {
  return pieces.every(
    ({ tensor, runs }) =>
      tensor instanceof GpuTensor &&
      runs.every(({ from, to, length }) =>
        [from, to, length].every((at) => (at * elementSize(tensor.dtype)) % WORD === 0),
      ),
  );
}

async function assembleHere({ dims, pieces }: Assembly): Promise<Tensor> {
  const read = await Promise.all(pieces.map(({ tensor }) => readTensor(tensor)));
  const { dtype } = read[0]!;
  const data = zeroData(dtype, sizeOf(dims)) as Float32Array;
  for (const [index, { runs }] of pieces.entries()) {
    const from = read[index]!.data as Float32Array;
    // One run that is all of it is a view: no copy is needed, because nobody changes the data of a tensor.
    if (runs.length === 1 && runs[0]!.length === data.length) {
      useTensors([read[index]!]);
      return { dtype, dims, data: from.subarray(runs[0]!.from, runs[0]!.from + data.length) };
    }
    for (const { from: start, to, length } of runs) data.set(from.subarray(start, start + length), to);
  }
  return { dtype, dims, data };
}

async function assembleOnGpu(assemblies: readonly Assembly[]): Promise<ReadonlyMap<Assembly, Tensor>> {
  const memory = memoryOf(assemblies[0]!.pieces[0]!.tensor as GpuTensor);
  const { device } = memory;
  const made = new Map<Assembly, GpuTensor>();
  try {
    await memory.wait(async () => {
      // A buffer that the GPU has no room for is an error here only, and would read as zeros.
      for (const kind of ['validation', 'out-of-memory'] as const) device.pushErrorScope(kind);
      const encoder = device.createCommandEncoder();
      for (const assembly of assemblies) {
        const { dtype } = assembly.pieces[0]!.tensor;
        const target = memory.allocate(dtype, assembly.dims);
        made.set(assembly, target);
        for (const { tensor, runs } of assembly.pieces)
          copyRuns(encoder, (tensor as GpuTensor).buffer, target.buffer, runs, elementSize(dtype));
      }
      device.queue.submit([encoder.finish()]);
      const [full, invalid] = await Promise.all([device.popErrorScope(), device.popErrorScope()]);
      if (full) throw new TabServeError('out-of-memory', `The GPU has no room for a copy of a tensor: ${full.message}`);
      if (invalid) throw new Error(invalid.message);
    });
  } catch (error) {
    freeTensors(made.values());
    throw error;
  }
  return made;
}

function copyRuns(
  encoder: GPUCommandEncoder,
  from: GPUBuffer,
  to: GPUBuffer,
  runs: readonly Run[],
  size: number,
): void {
  for (const run of runs) encoder.copyBufferToBuffer(from, run.from * size, to, run.to * size, run.length * size);
}

/** Returns how many elements a tensor of these dims has. */
export function sizeOf(dims: readonly number[]): number {
  return dims.reduce((product, size) => product * size, 1);
}
