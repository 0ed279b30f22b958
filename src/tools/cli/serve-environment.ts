import { TabServeError } from '../../contract/errors.js';
import type { ServeFlags } from './serve.js';

/** What the environment sets. */
export interface ServeEnvironment {
  readonly flags: ServeFlags;
  /** The archives of `TS_LOAD_MODELS`. */
  readonly archives: readonly string[];
  /** The variables that have no counterpart here. */
  readonly unknown: readonly string[];
}

/** What each of TorchServe's variables sets: `TS_` and the name of a key of `config.properties`, in capitals. */
const FLAGS: Readonly<Record<string, (value: string) => ServeFlags>> = {
  TS_INFERENCE_ADDRESS: addressOf,
  TS_MODEL_STORE: (value) => ({ 'model-store': value }),
  TS_CORS_ALLOWED_ORIGIN: (value) => ({ cors: [value] }),
  TS_MAX_REQUEST_SIZE: (value) => ({ 'max-request-size': value }),
  TS_MAX_RESPONSE_SIZE: (value) => ({ 'max-response-size': value }),
  TS_DEFAULT_WORKERS_PER_MODEL: (value) => ({ workers: value }),
  TS_DEFAULT_RESPONSE_TIMEOUT: (value) => ({ timeout: value }),
  TS_TOKEN_EXPIRATION_MIN: (value) => ({ 'token-expiration-min': value }),
  TS_DISABLE_TOKEN_AUTHORIZATION: (value) => (value.toLowerCase() === 'false' ? { 'token-auth': true } : {}),
};

/** TorchServe's key for the archives that it starts with. */
const LOAD_MODELS = 'TS_LOAD_MODELS';

/**
 * Reads what TorchServe's environment variables say, which containers are configured by. A flag of the command line
 * counts more.
 * @throws `model-config` for an address that is no URL, and for one with https:
 */
export function readEnvironment(variables: Readonly<Record<string, string | undefined>>): ServeEnvironment {
  const names = Object.keys(variables).filter((name) => name.startsWith('TS_') && name !== LOAD_MODELS);
  const flags: ServeFlags = Object.assign({}, ...names.map((name) => FLAGS[name]?.(variables[name] ?? '')));
  const models = variables[LOAD_MODELS] ?? '';
  const archives = models
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '' && one !== 'none');
  return {
    flags,
    archives: archives.map((one) => (one.toUpperCase() === 'ALL' ? 'all' : one)),
    unknown: names.filter((name) => !FLAGS[name]),
  };
}

function addressOf(value: string): ServeFlags {
  const { protocol, hostname, port } = URL.canParse(value) ? new URL(value) : { protocol: '', hostname: '', port: '' };
  if (protocol !== 'http:')
    throw new TabServeError(
      'model-config',
      `TS_INFERENCE_ADDRESS: expected an address such as http://127.0.0.1:8080, got ${JSON.stringify(value)}. TLS is for a reverse proxy.`,
    );
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? '80' : port };
}
