import { shorten } from '../contract/describe-value.js';
import { TabServeError } from '../contract/errors.js';
import { nearestName } from './nearest-name.js';

/**
 * Checks that an object that stands for one input has no other keys than the known ones, whose values would be ignored.
 * @throws `invalid-input` naming the key, and the one that was probably meant
 */
export function checkKeys(input: object, known: readonly string[]): void {
  const unknown = Object.keys(input).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const meant = nearestName(unknown, known);
  throw new TabServeError(
    'invalid-input',
    `The input has the unknown key "${shorten(unknown)}"${meant === undefined ? '' : `; probably ${meant} is meant`}. Its keys are ${known.join(', ')}.`,
  );
}
