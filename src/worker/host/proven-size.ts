/** How large the inputs are that a model was proven on. */
import type { Session, TensorInfo, Tensors } from '../../contract/tensors.js';

const sizes = new WeakMap<object, number>();

/** Records that a model was proven on inputs. */
export function noteProven(session: Session, feeds: Tensors): void {
  const size = sizeOf(session, feeds);
  if (size !== undefined) sizes.set(session, Math.max(size, provenSize(session) ?? 0));
}

/** Returns the size of the largest inputs that a model was proven on; undefined if it was proven on none. */
export function provenSize(session: Session): number | undefined {
  return sizes.get(session);
}

/**
 * Returns how many numbers one row of a model's inputs has, counting only inputs with free dims. Undefined if no dim is
 * free but the batch axis, which is the first one.
 */
export function sizeOf({ inputs }: Pick<Session, 'inputs'>, feeds: Tensors): number | undefined {
  const free = inputs.filter(({ name, dims }) => name in feeds && dims.slice(1).some((dim) => typeof dim !== 'number'));
  return free.length === 0 ? undefined : free.reduce((sum, input) => sum + rowSize(input, feeds), 0);
}

function rowSize({ name, dims }: TensorInfo, feeds: Tensors): number {
  const own = feeds[name]!.dims;
  const row = typeof dims[0] === 'number' ? own : own.slice(1);
  return row.reduce((product, dim) => product * dim, 1);
}
