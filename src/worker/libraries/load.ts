import { scriptError } from '../../contract/script-error.js';

/**
 * Loads a library.
 * @param assets folder in which the app has the engines' files, if it names one
 * @throws `worker-failed`
 */
export type Load<Library> = (assets?: string) => Promise<Library>;

/** Loads a library that uses another one, which may still be on its way. */
export type LoadWith<Other, Library> = (assets: string | undefined, other: Promise<Other>) => Promise<Library>;

/**
 * Imports the file of a library. The build makes one file of each library in this folder, and replaces the module here
 * by one that calls this function: every bundler copies such a file and leaves it as it is, so a visitor downloads only
 * the libraries that are used, even if the bundler cannot split workers.
 * @param placed where the bundler has put the file
 * @param needed the name of an export that the file of another version may not have
 * @throws `worker-failed` naming the URL, and the remedy
 */
export async function importFile<Library extends object>(
  name: string,
  placed: URL,
  needed: string,
  assets?: string,
): Promise<Library> {
  const { href } = placed;
  try {
    const library = (await import(/* @vite-ignore */ /* webpackIgnore: true */ href)) as Library;
    if (!(needed in library)) throw new Error('it is of another version');
    return library;
  } catch (cause) {
    // A bundler that does not know `new URL(…, import.meta.url)` has not placed the file.
    if (assets !== undefined) return await importFile(name, new URL(name, assets), needed);
    throw scriptError(
      `The file ${href}`,
      cause,
      'Otherwise publish the whole build, or copy the engines\' files with `npx tabserve copy`, and name their folder in the option "assets": docs/hosting.md#engine-files-from-your-own-url.',
    );
  }
}
