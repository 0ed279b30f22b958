import { describeValue, shorten } from '../contract/describe-value.js';
import { TabServeError, type ErrorCode } from '../contract/errors.js';

/**
 * Returns a copy of the options that the app passes, which may be of any type.
 * @param expected in words, for the message
 * @throws `code` if they are not an object
 */
export function readOptions<T extends object>(options: T, expected: string, code: ErrorCode = 'invalid-input'): T {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new TabServeError(code, `expected ${expected}, got ${describeValue(options)}.`);
  return { ...options };
}

/**
 * Reads the options of a call.
 * @param call what takes them, for the message
 * @param names of the options that there are
 * @param advice a sentence for the message, with a space in front
 * @throws `invalid-input` if they are not an object, or have one that does not exist
 */
export function readCallOptions<T extends object>(
  options: T,
  call: string,
  names: readonly (keyof T & string)[],
  advice = '',
): T {
  const read = readOptions(options, `an object as options of ${call}`);
  for (const [name, value] of Object.entries(read))
    if (value !== undefined && !(names as readonly string[]).includes(name))
      throw new TabServeError(
        'invalid-input',
        `${shorten(name)} is not an option of ${call} (${names.join(', ')}).${advice}`,
      );
  return read;
}

/** Returns the error for a value of a wrong type, or that is not allowed. @param key its path, such as `remote.url` */
export function wrongValue(
  key: string,
  expected: string,
  got: unknown,
  code: ErrorCode = 'invalid-input',
): TabServeError {
  return new TabServeError(code, `${key}: expected ${expected}, got ${describeValue(got)}.`);
}
