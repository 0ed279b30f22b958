import { arrayName } from '../contract/dtypes.js';
import type { Tensor, TensorInfo, Tensors } from '../contract/tensors.js';
import { TabServeError } from '../contract/errors.js';
import { GpuTensor } from '../tensors/gpu-tensor.js';

/**
 * Checks feeds against a model's signature.
 * @throws `invalid-input` naming the input, with the expected and the given dtype and dims.
 */
export function checkFeeds(feeds: Tensors, inputs: readonly TensorInfo[]): void {
  for (const name of Object.keys(feeds)) {
    if (!inputs.some((input) => input.name === name)) {
      throw invalid(
        `The model has no input "${name}"; its inputs are ${inputs.map((input) => `"${input.name}"`).join(', ')}.`,
      );
    }
  }
  for (const input of inputs) {
    const tensor = Object.hasOwn(feeds, input.name) ? feeds[input.name] : undefined;
    if (!tensor) throw invalid(`Input "${input.name}" is missing: expected ${formatTensor(input)}.`);
    checkTensor(tensor, input);
  }
}

function checkTensor(tensor: Tensor, input: TensorInfo): void {
  const fits =
    tensor.dtype === input.dtype &&
    tensor.dims.length === input.dims.length &&
    input.dims.every((size, axis) => typeof size !== 'number' || size === tensor.dims[axis]);
  if (!fits) throw invalid(`Input "${input.name}" expects ${formatTensor(input)}, got ${formatTensor(tensor)}.`);
  if (tensor instanceof GpuTensor) return;
  const array = Object.prototype.toString.call(tensor.data).slice(8, -1);
  if (array !== arrayName(tensor.dtype))
    throw invalid(
      `Input "${input.name}" is ${tensor.dtype}, whose data is a ${arrayName(tensor.dtype)}, got a ${array}.`,
    );
  const size = tensor.dims.reduce((product, dim) => product * dim, 1);
  if (tensor.data.length !== size) {
    throw invalid(
      `Input "${input.name}" has dims [${tensor.dims.join(', ')}], which make ${size} elements, but ${tensor.data.length} elements of data.`,
    );
  }
}

/** Formats dtype and dims, e.g. `float32 [batch, 3, 224, 224]`. */
export function formatTensor({ dtype, dims }: Pick<TensorInfo, 'dtype' | 'dims'>): string {
  return `${dtype} [${dims.map((size) => size ?? '?').join(', ')}]`;
}

function invalid(message: string): TabServeError {
  return new TabServeError('invalid-input', message);
}
