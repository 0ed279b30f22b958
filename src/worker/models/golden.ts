import type { ExpectedTensor, Golden, Tensor, TensorInfo } from '../../contract/tensors.js';
import { shorten } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import { MAX_TENSOR_ELEMENTS } from '../../contract/limits.js';
import { areCounts, readSafetensors } from '../tensors/safetensors.js';

/**
 * Reads a golden example of an archive, a `.safetensors` file with the tensors `inputs/<name>` and `outputs/<name>`.
 * For large tensors the metadata has a JSON text under the tensor's key. A float32 input is generated from
 * `{"seed": 1, "dims": [1, 3, 224, 224]}`. An output with `{"stride": 7, "dims": [1, 1000]}` is a sample: the file has
 * every seventh element of a tensor of these dims.
 * @param model the inputs of the model; if given, the example's inputs must fit, which is checked before any is
 *   generated
 * @throws `model-format` if the file is damaged, holds no inputs or no outputs, is of another model, or asks for more
 *   than `MAX_TENSOR_ELEMENTS` generated numbers
 */
export function readGolden(bytes: Uint8Array, name: string, model?: readonly TensorInfo[]): Golden {
  const { tensors, metadata } = readSafetensors(bytes, name);
  const inputs: Record<string, Tensor> = {};
  const outputs: Record<string, ExpectedTensor> = {};
  const seeded = Object.entries(metadata)
    .filter(([key]) => key.startsWith('inputs/'))
    .map(([key, text]) => [key, parse(text, key, name, 'seed')] as const);
  const stored = Object.entries(tensors).filter(([key]) => key.startsWith('inputs/'));
  if (model) for (const [key, { dims }] of [...seeded, ...stored]) checkInput(key, dims, model, name);
  const total = seeded.reduce((sum, [, { dims }]) => sum + sizeOf(dims), 0);
  if (!(total <= MAX_TENSOR_ELEMENTS))
    throw new TabServeError(
      'model-format',
      `${name} asks for inputs of ${total} generated numbers; an example may have ${MAX_TENSOR_ELEMENTS}.`,
    );
  for (const [key, { seed, dims }] of seeded)
    inputs[key.slice('inputs/'.length)] = { dtype: 'float32', dims, data: generate(seed, dims) };
  for (const [key, tensor] of Object.entries(tensors)) {
    if (key.startsWith('inputs/')) inputs[key.slice('inputs/'.length)] = tensor;
    if (key.startsWith('outputs/'))
      outputs[key.slice('outputs/'.length)] = sampleOf(
        tensor,
        Object.hasOwn(metadata, key) ? metadata[key] : undefined,
        key,
        name,
      );
  }
  if (Object.keys(inputs).length === 0 || Object.keys(outputs).length === 0)
    throw new TabServeError('model-format', `${name} is no golden example: it needs inputs/… and outputs/….`);
  return { inputs, outputs };
}

/**
 * Checks the name and the dims of an input, on which a wrong example may spend all memory. The engine checks the rest.
 */
function checkInput(key: string, dims: readonly number[], model: readonly TensorInfo[], name: string): void {
  const own = key.slice('inputs/'.length);
  const input = model.find((one) => one.name === own);
  const fits =
    input?.dims.length === dims.length &&
    input.dims.every((size, axis) => typeof size !== 'number' || size === dims[axis]);
  if (fits) return;
  const expected = input
    ? `is [${input.dims.map((size) => size ?? '?').join(', ')}] in the model`
    : `is no input of the model, which has ${model.map((one) => `"${shorten(one.name)}"`).join(', ')}`;
  throw new TabServeError(
    'model-format',
    `${name} is a golden example of another model: its "${shorten(own)}", [${dims.join(', ')}], ${expected}. Make it again with npx tabserve archive --golden.`,
  );
}

function sampleOf(tensor: Tensor, text: string | undefined, key: string, name: string): ExpectedTensor {
  if (text === undefined) return tensor;
  const { stride, dims } = parse(text, key, name, 'stride');
  const count = Math.ceil(sizeOf(dims) / stride);
  if (tensor.data.length === count) return { ...tensor, stride, dims };
  throw new TabServeError(
    'model-format',
    `${name}: "${key}" has ${tensor.data.length} elements, every ${stride}th of [${dims.join(', ')}] makes ${count}.`,
  );
}

function parse<K extends 'seed' | 'stride'>(
  text: string,
  key: string,
  name: string,
  number: K,
): Record<K, number> & { dims: readonly number[] } {
  try {
    const value = JSON.parse(text) as Record<K, number> & { dims: readonly number[] };
    if (areCounts([value[number]]) && areCounts(value.dims) && (number === 'seed' || value[number] > 0)) return value;
  } catch {
    // The error below says what was expected.
  }
  throw new TabServeError(
    'model-format',
    `${name}: its metadata says ${text} under "${key}", expected {"${number}": …, "dims": […]}.`,
  );
}

function sizeOf(dims: readonly number[]): number {
  return dims.reduce((product, dim) => product * dim, 1);
}

/**
 * Returns uniform numbers in −1..1: `x ← (1664525 x + 1013904223) mod 2³²` (Numerical Recipes), each as `x / 2³¹ − 1`
 * in float32.
 */
export function generate(seed: number, dims: readonly number[]): Float32Array {
  const values = new Float32Array(sizeOf(dims));
  let x = seed;
  for (let index = 0; index < values.length; index++) {
    x = (Math.imul(1664525, x) + 1013904223) >>> 0;
    values[index] = x / 2 ** 31 - 1;
  }
  return values;
}
