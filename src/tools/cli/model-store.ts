import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { TabServeError } from '../../contract/errors.js';

/** An archive that is served, and the name that it gets; undefined for its own. */
export interface NamedArchive {
  readonly name: string | undefined;
  readonly path: string;
  /** Whether `all` has found it: nobody has named it. */
  readonly isFound: boolean;
}

const PACKED = /\.(mar|war|zip|tgz|tar\.gz)$/i;
/** The files by which a folder is an archive. */
const MARKS = ['MAR-INF', 'tabserve.json', 'model-config.yaml', 'config.json', 'model.json', 'model.onnx'];

/** The folder in which the server looks for archives by their relative paths: TorchServe's model store. */
export class ModelStore {
  readonly #folder: string;
  readonly #isGiven: boolean;

  /**
   * @param folder the working directory, if it is not given
   * @throws `model-config` if there is no such folder
   */
  constructor(folder: string | undefined) {
    if (folder !== undefined && !isFolder(folder))
      throw new TabServeError('model-config', `--model-store: there is no folder ${folder}.`);
    this.#folder = folder ?? '.';
    this.#isGiven = folder !== undefined;
  }

  /**
   * Returns the archives that the command line names: paths, URLs, `NAME=PATH`, and `all` for every archive of the
   * store, in the order of their names.
   * @throws `model-config` for `all` without a store, or with an empty one
   */
  archives(args: readonly string[]): readonly NamedArchive[] {
    return args.flatMap((arg) => {
      if (arg === 'all' && this.#isGiven) return this.#all();
      const [, name, path] = /^([^=/\\:]+)=(.+)$/.exec(arg) ?? [];
      return name !== undefined && path !== undefined && !existsSync(arg)
        ? [{ name, path, isFound: false }]
        : [{ name: undefined, path: arg, isFound: false }];
    });
  }

  #all(): readonly NamedArchive[] {
    const found = readdirSync(this.#folder)
      .sort()
      .filter((entry) => {
        const path = join(this.#folder, entry);
        return PACKED.test(entry) || (isFolder(path) && MARKS.some((mark) => existsSync(join(path, mark))));
      });
    if (found.length === 0) throw new TabServeError('model-config', `--model-store: ${this.#folder} has no archive.`);
    return found.map((path) => ({ name: undefined, path, isFound: true }));
  }

  /**
   * Returns where an archive is loaded from: a URL, or an absolute path, as it is; a relative path below the folder.
   */
  locate(path: string): string {
    if (isUrl(path) || isAbsolute(path) || !this.#isGiven) return path;
    const packed = `${path}.mar`;
    return join(
      this.#folder,
      !existsSync(join(this.#folder, path)) && existsSync(join(this.#folder, packed)) ? packed : path,
    );
  }

  /**
   * Returns whether a request may register a model from there: from a path in the folder, and from no URL. A link that
   * leads out of it is no such path.
   */
  allows(path: string): boolean {
    if (isUrl(path)) return false;
    const inside = relative(realPath(this.#folder), realPath(this.locate(path)));
    return inside !== '' && !isAbsolute(inside) && inside.split(sep, 1)[0] !== '..';
  }
}

/** Returns whether a path is a folder. A broken link is none. */
function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isUrl(path: string): boolean {
  return /^[a-z][a-z\d+.-]+:/i.test(path);
}

/** Returns the absolute path, without links; as it is written if nothing is there, so that loading it reports that. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
