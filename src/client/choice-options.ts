import { isList } from '../contract/describe-value.js';
import type { ClientOptions } from './options.js';
import { oneOf, readMapping, wrong } from './option-values.js';

const PREFERENCES = ['first', 'fastest'] as const;
const VERIFICATIONS = ['golden', 'reference'] as const;

type Choice = Required<Pick<ClientOptions, 'prefer' | 'verify'>> & { readonly backends: ClientOptions['backends'] };

/**
 * Reads the options on how a backend is chosen, and checks that the config has keys.
 * @throws `model-config` naming the option, what it may be, and what it is
 */
export function readChoice({
  backends,
  prefer = 'first',
  verify = 'golden',
  config = {},
}: Pick<ClientOptions, 'backends' | 'prefer' | 'verify' | 'config'>): Choice {
  readMapping(config, 'config', "model-config.yaml's keys to values");
  if (backends !== undefined && !(isList(backends) && backends.length > 0))
    throw wrong('backends', "a list of at least one backend, such as ['webgpu', 'wasm']", backends);
  return { backends, prefer: oneOf('prefer', PREFERENCES, prefer), verify: oneOf('verify', VERIFICATIONS, verify) };
}
