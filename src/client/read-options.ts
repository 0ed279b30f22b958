import { describeValue, shorten } from '../contract/describe-value.js';
import { TabServeError, type ErrorCode } from '../contract/errors.js';
import { CLIENT_SETTINGS, SERVING } from '../contract/settings.js';
import type { OpenerOptions } from './worker-opener.js';

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

/**
 * Reads the options of a call.
 * @param call what takes them, for the message
 * @param names of the options that there are
 * @param advice a sentence for the message
 * @throws `invalid-input` if they are not an object, cannot be read, or have one that does not exist
 */
export function readCallOptions<T extends object>(
  options: T,
  call: string,
  names: readonly (keyof T & string)[],
  advice = '',
): T {
  const read = readOptions(options, 'an object as options', 'invalid-input');
  for (const [name, value] of Object.entries(read))
    if (value !== undefined && !names.some((known) => known === name))
      throw new TabServeError(
        'invalid-input',
        `${shorten(name)} is not an option of ${call} (${names.join(', ')}).${advice && ` ${advice}`}`,
      );
  return read;
}

type OwnOption = Exclude<keyof OpenerOptions, keyof typeof SERVING | keyof typeof CLIENT_SETTINGS>;

const OWN: Readonly<Record<OwnOption, true>> = {
  model: true,
  handler: true,
  backends: true,
  remote: true,
  prefer: true,
  verify: true,
  verdicts: true,
  config: true,
  assets: true,
  request: true,
  allowedOrigins: true,
  integrity: true,
  cache: true,
  share: true,
};

/** Reads a client's options. @throws `model-config` if they are not an object, cannot be read, or have one that does not exist */
export function readClientOptions<T extends object>(options: T): T {
  const read = readOptions(
    options,
    "options with the model's URL, such as { model: '/models/digits/' }",
    'model-config',
  );
  const names = Object.keys({ ...OWN, ...SERVING, ...CLIENT_SETTINGS });
  for (const [name, value] of Object.entries(read))
    if (value !== undefined && !names.includes(name))
      throw new TabServeError('model-config', `${name} is not an option; there are ${names.join(', ')}.`);
  return read;
}
