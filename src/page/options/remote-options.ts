import type { ModelConfig } from '../../contract/archive.js';
import { TabServeError } from '../../contract/errors.js';
import { REMOTE_PROTOCOLS, type RemoteModel, type RemoteServer } from '../../contract/remote.js';
import { MAX_DELAY_MS, resolveSettings } from '../../contract/settings.js';
import { readDownloadRequest } from './download-settings.js';
import { wrongValue } from '../../shared/read-options.js';
import { oneOf, readMapping } from './values.js';
import type { ClientOptions } from './client-options.js';
import { absoluteUrl, folderUrl } from './values.js';

const KEYS = ['url', 'model', 'version', 'protocol', 'binary', 'headers', 'credentials', 'timeout'];
const TIMEOUT = { type: 'number', exclusiveMinimum: 0, maximum: MAX_DELAY_MS, default: 30_000 } as const;
const NAMES: ReadonlySet<string> = new Set(['remote', 'remote/http']);

/** What the option `remote` says. */
export interface ReadRemote {
  /** Undefined if the app has named no server. */
  readonly server: RemoteServer | undefined;
  /** The app's config. What the option says of the model is in `engine.remote`, where the archive may say it too. */
  readonly config: ModelConfig;
}

/**
 * Reads the option `remote`.
 * @throws `model-config` naming the key, what it may be, and what it is; or if `backends` does not name the server,
 *   which would never be asked
 */
export function readRemote(
  { remote, backends }: Pick<ClientOptions, 'remote' | 'backends'>,
  config: ModelConfig,
): ReadRemote {
  if (remote === undefined) return { server: undefined, config };
  const { url, headers, credentials, timeout, ...rest } = readMapping(
    remote,
    'remote',
    "the server's url and what else there is to say of it",
  );
  const unknown = Object.keys(rest).find((key) => !KEYS.includes(key));
  if (unknown !== undefined)
    throw new TabServeError('model-config', `remote.${unknown} is not a known key; there are ${KEYS.join(', ')}.`);
  if (!backends?.some((name) => NAMES.has(name)))
    throw new TabServeError(
      'model-config',
      "remote names a server, and backends does not: add 'remote' to it, such as backends: ['webgpu', 'wasm', 'remote'].",
    );
  const server: RemoteServer = {
    url: readUrl(url),
    timeout: readTimeout(timeout),
    hasFallback: !NAMES.has(backends.at(-1)!),
    ...readDownloadRequest({ headers, credentials }, 'remote'),
  };
  return {
    server,
    config: { ...config, engine: { ...config.engine, remote: { ...config.engine?.remote, ...readModel(rest) } } },
  };
}

function readUrl(value: unknown): string {
  const url = new URL(absoluteUrl(value as string, 'remote.url'));
  const isPlain = url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (isPlain && /^https?:$/.test(url.protocol)) return folderUrl(url.href);
  throw new TabServeError(
    'model-config',
    `remote.url: expected an http or https URL without user, query and fragment, got one of ${url.protocol}//${url.host}. A token belongs in remote.headers.`,
  );
}

function readTimeout(timeout: unknown): number {
  try {
    return resolveSettings({ timeout: TIMEOUT }, { timeout }).timeout;
  } catch (cause) {
    throw new TabServeError('model-config', `remote.${(cause as TabServeError).message}`);
  }
}

function readModel({ model, version, protocol, binary }: Readonly<Record<string, unknown>>): RemoteModel {
  for (const [key, name] of Object.entries({ model, version }))
    if (name !== undefined && (typeof name !== 'string' || name === ''))
      throw wrongValue(`remote.${key}`, 'a string that is not empty', name, 'model-config');
  if (protocol !== undefined) oneOf('remote.protocol', REMOTE_PROTOCOLS, protocol);
  if (binary !== undefined && typeof binary !== 'boolean')
    throw wrongValue('remote.binary', 'true or false', binary, 'model-config');
  const given = Object.entries({ model, version, protocol, binary }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}
