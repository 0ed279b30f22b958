import { TabServeError } from '../contract/errors.js';
import { CLIENT_SETTINGS, SERVING } from '../contract/settings.js';
import { readOptions } from '../shared/read-options.js';
import type { OpenerOptions } from './worker-opener.js';

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
