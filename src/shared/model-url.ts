import { MODEL_FORMATS, type ModelFormat } from '../contract/backends.js';
import { describeValue, shorten } from '../contract/describe-value.js';
import { TabServeError } from '../contract/errors.js';
import { hubAddress, isHub, readHubUrl } from './hub.js';

/** What to do about an option `model` that is missing. */
export const MODEL_NEEDED =
  'Name the archive or the model file that the handler opens; for a workflow, the archive that names its nodes.';

/** Where a model is on a server. */
export interface ModelUrl {
  /** The URL of the file, as it was given, or of the folder, whose path ends in a slash. */
  readonly url: URL;
  /** The file's own name: a packed archive, or a model without an archive; undefined for a folder. */
  readonly file: string | undefined;
  /** The precision that the address of a file's page at the Hub names. */
  readonly dtype?: string | undefined;
}

/** The formats, by the ending of the file's name. */
const ENDINGS: Readonly<Record<ModelFormat, RegExp>> = { onnx: /\.onnx$/i, tfjs: /\.json$/i };
const PACKED = /\.(mar|war|zip|tgz|tar\.gz|tar)$/i;

/** Returns the format of such a file. */
export function formatOf(path: string): ModelFormat | undefined {
  return MODEL_FORMATS.find((format) => ENDINGS[format].test(path));
}

/** Returns whether a file's name is that of a packed archive. */
export function isPacked(file: string): boolean {
  return PACKED.test(file);
}

/**
 * Reads what a model's URL names: a file, by its name's ending; otherwise a folder, or a repository of the Hub by any of
 * its addresses.
 * @param option the option's name, for the message
 * @throws `model-config` for a URL below which there are no files, such as `blob:` or `data:`, or that cannot be
 *   decoded
 */
export function readModelUrl(href: string, option = 'model'): ModelUrl {
  const wrong = (why: string): TabServeError =>
    new TabServeError(
      'model-config',
      `${option}: expected the URL of a file or folder, got ${describeValue(href)}${why}`,
    );
  if (!URL.canParse(href)) throw wrong('.');
  const url = new URL(hubAddress(href, option));
  if (isHub(url)) url.searchParams.delete('download');
  url.hash = '';
  if (!URL.canParse('.', url))
    throw wrong(`: it has no folder for other files. Pass local data as a File: new File([bytes], 'model.onnx').`);
  const name = nameOf(url.pathname);
  if (name === undefined) throw wrong(': its %-escapes are not UTF-8.');
  const repository = readHubUrl(url, option);
  if (repository) return { ...repository, file: undefined };
  if (isPacked(name) || formatOf(name)) return { url, file: name };
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return { url, file: undefined };
}

/** Returns the last name of a path. A storage service may write the slashes of an object's name as `%2F`. */
function nameOf(path: string): string | undefined {
  try {
    return decodeURIComponent(path).split(/[/\\]/).at(-1)!;
  } catch {
    return undefined;
  }
}

/** The characters that a URL parser would not read as part of a path: escapes, a backslash, and those that it skips. */
const SPECIAL = /[%\\\t\n\r]/g;
/** A path that is relative to nothing: `/a`, `//host/a`, `\a`, `https:a`. */
const ABSOLUTE = /^\s*(?:[/\\]|[a-z][a-z\d+.-]*:)/i;

/**
 * Returns the URL of a file: of the model's own file, or of one beside or below it.
 * @param path in the model's folder
 * @throws `model-format` if it leads out of the folder
 */
export function locateFile({ url, file }: ModelUrl, path: string): URL {
  if (path === file) return url;
  const folder = url.pathname.slice(0, folderEnd(url.pathname));
  const located = new URL(url);
  // As a path, the text cannot name another host, whatever it begins with.
  located.pathname = folder + path.replace(SPECIAL, encodeURIComponent);
  if (ABSOLUTE.test(path) || !located.pathname.startsWith(folder))
    throw new TabServeError('model-format', `The archive names "${shorten(path)}", which lies outside of it.`);
  return located;
}

function folderEnd(path: string): number {
  const last = [...path.matchAll(/\/|%2f/gi)].at(-1);
  return last!.index + last![0].length;
}

/** The file that makes a folder a repository of Hugging Face's layout. */
export const HF_CONFIG = 'config.json';

/** Returns whether files are read from a repository of huggingface.co. */
export function isRepository(url: string): boolean {
  return URL.canParse(url) && isHub(new URL(url));
}
