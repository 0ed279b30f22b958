/** Rows of a batch as lists in lists: what `torch.tensor(row)` reads, and `output.tolist()` returns. */
import { describeValue } from '../../contract/describe-value.js';
import { dtypeInfo } from '../../contract/dtypes.js';
import type { Tensor, TensorInfo } from '../../contract/tensors.js';
import { Fault } from '../../shared/open-inference/fault.js';
import { dataFromJson, dataToJson } from '../../shared/open-inference/tensor-json.js';

/** Returns a row of a tensor as JSON. @throws `Fault` for float16, NaN and infinity */
export function rowToJson({ dtype, dims, data }: Tensor, row: number): string {
  const rowDims = dims.slice(1);
  const write = (axis: number, from: number, length: number): string => {
    if (axis >= rowDims.length - 1) {
      const list = dataToJson({ dtype, dims: [length], data: data.slice(from, from + length) as Tensor['data'] });
      return axis === rowDims.length ? list.slice(1, -1) : list;
    }
    const inner = length / rowDims[axis]!;
    const lists = Array.from({ length: rowDims[axis]! }, (_, index) => write(axis + 1, from + index * inner, inner));
    return `[${lists.join(',')}]`;
  };
  const size = rowDims.reduce((product, dim) => product * dim, 1);
  return write(0, row * size, size);
}

/**
 * Reads a row of an output, without the batch axis.
 * @throws `Fault` for lists of other lengths, and for an element that is not of the dtype
 */
export function rowFromJson(json: unknown, { dtype, dims }: TensorInfo): Tensor {
  const rowDims: number[] = [];
  let inner = json;
  for (const [axis, size] of dims.slice(1).entries()) {
    if (!Array.isArray(inner)) throw new Fault(`dim ${axis} is ${describeValue(inner)}, expected a list`);
    if (typeof size === 'number' && size !== inner.length)
      throw new Fault(`dim ${axis} has ${inner.length} elements, expected ${size}`);
    rowDims.push(inner.length);
    inner = inner[0];
  }
  const size = rowDims.reduce((product, dim) => product * dim, 1);
  // Lists inside of empty lists have no lengths.
  const list = rowDims.length === 0 ? [json] : size === 0 ? [] : json;
  return { dtype, dims: rowDims, data: dataFromJson(list, dtype, rowDims, size) };
}

/** Puts rows together, along a new first axis. @throws `Fault` if they differ in dims */
export function joinRows(rows: readonly Tensor[]): Tensor {
  const [{ dtype, dims: rowDims, data: firstData }] = rows as readonly [Tensor];
  const other = rows.find(({ dims }) => dims.join() !== rowDims.join());
  if (other) throw new Fault(`one row has dims [${rowDims.join(', ')}], another [${other.dims.join(', ')}]`);
  const dims = [rows.length, ...rowDims];
  const array = dtypeInfo(dtype)?.array;
  if (!array) return { dtype, dims, data: rows.flatMap(({ data }) => data as readonly string[]) };
  const data = new array(rows.length * firstData.length);
  for (const [index, row] of rows.entries()) data.set(row.data as never, index * firstData.length);
  return { dtype, dims, data };
}
