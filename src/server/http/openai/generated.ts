/** Reads what a handler returns that generates text. */
import { isGenerated, type Generated } from '../../../shared/generated-text.js';
import type { ServedVersion } from '../../served-version.js';
import { makesOther } from './models.js';

/** Returns a result as generated text. @throws `invalid-input` if the handler does not generate text */
export function readGenerated(result: unknown, served: ServedVersion): Generated {
  if (isGenerated(result)) return result;
  throw makesOther('text', served);
}
