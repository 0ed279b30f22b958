import { messageOf, TabServeError } from '../../contract/errors.js';
import { mapLeaves } from './copy.js';
import { RetainedValue, type KeptInput } from './retained-value.js';
import type { Prepared } from './inputs.js';

/**
 * Retains a prepared input, which must not have been sent.
 * @throws `invalid-input` if it contains a kept input; `not-cloneable` if it contains something that cannot be copied, such
 *   as a function
 */
export function keepInput(prepared: Prepared): KeptInput {
  try {
    if (prepared.retained?.length)
      throw new TabServeError(
        'invalid-input',
        'keep: the input contains an input that is kept already. Pass that one in the input of each request.',
      );
    const { value, transferables } = prepared.message()!;
    const own = structuredClone(value, { transfer: [...transferables] });
    return new RetainedValue(own, () => mapLeaves(own, (leaf) => void (leaf as Partial<ImageBitmap>).close?.()));
  } catch (cause) {
    if (cause instanceof TabServeError) throw cause;
    throw new TabServeError('not-cloneable', `The input could not be copied: ${messageOf(cause)}`, { cause });
  } finally {
    prepared.release();
  }
}
