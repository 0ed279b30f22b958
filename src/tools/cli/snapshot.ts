import { readFile, rename, writeFile } from 'node:fs/promises';
import { messageOf, TabServeError } from '../../contract/errors.js';
import { isPlainObject } from '../../shared/is-plain-object.js';
import type { ModelServer } from '../../server/model-server.js';
import type { RegisteredLocation } from '../../server/options.js';

/** A file with the models that a server has registered, so that they are there after a restart. */
export class Snapshot {
  readonly #path: string;
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Returns the models of the last run; undefined if there was none. @throws `model-config` for a file of another kind
   */
  async read(): Promise<readonly RegisteredLocation[] | undefined> {
    let text: string;
    try {
      text = await readFile(this.#path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw this.#wrong(messageOf(error as Error), error);
    }
    let models: unknown;
    try {
      ({ models } = JSON.parse(text) as { readonly models?: unknown });
    } catch (error) {
      throw this.#wrong(messageOf(error as Error), error);
    }
    if (Array.isArray(models) && models.every(isLocation)) return models;
    throw this.#wrong('it has no list "models", each with name, version, model and options.');
  }

  /** Writes what is registered now, atomically: a server that ends meanwhile leaves the file as it was. */
  write(server: ModelServer): Promise<void> {
    const part = `${this.#path}.part`;
    const written = this.#writing.then(async () => {
      await writeFile(part, `${JSON.stringify({ models: server.snapshot() }, undefined, 2)}\n`);
      await rename(part, this.#path);
    });
    // The next attempt may succeed, when the disk has space again.
    this.#writing = written.catch(() => {});
    return written;
  }

  #wrong(why: string, cause?: unknown): TabServeError {
    return new TabServeError('model-config', `--snapshot: ${this.#path} cannot be read: ${why}`, { cause });
  }
}

function isLocation(value: unknown): value is RegisteredLocation {
  if (!isPlainObject(value)) return false;
  const { name, version, model, options } = value;
  return [name, version, model].every((one) => typeof one === 'string') && isPlainObject(options);
}
