import { statSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { TabServeError } from '../../contract/errors.js';
import { describeValue, shorten } from '../../contract/describe-value.js';
import { hubAddress } from '../../shared/hub.js';
import { MODEL_NEEDED } from '../../shared/model-url.js';

/** A path of Windows, `C:\models`, looks like a URL too. */
const URL_START = /^(?:https?|file):/i;

/**
 * Returns the URL of a model: that of a path is relative to the working directory. Any address of the Hub becomes a URL.
 * @throws `model-config` if it is neither, or cannot be a path on this machine (`file://host/…`, a path with NUL)
 */
export function modelUrl(model: unknown): URL | string {
  if (!(model instanceof URL) && (typeof model !== 'string' || model === '')) throw notModel(model);
  const text = hubAddress(String(model), 'model');
  try {
    if (/^file:/i.test(text)) fileURLToPath(text);
    if (model instanceof URL || URL_START.test(text)) return text;
    const url = pathToFileURL(text);
    const isFolder = statSync(text, { throwIfNoEntry: false })?.isDirectory() === true;
    if (isFolder && !url.pathname.endsWith('/')) url.pathname += '/';
    return url;
  } catch (cause) {
    throw notModel(model, cause);
  }
}

function notModel(model: unknown, cause?: unknown): TabServeError {
  const why = cause instanceof Error ? `: ${shorten(cause.message)}` : '';
  const advice = model === undefined ? ` ${MODEL_NEEDED}` : '';
  const message = `model: expected a path or a URL, got ${describeValue(model)}${why}.${advice}`;
  return new TabServeError('model-config', message, { cause });
}
