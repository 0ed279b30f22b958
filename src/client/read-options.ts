import { describeValue } from '../contract/describe-value.js';
import { TabServeError, type ErrorCode } from '../contract/errors.js';

/**
 * Returns a copy of the options that the app passes, which may be of any type and have getters that throw.
 * @param expected in words, for the message
 * @throws `code` if they are not an object, or cannot be read
 */
export function readOptions<T extends object>(options: T, expected: string, code: ErrorCode): T {
  if (typeof options !== 'object' || options === null)
    throw new TabServeError(code, `expected ${expected}, got ${describeValue(options)}.`);
  try {
    return { ...options };
  } catch (cause) {
    throw new TabServeError(code, `expected ${expected}, got an object that cannot be read.`, { cause });
  }
}
