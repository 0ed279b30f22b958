/** `tabserve migrate`: changes the imports of an app that uses transformers.js. */
import { isUtf8 } from 'node:buffer';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, TabServeError } from '../../../contract/errors.js';
import { formatCount } from '../text.js';
import { PACKAGES } from './imports.js';
import { loadParser, lineOf, type Parse } from './syntax.js';
import { transform, type Transformed } from './transform.js';

/** The flags of `tabserve migrate`. */
export interface MigrateFlags {
  readonly 'dry-run'?: boolean | undefined;
}

const SCRIPTS = /\.[cm]?[jt]sx?$/;
/** Files with scripts in them, which are told and not changed. */
const WITH_SCRIPTS = /\.(vue|svelte|astro|html|mdx)$/;
const LEFT_OUT = /^(\.|node_modules$|dist$|build$)/;

/**
 * Changes the imports in files, and in the files of folders.
 * @param print called with each line of the report
 * @throws `model-not-found` for a path that does not exist; `unsupported` without a parser
 */
export async function migrate(
  paths: readonly string[],
  flags: MigrateFlags,
  print: (line: string) => void,
): Promise<void> {
  const parse = await loadParser();
  let [changed, notes] = [0, 0];
  for (const path of (await Promise.all(paths.map(filesOf))).flat()) {
    const bytes = await readFile(path);
    const text = bytes.toString();
    if (!PACKAGES.some((name) => text.includes(name))) continue;
    let made = SCRIPTS.test(path) ? transformed(parse, path, bytes) : untouched(text);
    if (made.text !== text && !flags['dry-run'])
      made = await writeFile(path, made.text).then(
        () => made,
        (error: Error) => notChanged(text, error),
      );
    for (const { line, message } of made.notes) print(`${path}:${line}  ${message}`);
    notes += made.notes.length;
    if (made.text === text) continue;
    changed++;
    print(`${path}  ${flags['dry-run'] ? 'would change' : 'changed'}`);
  }
  print(
    `${formatCount(changed, 'file')} ${flags['dry-run'] ? 'would change' : 'changed'}, ${formatCount(notes, 'note')}`,
  );
}

function transformed(parse: Parse, path: string, bytes: Buffer): Transformed {
  const text = bytes.toString();
  try {
    // Other bytes would be lost when the text is written.
    if (!isUtf8(bytes)) throw new TabServeError('invalid-input', 'it is not encoded in UTF-8');
    return transform(parse, path, text);
  } catch (error) {
    return notChanged(text, error as Error);
  }
}

function notChanged(text: string, error: Error): Transformed {
  return { text, notes: [{ line: 1, message: `not changed: ${messageOf(error)}` }] };
}

/** Returns where a file that is no script names the package. */
function untouched(text: string): Transformed {
  const places = [...text.matchAll(new RegExp(PACKAGES.join('|'), 'g'))];
  const message = "not changed, because it is no script: import { pipeline } from 'tabserve/pipeline'";
  return { text, notes: places.map(({ index }) => ({ line: lineOf(text, index), message })) };
}

/** Returns the files of a path that may import something. */
async function filesOf(path: string): Promise<readonly string[]> {
  const found = await stat(path).catch(() => undefined);
  if (!found) throw new TabServeError('model-not-found', `There is no file or folder ${path}.`);
  return found.isDirectory() ? await filesIn(path) : [path];
}

/** Links are left out: they may lead nowhere, out of the app, or back to a folder that contains them. */
async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = (await readdir(folder, { withFileTypes: true }))
    .filter(({ name }) => !LEFT_OUT.test(name))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return await filesIn(path);
      return entry.isFile() && (SCRIPTS.test(path) || WITH_SCRIPTS.test(path)) ? [path] : [];
    }),
  );
  return found.flat();
}
