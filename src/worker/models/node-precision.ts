import type { ModelConfig } from '../../contract/archive.js';
import { shorten } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import type { Precision } from '../../contract/precisions.js';

/**
 * Returns the precision that `engine.dtype` chooses for a node: the one for all, or its own; undefined if it chooses
 * none.
 * @param names of all nodes; none if the model is one file
 * @throws `model-config` if it names something that is not a node
 */
export function chosenForNode({ engine }: ModelConfig, node: string, names: readonly string[]): Precision | undefined {
  const { dtype } = engine ?? {};
  if (typeof dtype !== 'object') return dtype;
  const unknown = Object.keys(dtype).find((name) => !names.includes(name));
  if (unknown === undefined) return Object.hasOwn(dtype, node) ? dtype[node] : undefined;
  const expected = names.length > 0 ? names.join(', ') : 'one precision, because the model is one file';
  throw new TabServeError(
    'model-config',
    `engine.dtype.${shorten(unknown)}: there is no node of this name; expected ${expected}.`,
  );
}
