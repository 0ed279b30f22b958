import { describeValue } from '../../contract/describe-value.js';
import { wrongValue } from '../../shared/read-options.js';
import { TabServeError } from '../../contract/errors.js';

/**
 * Returns a copy of a mapping, so that later changes of the app's own have no effect.
 * @throws `model-config` if it is none
 */
export function readMapping(value: unknown, option: string, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw wrongValue(option, `a mapping of ${what}`, value, 'model-config');
}

/** Returns a value that is one of a few. @throws `model-config` if it is not */
export function oneOf<T>(option: string, values: readonly T[], value: unknown): T {
  if (values.some((one) => one === value)) return value as T;
  throw wrongValue(option, `one of ${values.map(describeValue).join(', ')}`, value, 'model-config');
}

/**
 * Returns the absolute form of a URL that the app passed, relative to the page.
 * @param option the option's name, for the message
 * @throws `model-config` if it is not a URL
 */
export function absoluteUrl(url: string | URL, option: string): string {
  const base = globalThis.document?.baseURI ?? globalThis.location?.href;
  try {
    if (typeof url === 'string' || url instanceof URL) return new URL(url, base).href;
  } catch {
    // Reported below.
  }
  const advice = base === undefined ? ' Nothing is relative here: pass an absolute URL.' : '';
  throw new TabServeError('model-config', `${option}: expected a URL, got ${describeValue(url)}.${advice}`);
}

/** Returns the URL with a slash at its end. */
export function folderUrl(url: string): string {
  return url.endsWith('/') ? url : `${url}/`;
}
