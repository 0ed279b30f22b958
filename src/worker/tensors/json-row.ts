/** Tensors of a row that came as JSON, which has lists and no typed arrays. */
import { describeValue } from '../../contract/describe-value.js';
import { invalidInput } from '../../contract/errors.js';
import type { Tensor, TensorInfo, TypedArrayInput } from '../../contract/tensors.js';
import { Fault } from '../../shared/open-inference/fault.js';
import { toFloat16 } from './float16.js';
import { rowFromJson } from './nested-lists.js';
import { from } from './tensors.js';

/** A number, a text, or lists in lists of them. */
export type JsonTensor = number | string | boolean | readonly JsonTensor[];

/**
 * Returns the tensors of a row, without a batch axis, in the dtypes that the model takes: an element for each number or
 * text. A table's row has a column for each input, such as `{ age: 41, job: 'nurse' }`.
 * @param row lists in lists for the input `first`; or by input name, lists, an element, or a tensor
 * @throws `invalid-input` if an input is missing or unknown, if lists differ in length, or for an element that is not
 *   of the dtype
 */
export function tensorsOfJson(row: unknown, inputs: readonly TensorInfo[], first: string): Record<string, Tensor> {
  const isByName = typeof row === 'object' && row !== null && !Array.isArray(row);
  const values = isByName ? (row as Readonly<Record<string, unknown>>) : { [first]: row };
  const unknown = Object.keys(values).find((name) => !inputs.some((input) => input.name === name));
  const missing = isByName ? inputs.find(({ name }) => !Object.hasOwn(values, name)) : undefined;
  if (unknown !== undefined || missing)
    throw invalidInput(
      `${unknown === undefined ? `The row has no "${missing!.name}"` : `The model has no input "${unknown}"`}. The model's inputs are ${inputs.map(({ name }) => `"${name}"`).join(', ')}.`,
    );
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      tensorOf(
        value,
        inputs.find((input) => input.name === name)!,
      ),
    ]),
  );
}

function tensorOf(value: unknown, info: TensorInfo): Tensor {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return from(value as TypedArrayInput);
  const rank = info.dims.length;
  let json = value;
  if (Array.isArray(value) && value.length === 1 && depthOf(value) === rank) [json] = value as [unknown];
  // A column of a table has one element a row.
  for (let axis = 1; axis < rank && !Array.isArray(value); axis++) json = [json];
  try {
    if (info.dtype !== 'float16') return rowFromJson(json, info);
    const { dims, data } = rowFromJson(json, { ...info, dtype: 'float32' });
    return { dtype: 'float16', dims, data: toFloat16(data as Float32Array) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw invalidInput(
      `The input "${info.name}" is ${info.dtype} [${info.dims.slice(1).map(String).join(', ')}] in a row, and ${describeValue(value)} does not fit: ${error.message}.`,
      error,
    );
  }
}

function depthOf(value: unknown): number {
  let depth = 0;
  for (let inner = value; Array.isArray(inner); [inner] = inner as [unknown]) depth += 1;
  return depth;
}
