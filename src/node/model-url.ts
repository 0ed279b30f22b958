import { statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { TabServeError } from '../contract/errors.js';
import { describeValue } from '../contract/describe-value.js';

/** A path of Windows, `C:\models`, looks like a URL too. */
const URL_START = /^(?:https?|file):/i;

/**
 * Returns the URL of a model: a URL as it is, and that of a path, which is relative to the working directory.
 * @throws `model-config` if it is neither
 */
export function modelUrl(model: unknown): URL | string {
  if (model instanceof URL) return model;
  if (typeof model !== 'string' || model === '')
    throw new TabServeError('model-config', `model: expected a path or a URL, got ${describeValue(model)}.`);
  if (URL_START.test(model)) return model;
  const url = pathToFileURL(model);
  const isFolder = statSync(model, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isFolder && !url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}
