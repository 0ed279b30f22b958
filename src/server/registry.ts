import { describeValue } from '../contract/describe-value.js';
import { messageOf, TabServeError } from '../contract/errors.js';
import type { FailedModel } from './options.js';
import type { ServedVersion } from './served-version.js';
import { modelNotFound, ServingError, unavailable, versionNotFound } from './serving-error.js';

/** The versions of one model. */
interface Entry {
  readonly versions: Map<string, ServedVersion>;
  /** Undefined only while no version is ready. */
  defaultVersion: string | undefined;
  /** Versions that are being loaded. `undefined`: the archive will say which. */
  readonly loading: (string | undefined)[];
}

/** Which versions of which models are registered, and which one of them is a model's default: TorchServe's rules. */
export class Registry {
  readonly #entries = new Map<string, Entry>();
  #failures: readonly FailedModel[] = [];
  readonly #onChange: () => void;

  /** @param onChange called when a version was added, removed, replaced, or made a default */
  constructor(onChange: () => void = () => {}) {
    this.#onChange = () => {
      try {
        onChange();
      } catch (error) {
        // The app's own: what has changed has changed.
        console.warn(`tabserve: onChange: ${messageOf(error)}`);
      }
    };
  }

  /**
   * Reserves a version that is going to be loaded, so that no other call registers it. Returns a function that ends the
   * reservation.
   * @param version undefined if the archive will say which
   * @throws `invalid-input` if it is registered or being loaded
   */
  reserve(name: string, version: string | undefined): () => void {
    const entry = this.#entry(name);
    if (version !== undefined) checkFree(name, version, entry);
    entry.loading.push(version);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      entry.loading.splice(entry.loading.indexOf(version), 1);
      this.#forgetEmpty(name, entry);
    };
  }

  /** Adds a version. A model's first version is its default. @throws `invalid-input` if it is registered */
  add(served: ServedVersion): void {
    const { name, version } = served.options;
    const entry = this.#entry(name);
    if (entry.versions.has(version)) throw registered(name, version);
    entry.versions.set(version, served);
    entry.defaultVersion ??= version;
    this.#failures = this.#failures.filter((failed) => !isOf(failed, name, version));
    this.#onChange();
  }

  /** Remembers that a version could not be loaded. */
  fail(failed: FailedModel): void {
    this.#failures = [...this.#failures, failed];
  }

  /** The versions that could not be loaded, and have not been registered or removed since. */
  get failures(): readonly FailedModel[] {
    return this.#failures;
  }

  /** Returns the failure of a version, of the default if none is given; undefined if it takes requests, or is not known. */
  failure(name: string, version?: string): FailedModel | undefined {
    const entry = this.#entries.get(name);
    if (version === undefined ? entry?.defaultVersion !== undefined : entry?.versions.has(version)) return undefined;
    return this.#failures.find((failed) => isOf(failed, name, version));
  }

  /**
   * Returns a version, the default if none is given.
   * @throws `model-not-found`; `not-initialized` while it is being loaded, and if it could not be
   */
  find(name: string, version?: string): ServedVersion {
    const entry = this.#entries.get(name);
    const found = entry?.versions.get(version ?? entry.defaultVersion ?? '');
    if (found) return found;
    const model = `Model "${name}"${version === undefined ? '' : ` version ${version}`}`;
    if (entry && (version === undefined ? entry.loading.length > 0 : entry.loading.includes(version)))
      throw unavailable(`${model} is being loaded.`);
    const failed = this.failure(name, version);
    if (failed) throw unavailable(`${model} could not be loaded: ${failed.error.message}`);
    throw !entry || version === undefined ? modelNotFound(name) : versionNotFound(name, version);
  }

  /** Makes a version the default. Requests that have begun are not affected. @throws `model-not-found` */
  setDefault(name: string, version: string): void {
    this.find(name, version);
    this.#entries.get(name)!.defaultVersion = version;
    this.#onChange();
  }

  /** Forgets the failure of a version, of the default if none is given. Returns whether there was one. */
  forgetFailure(name: string, version?: string): boolean {
    const forgotten = this.failure(name, version);
    this.#failures = this.#failures.filter((failed) => failed !== forgotten);
    if (forgotten) this.#onChange();
    return forgotten !== undefined;
  }

  /**
   * Removes a version, the default if none is given: it gets no more requests.
   * @throws `model-not-found`; `invalid-input` for the default of a model that has other versions
   */
  remove(name: string, version?: string): ServedVersion {
    const served = this.find(name, version);
    const entry = this.#entries.get(name)!;
    if (served.options.version === entry.defaultVersion) {
      if (entry.versions.size > 1)
        throw new ServingError(
          'invalid-input',
          403,
          'InvalidModelVersionException',
          `Cannot remove default version for model ${name}. Make another version the default first.`,
        );
      entry.defaultVersion = undefined;
    }
    entry.versions.delete(served.options.version);
    this.#forgetEmpty(name, entry);
    this.#onChange();
    return served;
  }

  /** Returns whether requests without a version go to this one. */
  isDefault(served: ServedVersion): boolean {
    const { name, version } = served.options;
    const entry = this.#entries.get(name);
    return entry?.defaultVersion === version && entry.versions.get(version) === served;
  }

  /**
   * Puts a version in the place of another one of the same name and version.
   * @throws `model-not-found` if that one is no longer registered; `invalid-input` if it was replaced meanwhile
   */
  replace(served: ServedVersion, by: ServedVersion): void {
    const { name, version } = served.options;
    if (this.find(name, version) !== served)
      throw conflict(`Model version ${version} of model ${name} was loaded again by another call meanwhile.`);
    this.#entries.get(name)!.versions.set(version, by);
    this.#onChange();
  }

  /** The names of the models that have a version, in TorchServe's order. */
  get names(): readonly string[] {
    return [...this.#entries].flatMap(([name, { versions }]) => (versions.size > 0 ? [name] : [])).sort();
  }

  /**
   * Returns the versions of a model in the order of their registration.
   * @throws `model-not-found`, `not-initialized`
   */
  versions(name: string): readonly ServedVersion[] {
    this.find(name);
    return [...this.#entries.get(name)!.versions.values()];
  }

  /** Returns the default version of each model. */
  get defaults(): readonly ServedVersion[] {
    return this.names.map((name) => this.find(name));
  }

  /** Returns every version. */
  get all(): readonly ServedVersion[] {
    return this.names.flatMap((name) => this.versions(name));
  }

  /** Removes everything. */
  clear(): void {
    this.#entries.clear();
    this.#failures = [];
  }

  #entry(name: string): Entry {
    const known = this.#entries.get(name);
    if (known) return known;
    const entry: Entry = { versions: new Map(), defaultVersion: undefined, loading: [] };
    this.#entries.set(name, entry);
    return entry;
  }

  #forgetEmpty(name: string, { versions, loading }: Entry): void {
    if (versions.size === 0 && loading.length === 0) this.#entries.delete(name);
  }
}

function isOf({ location }: FailedModel, name: string, version: string | undefined): boolean {
  return location.name === name && (version === undefined ? location.isDefault : location.version === version);
}

function checkFree(name: string, version: string, { versions, loading }: Entry): void {
  if (versions.has(version) || loading.includes(version)) throw registered(name, version);
}

/** TorchServe's text. */
function registered(name: string, version: string): ServingError {
  return conflict(`Model version ${version} is already registered for model ${name}`);
}

function conflict(message: string): ServingError {
  return new ServingError('invalid-input', 409, 'ConflictStatusException', message);
}

/**
 * Checks a name or a version: a path segment of a URL that means itself.
 * @param what `name` or `version`
 * @throws `invalid-input`
 */
export function checkSegment(what: string, value: unknown): string {
  const isSegment =
    typeof value === 'string' && value.length > 0 && value.length <= 255 && !/[/\\?#\p{Cc}]|^\.{1,2}$/u.test(value);
  if (isSegment && !(what === 'version' && value === 'all')) return value;
  throw new TabServeError(
    'invalid-input',
    `${what}: expected 1 to 255 characters without / \\ ? #, which may not be "." or ".."${what === 'version' ? ' or "all"' : ''}, got ${describeValue(value)}.`,
  );
}
