import type { ExpectedTensor, Golden, Tensor } from '../contract.js';
import { TabServeError } from '../errors.js';
import { readSafetensors } from './safetensors.js';

/**
 * Reads a golden example of an archive, a `.safetensors` file: tensors `inputs/<name>` and `outputs/<name>`. What would be large is told in the metadata
 * instead, under the tensor's key, as JSON: a float32 input by its generator, `{"seed": 1, "dims": [1, 3, 224, 224]}`; the whole dims of an output of which
 * the file has every `stride`-th element, `{"stride": 7, "dims": [1, 1000]}`.
 * @throws `model-format` if the file is damaged or holds no inputs or no outputs
 */
export function readGolden(bytes: Uint8Array, name: string): Golden {
  const { tensors, metadata } = readSafetensors(bytes, name);
  const inputs: Record<string, Tensor> = {};
  const outputs: Record<string, ExpectedTensor> = {};
  for (const [key, text] of Object.entries(metadata)) {
    if (!key.startsWith('inputs/')) continue;
    const { seed, dims } = parse<{ seed: number; dims: number[] }>(text, key, name);
    inputs[key.slice('inputs/'.length)] = { dtype: 'float32', dims, data: generate(seed, dims) };
  }
  for (const [key, tensor] of Object.entries(tensors)) {
    if (key.startsWith('inputs/')) inputs[key.slice('inputs/'.length)] = tensor;
    if (key.startsWith('outputs/'))
      outputs[key.slice('outputs/'.length)] = { ...tensor, ...(metadata[key] && parse<{ stride: number; dims: number[] }>(metadata[key], key, name)) };
  }
  if (Object.keys(inputs).length === 0 || Object.keys(outputs).length === 0)
    throw new TabServeError('model-format', `${name} is no golden example: it needs inputs/… and outputs/….`);
  return { inputs, outputs };
}

function parse<T>(text: string, key: string, name: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new TabServeError('model-format', `${name}: what its metadata says of "${key}" is not JSON.`, { cause });
  }
}

/** Uniform numbers in −1..1: `x ← (1664525 x + 1013904223) mod 2³²` (Numerical Recipes), each as `x / 2³¹ − 1` in float32. */
export function generate(seed: number, dims: readonly number[]): Float32Array {
  const values = new Float32Array(dims.reduce((product, dim) => product * dim, 1));
  let x = seed;
  for (let index = 0; index < values.length; index++) {
    x = (Math.imul(1664525, x) + 1013904223) >>> 0;
    values[index] = x / 2 ** 31 - 1;
  }
  return values;
}
