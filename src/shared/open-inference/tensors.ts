/** The tensors of a message: the entries of `inputs` or `outputs`, and the bytes after the JSON. */
import { describeValue, shorten } from '../../contract/describe-value.js';
import type { Tensor, Tensors } from '../../contract/tensors.js';
import { isRecord } from '../schema.js';
import { datatypeOf, dtypeOf } from './datatypes.js';
import { Fault } from './fault.js';
import { dataFromBytes, dataToBytes } from './tensor-bytes.js';
import { dataFromJson, dataToJson } from './tensor-json.js';

/** The maximum number of dims of a tensor: NumPy's limit. */
const MAX_DIMS = 64;
/** The maximum number of tensors of a message: sending each to the worker costs far more than its bytes. */
const MAX_TENSORS = 1000;

/** Which tensors travel as bytes: all, none, or those with these names. */
export type BinaryTensors = boolean | readonly string[];

/**
 * Returns the entries of tensors as JSON, and the bytes of those that are not in it.
 * @throws `Fault` naming the tensor
 */
export function writeTensors(tensors: Tensors, binary: BinaryTensors): { json: string; parts: Uint8Array[] } {
  const parts: Uint8Array[] = [];
  const entries = Object.entries(tensors).map(([name, tensor]) =>
    naming(name, () => {
      const isBinary = typeof binary === 'boolean' ? binary : binary.includes(name);
      if (isBinary) parts.push(dataToBytes(tensor));
      const content = isBinary
        ? `"parameters":{"binary_data_size":${parts.at(-1)!.length}}`
        : `"data":${dataToJson(tensor)}`;
      return `{"name":${JSON.stringify(name)},"shape":[${tensor.dims.join(',')}],"datatype":"${datatypeOf(tensor.dtype)}",${content}}`;
    }),
  );
  return { json: `[${entries.join(',')}]`, parts };
}

/**
 * Reads tensors by name.
 * @param entries the value of `key`, which is `inputs` or `outputs`
 * @param binary the bytes after the JSON, all of which the tensors must take up
 * @throws `Fault` naming the tensor
 */
export function readTensors(entries: unknown, key: string, binary: Uint8Array): Tensors {
  if (!Array.isArray(entries)) throw new Fault(`"${key}" is ${describeValue(entries)}, expected a list of tensors`);
  if (entries.length > MAX_TENSORS)
    throw new Fault(`"${key}" has ${entries.length} tensors, expected at most ${MAX_TENSORS}`);
  const tensors = new Map<string, Tensor>();
  let at = 0;
  for (const [index, entry] of (entries as readonly unknown[]).entries()) {
    if (!isRecord(entry) || typeof entry['name'] !== 'string')
      throw new Fault(`${key}[${index}] is ${describeValue(entry)}, expected a tensor with a name`);
    const { name } = entry;
    if (tensors.has(name)) throw new Fault(`"${key}" has two tensors "${shorten(name)}"`);
    naming(name, () => {
      const size = binarySize(entry);
      const left = binary.length - at;
      if (size !== undefined && size > left)
        throw new Fault(`it has a binary_data_size of ${size}, and ${left} bytes are left of the body`);
      tensors.set(name, readTensor(entry, size === undefined ? undefined : binary.subarray(at, at + size)));
      at += size ?? 0;
    });
  }
  if (at < binary.length) throw new Fault(`${binary.length - at} bytes of the body belong to no tensor`);
  return Object.fromEntries(tensors);
}

function readTensor(entry: Readonly<Record<string, unknown>>, bytes: Uint8Array | undefined): Tensor {
  const dtype = dtypeOf(entry['datatype']);
  const dims = readShape(entry['shape']);
  const size = dims.reduce((product, dim) => product * dim, 1);
  const data =
    bytes === undefined ? dataFromJson(entry['data'], dtype, dims, size) : dataFromBytes(bytes, dtype, dims, size);
  return { dtype, dims, data };
}

function readShape(shape: unknown): readonly number[] {
  if (Array.isArray(shape) && shape.length > MAX_DIMS)
    throw new Fault(`its shape has ${shape.length} dims, expected at most ${MAX_DIMS}`);
  if (Array.isArray(shape) && shape.every((dim) => Number.isSafeInteger(dim) && dim >= 0)) return shape as number[];
  throw new Fault(`its shape is ${describeValue(shape)}, expected a list of integers ≥ 0`);
}

function binarySize({ parameters }: Readonly<Record<string, unknown>>): number | undefined {
  if (!isRecord(parameters)) return undefined;
  if (Object.hasOwn(parameters, 'shared_memory_region')) throw new Fault('its data is in shared memory');
  const { binary_data_size: size } = parameters;
  if (size === undefined || (Number.isSafeInteger(size) && (size as number) >= 0)) return size as number | undefined;
  throw new Fault(`its binary_data_size is ${describeValue(size)}, expected an integer ≥ 0`);
}

function naming<T>(name: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof Fault)) throw cause;
    throw new Fault(`tensor "${shorten(name)}": ${cause.message}`, { cause: cause.cause });
  }
}
