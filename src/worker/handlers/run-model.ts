import { zeroData } from '../../contract/dtypes.js';
import type { RunOptions, Session, Tensor, TensorInfo, Tensors } from '../../contract/tensors.js';
import { nextTask } from '../../shared/next-task.js';
import { checkEqual } from '../tensors/check-equal.js';
import { numbersOf } from '../outputs/rows.js';
import { concat, pad, row, slice, stack, toFloats } from '../tensors/tensors.js';

/**
 * Runs a batch. If the model fixes its batch axis at another size, the batch runs in sub-batches of that size; copies of the
 * last row pad the last one. If the model has no batch axis, or its outputs have none, each row runs alone.
 * @param unbatched the outputs that have no batch axis though the inputs have one: only these are returned, padded with
 *   −1 to the length of the longest
 * @throws `invalid-input` if the sub-batches' outputs differ in dims: then the worker runs each row alone
 */
export async function runBatch(
  session: Session,
  feeds: Tensors,
  options?: RunOptions,
  unbatched?: readonly string[],
): Promise<Tensors> {
  if (unbatched) {
    const rows = await runRows(session, feeds, options);
    const stacked = unbatched.map((name) => [name, stackPadded(rows.map((outputs) => numbersOf(outputs, name)))]);
    return Object.fromEntries(stacked) as Tensors;
  }
  if (session.inputs.every((input) => lacksBatch(input, feeds))) {
    const rows = await runRows(session, feeds, options);
    return mapTensors(rows[0]!, (_, name) => stack(rows.map((outputs) => outputs[name]!)));
  }
  const rows = Object.values(feeds)[0]?.dims[0];
  const fixed = session.inputs[0]?.dims[0];
  const batched =
    Object.values(feeds).every(({ dims }) => dims[0] === rows) && session.inputs.every(({ dims }) => dims[0] === fixed);
  if (rows === undefined || typeof fixed !== 'number' || rows === fixed || fixed === 0 || !batched)
    return await session.run(feeds, options);
  const outputs: Tensors[] = [];
  for (let from = 0; from < rows; from += fixed) {
    const to = Math.min(from + fixed, rows);
    const subBatch = mapTensors(feeds, (tensor) => {
      const part = view(tensor, from, to);
      if (to - from === fixed) return part;
      const last = view(tensor, to - 1, to);
      return concat([part, ...Array.from({ length: fixed - (to - from) }, () => last)]);
    });
    outputs.push(await session.run(subBatch, options));
    await nextTask();
  }
  return mapTensors(outputs[0]!, ({ dims }, name) => {
    const parts = outputs.map((one) => one[name]!);
    checkEqual(parts);
    return dims[0] === fixed ? slice(concat(parts), 0, rows) : concat(parts);
  });
}

/** Returns the rows `start` to `end` − 1 in the same memory: an engine copies what it runs on. */
function view(tensor: Tensor, start: number, end: number): Tensor {
  const { dtype, dims, data } = tensor;
  if (Array.isArray(data)) return slice(tensor, start, end);
  const size = data.length / dims[0]!;
  const part = (data as Float32Array).subarray(start * size, end * size);
  return { dtype, dims: [end - start, ...dims.slice(1)], data: part };
}

/** Runs each row alone. Returns the outputs of each row as the model returned them. */
async function runRows(session: Session, feeds: Tensors, options?: RunOptions): Promise<Tensors[]> {
  const rows: Tensors[] = [];
  for (let index = 0; index < Object.values(feeds)[0]!.dims[0]!; index++) {
    const rowFeeds = session.inputs
      .filter(({ name }) => name in feeds)
      .map((input) => [input.name, (lacksBatch(input, feeds) ? row : rowAsBatch)(feeds[input.name]!, index)] as const);
    rows.push(await session.run(Object.fromEntries(rowFeeds), options));
    await nextTask();
  }
  return rows;
}

function stackPadded(rows: readonly Tensor[]): Tensor {
  const floats = rows.map((tensor): Tensor<'float32'> => ({
    dtype: 'float32',
    dims: tensor.dims,
    data: toFloats(tensor),
  }));
  const longest = Math.max(...floats.map(({ dims }) => dims[0]!));
  return stack(floats.map((tensor) => pad(tensor, longest, -1)));
}

function rowAsBatch(tensor: Tensors[string], index: number): Tensors[string] {
  return slice(tensor, index, index + 1);
}

function lacksBatch({ name, dims }: TensorInfo, feeds: Tensors): boolean {
  return feeds[name]?.dims.length === dims.length + 1;
}

/** Returns zeros for every input, for one row, or undefined if an input has a dynamic dim besides the batch axis. */
export function zeros(inputs: readonly TensorInfo[]): Tensors | undefined {
  const feeds: Record<string, Tensors[string]> = {};
  for (const { name, dtype, dims } of inputs) {
    const [batch, ...rest] = dims;
    if (rest.some((size) => typeof size !== 'number')) return undefined;
    const known = dims.length === 0 ? [] : [typeof batch === 'number' ? batch : 1, ...(rest as number[])];
    feeds[name] = {
      dtype,
      dims: known,
      data: zeroData(
        dtype,
        known.reduce((product, dim) => product * dim, 1),
      ),
    };
  }
  return feeds;
}

function mapTensors(tensors: Tensors, change: (tensor: Tensors[string], name: string) => Tensors[string]): Tensors {
  return Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [name, change(tensor, name)]));
}
