import { TabServeError } from '../contract/errors.js';
import { describeValue } from '../contract/describe-value.js';

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
