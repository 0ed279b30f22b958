import { TabServeError } from '../contract/errors.js';
import type { Handler } from '../contract/handler.js';
import type { FormName, ResultFor } from '../contract/handler-types.js';
import { answer } from './http/answer.js';
import type { Manager } from './http/management.js';
import { toResponse, type HttpRequest, type HttpResponse } from './http/messages.js';
import { StatusCounts } from './http/status-counts.js';
import { isClient, Loader, type Opened } from './loader.js';
import {
  readServerOptions,
  type DescribedModel,
  type FailedModel,
  type ListedModel,
  type LoadModel,
  type LoadOptionsOf,
  type ModelServerOptions,
  type RegisteredLocation,
  type RegisteredModel,
  type RegisterOptions,
  type ServerSettings,
} from './options.js';
import { checkSegment, Registry } from './registry.js';
import type { ServedClient, ServedRequestOptions } from './served-client.js';
import { ServedVersion, Traffic } from './served-version.js';
import { serverDisposed } from './serving-error.js';
import type { Shadow, ShadowOptions } from './shadow.js';
import { Shadows } from './shadows.js';
import { restoreAll, snapshotOf } from './snapshot.js';

/** Does what `fetch` of a server does, without a `Request` and a `Response`. */
export let answerWith: (server: ModelServer, request: HttpRequest) => Promise<HttpResponse>;

/**
 * Serves models by name, each in one version or more: TorchServe's model server. `predict` is for the app itself, and
 * `fetch` answers HTTP requests.
 *
 * ```ts
 * const server = new ModelServer({ load });
 * await server.register('/models/digits/', { name: 'digits', version: '1.0' });
 * const response = await server.fetch(new Request('/predictions/digits', { method: 'POST', body: file }));
 * ```
 */
export class ModelServer<Load extends LoadModel = LoadModel> implements AsyncDisposable {
  readonly #settings: ServerSettings;
  readonly #loader: Loader;
  readonly #registry: Registry;
  readonly #disposed = new AbortController();
  readonly #draining = new Set<ServedVersion>();
  readonly #traffic = new Traffic();
  readonly #shadows: Shadows;
  readonly #statuses = new StatusCounts();

  /** @throws `invalid-input` for a wrong option, and for one that does not exist */
  constructor(options: ModelServerOptions<Load> = {}) {
    this.#settings = readServerOptions(options);
    const { load, clock, onChange } = this.#settings;
    this.#registry = new Registry(onChange);
    this.#loader = new Loader(load, clock, this.#disposed.signal);
    this.#shadows = new Shadows(this.#registry, { clock, traffic: this.#traffic });
  }

