/** Models of several files: which handlers open those that a repository has. */
import { type ErrorCode, TabServeError } from '../../../contract/errors.js';
import type { Source } from '../sources/source.js';
import { FOLDERS } from './models.js';
import { TASKS } from '../../tasks/index.js';

/** The errors of a repository whose architecture has no handler, or that lacks the file of its handler's model. */
const CODES: ReadonlySet<ErrorCode> = new Set(['unknown-handler', 'model-not-found']);

/**
 * Returns the error for a repository that cannot be opened; if it has the parts of another handler's model, with that
 * handler's name. On a server, it requests the files.
 */
export async function withParts(error: TabServeError, source: Pick<Source, 'has'>): Promise<TabServeError> {
  if (!CODES.has(error.code)) return error;
  const known = new Map<string, Promise<boolean>>();
  const has = (file: string): Promise<boolean> => {
    const found = known.get(file) ?? hasFile(source, file);
    known.set(file, found);
    return found;
  };
  const found: { readonly handler: string; readonly files: readonly string[] }[] = [];
  for (const [handler, { nodes }] of Object.entries(TASKS)) {
    const parts = Object.values(nodes ?? {});
    const files = parts.length > 1 ? await allOf(parts, has) : undefined;
    if (files) found.push({ handler, files });
  }
  if (found.length === 0) return error;
  const names = found[0]!.files.map((file) => `${file}.onnx`).join(' and ');
  const handlers = found.map(({ handler }) => `'${handler}'`).join(' or ');
  const message = `${error.message} Its files ${names} are parts of one model: set the option handler to ${handlers}.`;
  return new TabServeError(error.code, message, { cause: error.cause });
}

/** Returns a file of each part; undefined if a part has none. */
async function allOf(
  parts: readonly (readonly string[])[],
  has: (file: string) => Promise<boolean>,
): Promise<readonly string[] | undefined> {
  const files: string[] = [];
  for (const names of parts) {
    const file = await firstOf(names, has);
    if (file === undefined) return undefined;
    files.push(file);
  }
  return files;
}

async function firstOf(names: readonly string[], has: (file: string) => Promise<boolean>): Promise<string | undefined> {
  for (const name of names) if (await has(name)) return name;
  return undefined;
}

async function hasFile(source: Pick<Source, 'has'>, file: string): Promise<boolean> {
  for (const folder of FOLDERS) if (await source.has(`${folder}${file}.onnx`)) return true;
  return false;
}
