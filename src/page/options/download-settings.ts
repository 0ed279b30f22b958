import type { Integrity } from '../../contract/archive.js';
import { CACHES, type DownloadSettings, type DownloadRequest } from '../../contract/downloads.js';
import { TabServeError } from '../../contract/errors.js';
import { wrongValue } from '../../shared/read-options.js';
import { oneOf, readMapping } from './values.js';
import type { ClientOptions } from './client-options.js';

const CREDENTIALS = ['omit', 'same-origin', 'include'] as const satisfies DownloadRequest['credentials'][];
/** Headers that resume a download, or that find out whether a cached file is still the server's. */
const OURS = new Set(['range', 'if-range', 'if-none-match', 'if-modified-since']);

/**
 * Reads the options on how files are downloaded, as data that crosses to a worker.
 * @throws `model-config` naming the option, what it may be, and what it is
 */
export function readDownloadSettings({
  request,
  allowedOrigins,
  integrity,
  cache,
}: Pick<ClientOptions, 'request' | 'allowedOrigins' | 'integrity' | 'cache'>): DownloadSettings {
  return {
    ...(request !== undefined && { request: readDownloadRequest(request, 'request') }),
    ...(allowedOrigins !== undefined && { allowedOrigins: readOrigins(allowedOrigins) }),
    ...(integrity !== undefined && { integrity: readIntegrity(integrity) }),
    ...(cache !== undefined && { cache: oneOf('cache', CACHES, cache) }),
  };
}

/**
 * Reads the headers and credentials of requests. @param option the option's name, for messages. @throws `model-config`
 */
export function readDownloadRequest(request: unknown, option: string): DownloadRequest {
  const { headers, credentials, ...others } = readMapping(request, option, 'headers and credentials');
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw new TabServeError('model-config', `${option}.${unknown} is not a known key; there are headers, credentials.`);
  return {
    ...(headers !== undefined && { headers: readHeaders(headers, `${option}.headers`) }),
    ...(credentials !== undefined && { credentials: oneOf(`${option}.credentials`, CREDENTIALS, credentials) }),
  };
}

function readHeaders(value: unknown, option: string): Readonly<Record<string, string>> {
  const headers = readMapping(value, option, "headers' names to strings");
  for (const [name, text] of Object.entries(headers)) {
    if (typeof text !== 'string') throw wrongValue(`${option}.${name}`, 'a string', text, 'model-config');
    if (OURS.has(name.toLowerCase()) || !isAccepted(name, text))
      throw new TabServeError(
        'model-config',
        `${option}.${name}: a page may not set this header, or its name or value has characters that a header may not have.`,
      );
  }
  return headers as Record<string, string>;
}

/** Returns whether the browser accepts a header. It silently drops those that a page may not set, such as `Cookie`. */
function isAccepted(name: string, text: string): boolean {
  try {
    return new Request('https://example.org', { headers: { [name]: text } }).headers.has(name);
  } catch {
    return false;
  }
}

function readOrigins(value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw wrongValue('allowedOrigins', 'a list of origins', value, 'model-config');
  return value.map((text: unknown, index) => {
    const url = typeof text === 'string' ? parseUrl(text) : undefined;
    const fits = url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
    if (!fits)
      throw wrongValue(`allowedOrigins[${index}]`, "an origin such as 'https://cdn.example.org'", text, 'model-config');
    return url.origin;
  });
}

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function readIntegrity(value: unknown): Readonly<Record<string, Integrity>> {
  const entries = Object.entries(readMapping(value, 'integrity', 'paths to SHA-256 hashes'));
  return Object.fromEntries(
    entries.map(([path, entry]): [string, Integrity] => {
      if (isHash(entry)) return [path, { sha256: entry }];
      const { bytes, sha256, ...others } = (typeof entry === 'object' ? { ...entry } : { entry }) as Record<
        string,
        unknown
      >;
      const fits =
        Object.keys(others).length === 0 &&
        (bytes === undefined || (Number.isSafeInteger(bytes) && (bytes as number) >= 0)) &&
        (sha256 === undefined || isHash(sha256)) &&
        (bytes ?? sha256) !== undefined;
      if (!fits)
        throw wrongValue(
          `integrity["${path}"]`,
          'a SHA-256 of 64 hexadecimal digits, or { bytes, sha256 }',
          entry,
          'model-config',
        );
      return [
        path,
        {
          ...(bytes !== undefined && { bytes: bytes as number }),
          ...(sha256 !== undefined && { sha256: sha256 as string }),
        },
      ];
    }),
  );
}

function isHash(value: unknown): value is string {
  return typeof value === 'string' && /^[\da-f]{64}$/i.test(value);
}
