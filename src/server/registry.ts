import { describeValue } from '../contract/describe-value.js';
import { messageOf, TabServeError } from '../contract/errors.js';
import type { FailedModel, RegisteredLocation } from './options.js';
import type { ServedVersion } from './served-version.js';
import { modelNotFound, ServingError, unavailable, versionNotFound } from './serving-error.js';

/** The versions of one model. */
interface Entry {
  readonly versions: Map<string, ServedVersion>;
  /** Undefined only while no version is ready. It may be one that could not be loaded. */
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
        // The listener is the app's own: its error does not undo the change.
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

  /**
   * Records that a version could not be loaded. If it was the default, it stays the default, unless another version has
   * become it meanwhile.
   */
  fail(failed: FailedModel): void {
    const { name, version, isDefault } = failed.location;
    this.#failures = [...this.#failures.filter((other) => !isOf(other, name, version)), failed];
    if (isDefault) this.#entry(name).defaultVersion ??= version;
  }

  /** The locations of the versions that could not be loaded, and have not been registered or removed since. */
  get failedLocations(): readonly RegisteredLocation[] {
    return this.#failures.map(({ location }) => {
      const { name, version } = location;
      return { ...location, isDefault: this.#entries.get(name)?.defaultVersion === version };
    });
  }

  /**
   * Returns the failure of a version, of the default if none is given; undefined if it takes requests, or is not known.
   */
  failure(name: string, version?: string): FailedModel | undefined {
    const wanted = version ?? this.#entries.get(name)?.defaultVersion;
    return this.#failures.find((failed) => isOf(failed, name, wanted));
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

  /**
   * Forgets the failure of a version, of the default if none is given. Returns whether there was one.
   * @throws `invalid-input` for the default of a model that has other versions
   */
  forgetFailure(name: string, version?: string): boolean {
    const forgotten = this.failure(name, version);
    if (!forgotten) return false;
    const entry = this.#entries.get(name);
    if (entry?.defaultVersion === forgotten.location.version) {
      if (entry.versions.size > 0) throw cannotRemoveDefault(name);
      entry.defaultVersion = undefined;
      this.#forgetEmpty(name, entry);
    }
    this.#failures = this.#failures.filter((failed) => failed !== forgotten);
    this.#onChange();
    return true;
  }

  /**
   * Removes a version, the default if none is given: it gets no more requests.
   * @throws `model-not-found`; `invalid-input` for the default of a model that has other versions
   */
  remove(name: string, version?: string): ServedVersion {
    const served = this.find(name, version);
    const entry = this.#entries.get(name)!;
    if (served.options.version === entry.defaultVersion) {
      if (entry.versions.size > 1) throw cannotRemoveDefault(name);
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
   * Replaces a version by another one of the same name and version.
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
    const { versions } = this.#entries.get(name) ?? {};
    return versions && versions.size > 0 ? [...versions.values()] : [this.find(name)];
  }

  /** Returns the default version of a model that has a version. It may be one that could not be loaded. */
  defaultVersion(name: string): string {
    return this.#entries.get(name)!.defaultVersion!;
  }

  /** Returns the default version of each model; not one that could not be loaded. */
  get defaults(): readonly ServedVersion[] {
    return this.names.flatMap((name) => (this.failure(name) ? [] : [this.find(name)]));
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

  #forgetEmpty(name: string, { versions, loading, defaultVersion }: Entry): void {
    if (versions.size === 0 && loading.length === 0 && defaultVersion === undefined) this.#entries.delete(name);
  }
}

function isOf({ location }: FailedModel, name: string, version: string | undefined): boolean {
  return location.name === name && location.version === version;
}

function cannotRemoveDefault(name: string): ServingError {
  const message = `Cannot remove default version for model ${name}. Make another version the default first.`;
  return new ServingError('invalid-input', 403, 'InvalidModelVersionException', message);
}

function checkFree(name: string, version: string, { versions, loading }: Entry): void {
  if (versions.has(version) || loading.includes(version)) throw registered(name, version);
}

/** Returns the error for a version that is registered already, with TorchServe's text. */
function registered(name: string, version: string): ServingError {
  return conflict(`Model version ${version} is already registered for model ${name}`);
}

function conflict(message: string): ServingError {
  return new ServingError('invalid-input', 409, 'ConflictStatusException', message);
}

/**
 * Checks a name or a version: it must be a path segment of a URL that needs no encoding.
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