  /**
   * Registers a version of a model: a client, which is initialized and stays the caller's, or a model's location, which
   * is given to `load`. Resolves when the version takes requests. A model's first version is its default.
   * @param model a URL, what else `load` takes, or a client
   * @throws `invalid-input` for a version that is registered or being loaded, for a wrong name or version, and without
   *   `load`; `disposed`; what `load` and `Client.describe` throw
   */
  async register(
    model: Parameters<Load>[0] | ServedClient,
    options: RegisterOptions & LoadOptionsOf<Load> = {} as RegisterOptions & LoadOptionsOf<Load>,
  ): Promise<RegisteredModel> {
    this.#checkOpen();
    const { name, version, stream = false, signal, ...rest } = options as RegisterOptions & { signal?: AbortSignal };
    if (name !== undefined) checkSegment('name', name);
    if (version !== undefined) checkSegment('version', version);
    const release = name === undefined ? undefined : this.#registry.reserve(name, version);
    try {
      const opened = isClient(model)
        ? await this.#loader.take(model)
        : await this.#loader.open({ model, options: rest }, signal);
      const { modelName, modelVersion = '1.0' } = opened.description;
      return await this.#add(opened, () => {
        const added = {
          name: checkSegment('name', name ?? modelName),
          version: checkSegment('version', version ?? modelVersion),
        };
        this.#registry.add(new ServedVersion({ ...opened, ...added, stream, traffic: this.#traffic }));
        return added;
      });
    } finally {
      release?.();
    }
  }

  /** Adds what was opened to the registry. If that fails, a client that the server has loaded is disposed of. */
  async #add<T>({ client, source }: Opened, add: () => T): Promise<T> {
    try {
      this.#checkOpen();
      return add();
    } catch (error) {
      if (source) await client.dispose();
      throw error;
    }
  }

  /**
   * Changes the number of workers of a version, the default if none is given: loads it once more, sends new requests
   * there, and disposes of its former client when that has answered its requests. TorchServe's scale API.
   * @param workers how many there are at least, and at most
   * @throws `model-not-found`; `unsupported` for a version that was registered as a client; `invalid-input` if
   *   another call has scaled it meanwhile; `disposed`; what `load` throws
   */
  async scale(
    name: string,
    workers: { readonly minWorkers: number; readonly maxWorkers?: number },
    version?: string,
  ): Promise<void> {
    this.#checkOpen();
    const served = this.#registry.find(name, version);
    await this.#loadAgain(served, workers);
  }

  /**
   * Loads a version once more from its location, the default if none is given, and sends new requests there: its files
   * may have changed. Its former client is disposed of when it has answered its requests. A version that `restore`
   * could not load is registered.
   * @throws what `scale` and `register` throw
   */
  async reload(name: string, version?: string): Promise<void> {
    this.#checkOpen();
    const failed = this.#registry.failure(name, version);
    if (failed) return await this.#registerAgain(failed.location);
    await this.#loadAgain(this.#registry.find(name, version), {});
  }

  async #loadAgain(served: ServedVersion, workers: object): Promise<void> {
    const { name, source } = served.options;
    if (!source)
      throw new TabServeError(
        'unsupported',
        `Model "${name}" was registered as a client: the server cannot load it again. Register it by its location.`,
      );
    const again = { ...source, options: { ...source.options, ...workers } };
    const opened = await this.#loader.open(again);
    await this.#add(opened, () => this.#registry.replace(served, new ServedVersion({ ...served.options, ...opened })));
    await this.#drain(served);
  }

  /**
   * Makes a version the default of its model. Requests that have begun are not affected.
   * @throws `model-not-found`, `disposed`
   */
  setDefault(name: string, version: string): void {
    this.#checkOpen();
    this.#registry.setDefault(name, version);
  }

  /**
   * Removes a version, the default if none is given. It gets no more requests; those that it has are answered. Resolves
   * when they are, and when its client, if the server has loaded it, is disposed of. What is not answered after two
   * minutes is rejected with `disposed`.
   * @throws `model-not-found`; `invalid-input` for the default of a model that has other versions; `disposed`
   */
  async unregister(name: string, version?: string): Promise<void> {
    this.#checkOpen();
    if (this.#registry.forgetFailure(name, version)) return;
    const served = this.#registry.remove(name, version);
    this.#shadows.forget(served);
    await this.#drain(served);
  }

  async #drain(served: ServedVersion): Promise<void> {
    this.#draining.add(served);
    await served.drain(this.#settings.clock).finally(() => this.#draining.delete(served));
  }

  /**
   * Returns the versions that were registered by their locations, as data that can be stored: after a restart,
   * `restore` registers them again. A version that was registered as a client, or as a file that was picked, is left
   * out.
   */
  snapshot(): readonly RegisteredLocation[] {
    return snapshotOf(this.#registry);
  }

  /**
   * Registers the versions of a snapshot again, the defaults first. One that cannot be loaded is returned with its
   * error, and the others are registered: requests to it are answered with 503, and it stays in `snapshot` until it is
   * registered or unregistered. If it is the default, it stays that, and requests without a version are answered so too,
   * until `setDefault` names another version.
   * @param models what `snapshot` returned
   * @throws `disposed`
   */
  async restore(models: readonly RegisteredLocation[]): Promise<readonly FailedModel[]> {
    return await restoreAll(models, this.#registry, {
      register: (location) => this.#registerAgain(location),
      checkOpen: () => this.#checkOpen(),
    });
  }

  async #registerAgain({ name, version, model, options }: RegisteredLocation): Promise<void> {
    const given = { name, version, ...options } as RegisterOptions & LoadOptionsOf<Load>;
    await this.register(model as Parameters<Load>[0], given);
  }

  /** Returns the models, by name. */
  list(): readonly ListedModel[] {
    return this.#registry.names.map((name) => ({
      name,
      defaultVersion: this.#registry.defaultVersion(name),
      versions: this.#registry.versions(name).map(({ options }) => options.version),
    }));
  }

  /**
   * Describes a version of a model, the default if none is given.
   * @throws `model-not-found`, `not-initialized` while it is being loaded, `timeout`, `disposed`, what
   *   `Client.describe` throws
   */
  async describe(name: string, version?: string): Promise<DescribedModel> {
    this.#checkOpen();
    const served = this.#registry.find(name, version);
    const { options, modelUrl, active } = served;
    const isDefault = this.#registry.isDefault(served);
    const described = await this.#loader.describe(options.client);
    const { loadedAt } = options;
    return { ...described, name, version: options.version, isDefault, modelUrl, loadedAt, activeRequests: active };
  }

  /**
   * Predicts one input with a version of a model, the default if none is given. The compiler does not know which
   * handler a name has. If you name it, the result has its type, as with `connect`. Without it, the result is
   * `unknown`.
   *
   * ```ts
   * const [best] = await server.predict<ImageClassifier>('digits', photo);
   * ```
   * `Form` is the value of the handler's param `result`, if the config or `params` set it, such as `'torchserve'`.
   * @throws `model-not-found`, `not-initialized` while it is being loaded, `disposed`, what `Client.predict` throws
   */
  async predict<H extends Handler = Handler, Form extends FormName<H> = never>(
    name: string,
    input: unknown,
    { version, ...options }: ServedRequestOptions & { readonly version?: string } = {},
  ): Promise<ResultFor<H, Form>> {
    this.#checkOpen();
    const served = this.#registry.find(name, version);
    return (await served.run(() => this.#shadows.predict(served, input, options))) as ResultFor<H, Form>;
  }

  /**
   * Runs a version on a share of the requests that the model's default version has answered, and records how often and
   * by how much the two disagree. It runs only while the server has no request, and gives up when one comes. A model
   * has one shadow: the new one ends the old one.
   *
   * ```ts
   * await server.register('/models/digits-2/', { name: 'digits', version: '2.0' });
   * const shadow = server.shadow('digits', '2.0', { share: 0.1 });
   * // later:
   * const { compared, disagreed, largestDifference } = shadow.report();
   * ```
   * @throws `model-not-found`; `invalid-input` for a share outside 0..1; `disposed`
   */
  shadow(name: string, version: string, options: ShadowOptions = {}): Shadow {
    this.#checkOpen();
    return this.#shadows.start(name, version, options);
  }

  /**
   * Answers an HTTP request: TorchServe's inference API and, where the options allow it, its management API; the Open
   * Inference Protocol v2 below `/v2`. The origin of the request's URL does not matter. It never rejects: an error is a
   * response with TorchServe's status and body.
   */
  async fetch(request: Request): Promise<Response> {
    return toResponse(await this.#answer(request));
  }

  async #answer(request: HttpRequest): Promise<HttpResponse> {
    return await answer(request, {
      registry: this.#registry,
      server: this as unknown as Manager,
      predict: (served, input, options) => this.#shadows.predict(served, input, options),
      disposed: this.#disposed.signal,
      statuses: this.#statuses,
      ...this.#settings,
    });
  }

  /**
   * Ends the server, and disposes of the clients that it has loaded: their pending requests are rejected with
   * `disposed`.
   */
  async dispose(): Promise<void> {
    this.#disposed.abort(serverDisposed());
    this.#shadows.stopAll();
    const all = [...this.#registry.all, ...this.#draining];
    this.#registry.clear();
    await Promise.all(all.map((served) => served.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  #checkOpen(): void {
    if (this.#disposed.signal.aborted) throw serverDisposed();
  }

  static {
    answerWith = (server, request) => server.#answer(request);
  }
}
