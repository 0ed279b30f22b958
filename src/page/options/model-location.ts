import { TabServeError } from '../../contract/errors.js';
import type { LoadRequest } from '../../contract/wire.js';
import { wrongValue } from '../../shared/read-options.js';
import { MODEL_NEEDED, readModelUrl } from '../../shared/model-url.js';
import { hubAddress } from '../../shared/hub.js';
import { isA } from '../../shared/is-a.js';
import { absoluteUrl } from './values.js';

/** Where a model is: a URL, a file that the visitor picked or dropped, or several of them. */
export type ModelLocation = string | URL | File | FileList | readonly File[];

/** Where a model is, as a worker takes it: an absolute URL, a file, or files by path. */
export interface ReadLocation {
  readonly source: LoadRequest['source'];
  /** The precision of the model's file whose page at the Hub is named. */
  readonly dtype?: string | undefined;
}

/**
 * Reads a model's location. Files of a picked folder have paths, others only names.
 * @throws `model-config` if it is none, or two files have the same path
 */
export function readLocation(model: ModelLocation): ReadLocation {
  if (model === undefined)
    throw new TabServeError('model-config', `model: expected a URL or files, got undefined. ${MODEL_NEEDED}`);
  const list = listOf(model);
  if (!list) {
    const { url, dtype } = readModelUrl(
      absoluteUrl(typeof model === 'string' ? hubAddress(model, 'model') : (model as URL), 'model'),
    );
    return { source: url.href, dtype };
  }
  const [file, ...others] = list;
  if (!file) throw wrongValue('model', 'a URL or files', [], 'model-config');
  if (others.length === 0 && !file.webkitRelativePath) return { source: file };
  const files = new Map(list.map((one) => [one.webkitRelativePath || one.name, one]));
  if (files.size === list.length) return { source: Object.fromEntries(files) };
  throw new TabServeError(
    'model-config',
    `model: two of the ${list.length} files have the same name. Pick their folder as a whole, or pack it into one file.`,
  );
}

/** Returns the files of a file or of a list of files; undefined if it is neither. */
function listOf(model: unknown): readonly File[] | undefined {
  if (typeof File === 'undefined') return undefined;
  if (model instanceof File) return [model];
  if (!Array.isArray(model) && !isA('FileList', model)) return undefined;
  const list: unknown[] = [...model];
  if (list.every((one): one is File => one instanceof File)) return list;
  throw wrongValue('model', 'files', list, 'model-config');
}
