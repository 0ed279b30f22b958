/**
 * Who uses a tensor that a run has kept (`RunOptions.keep`), on a GPU or in the worker's memory. A decoder's step returns
 * all keys and values anew: on WASM 25 MB behind 600 tokens of SmolLM2, of which the garbage collector lets several pile
 * up.
 */
import type { Tensor } from '../../contract/tensors.js';
import { GpuTensor } from './gpu-tensor.js';

/** How many users the numbers of kept tensors have. Views of a tensor are of the same buffer. */
const users = new WeakMap<ArrayBufferLike, number>();

/** Says that the caller is the first user of these tensors, and that nobody else has their numbers. */
export function ownTensors(tensors: Iterable<Tensor>): void {
  for (const { data } of tensors) if (ArrayBuffer.isView(data)) users.set(data.buffer, 1);
}

/** Adds a user to those tensors that a run has kept. */
export function useTensors(tensors: Iterable<Tensor>): void {
  for (const tensor of tensors)
    if (tensor instanceof GpuTensor) tensor.use();
    else change(tensor, 1);
}

/** Frees those tensors that a run has kept, for one of their users; after the last one, they cannot be read any more. */
export function freeTensors(tensors: Iterable<Tensor>): void {
  for (const tensor of tensors)
    if (tensor instanceof GpuTensor) tensor.free();
    else if (change(tensor, -1) === 0) free((tensor.data as Float32Array).buffer);
}

/** Returns how many users its numbers have then; undefined if no run has kept it. */
function change({ data }: Tensor, by: number): number | undefined {
  const before = ArrayBuffer.isView(data) ? users.get(data.buffer) : undefined;
  if (before === undefined) return undefined;
  users.set((data as Float32Array).buffer, before + by);
  return before + by;
}

/** Frees a buffer at once in browsers of 2024 and later. In others, the garbage collector does it. */
function free(buffer: ArrayBufferLike): void {
  (buffer as ArrayBuffer & { transfer?(length: number): ArrayBuffer }).transfer?.(0);
}
