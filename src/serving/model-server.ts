import { describeValue } from '../contract/describe-value.js';
import { TabServeError } from '../contract/errors.js';
import { browserClock, type Clock } from '../shared/clock.js';
import { withinLimit } from '../shared/limit.js';
import { answer } from './http/answer.js';
import type { ManagementOptions, Manager } from './http/management.js';
import { checkSegment, Registry } from './registry.js';
import type { ServedClient, ServedDescription, ServedRequestOptions } from './served-client.js';
import { ServedVersion } from './served-version.js';
import { serverDisposed } from './serving-error.js';

/** What a server is made with. */
export interface ModelServerOptions<Model, LoadOptions extends object> {
  /** Loads a model that is registered by its location: `load` of `tabserve`, or of `tabserve/node`. @default only clients can be registered */
  readonly load?: (model: Model, options: LoadOptions) => Promise<ServedClient>;
  /** The most bytes of a request's body: a larger one is answered with 413. The name and the default are TorchServe's. @default 6553500 */
  readonly maxRequestSize?: number;
  /** Milliseconds within which a request over HTTP is answered: after that, it is answered with 408. @default 120000 */
  readonly timeout?: number;
  /** Lets requests over HTTP register, change and remove models: TorchServe's management API. Without it, they read only. */
  readonly management?: ManagementOptions;
  /** @default the browser's */
  readonly clock?: Clock;
}

/** What `register` takes beside the model, and beside the options of `load`. */
export interface RegisterOptions {
  /** @default the name in the archive's manifest */
  readonly name?: string;
  /** @default the version in the archive's manifest; `1.0` if it has none */
  readonly version?: string;
  /** Whether an answer over HTTP is sent in parts: each one that the handler sends with `context.send`, then its result. Such requests are not batched. @default false */
  readonly stream?: boolean;
}

/** A version of a model. */
export interface RegisteredModel {
  readonly name: string;
  readonly version: string;
}

/** The versions of a model that take requests. */
export interface ListedModel {
  readonly name: string;
  readonly defaultVersion: string;
  /** In the order of their registration. */
  readonly versions: readonly string[];
}

/** A version of a model, and what its client says about it. */
export interface DescribedModel extends ServedDescription, RegisteredModel {
  readonly isDefault: boolean;
  /** Where the model came from; empty if it was registered as a client. */
  readonly modelUrl: string;
  readonly loadedAt: Date;
  /** Requests that are not answered yet. */
  readonly activeRequests: number;
}

/** The longest time to wait for a client's description, which a worker gives between two batches. */
const DESCRIBE_MS = 30_000;

/**
 * Serves models by name, each in one version or more: TorchServe's model server. `predict` is for the app itself, and `fetch` answers HTTP requests.
 *
 * ```ts
 * const server = new ModelServer({ load });
 * await server.register('/models/digits/', { name: 'digits', version: '1.0' });
 * const response = await server.fetch(new Request('/predictions/digits', { method: 'POST', body: file }));
 * ```
 */
export class ModelServer<Model = never, LoadOptions extends object = object> implements AsyncDisposable {
  readonly #options: ModelServerOptions<Model, LoadOptions>;
  readonly #clock: Clock;
  readonly #registry = new Registry();
  readonly #disposed = new AbortController();
  readonly #draining = new Set<ServedVersion>();

  constructor(options: ModelServerOptions<Model, LoadOptions> = {}) {
    this.#options = options;
    this.#clock = options.clock ?? browserClock;
  }

  /**
   * Registers a version of a model: a client, which is initialized and stays the caller's, or a model's location, which is given to `load`. Resolves when the version
   * takes requests. A model's first version is its default.
   * @throws `invalid-input` for a version that is registered or being loaded, for a wrong name or version, and without `load`; `disposed`; what `load` and `Client.describe` throw
   */
  async register(
    model: Model | ServedClient,
    options: RegisterOptions & LoadOptions = {} as RegisterOptions & LoadOptions,
  ): Promise<RegisteredModel> {
    this.#checkOpen();
    const { name, version, stream = false, ...rest } = options;
    if (name !== undefined) checkSegment('name', name);
    if (version !== undefined) checkSegment('version', version);
    const release = name === undefined ? undefined : this.#registry.reserve(name, version);
    try {
      const own = isClient(model) ? undefined : await this.#load(model, rest as unknown as LoadOptions);
      const client = own ?? (model as ServedClient);
      try {
        const described = await this.#ask(client);
        this.#checkOpen();
        const served = new ServedVersion({
          name: checkSegment('name', name ?? described.modelName),
          version: checkSegment('version', version ?? described.modelVersion ?? '1.0'),
          modelUrl: own ? nameOf(model) : '',
          client,
          description: described,
          owned: own !== undefined,
          stream,
          loadedAt: new Date(),
        });
        this.#registry.add(served);
        return { name: served.options.name, version: served.options.version };
      } catch (error) {
        await own?.dispose();
        throw error;
      }
    } finally {
      release?.();
    }
  }

  async #load(model: Model, options: LoadOptions): Promise<ServedClient> {
    const { load } = this.#options;
    if (!load)
      throw new TabServeError(
        'invalid-input',
        `register: expected a client, got ${describeValue(model)}. To register a model by its location, make the server with new ModelServer({ load }).`,
      );
    const given = (options as { readonly signal?: AbortSignal }).signal;
    const signal = given ? AbortSignal.any([given, this.#disposed.signal]) : this.#disposed.signal;
    return await load(model, { ...options, signal });
  }

  async #ask(client: ServedClient): Promise<ServedDescription> {
    return await withinLimit('The client', () => client.describe(), {
      milliseconds: DESCRIBE_MS,
      clock: this.#clock,
      signal: this.#disposed.signal,
    });
  }

  /** Makes a version the default of its model. Requests that have begun are not affected. @throws `model-not-found`, `disposed` */
  setDefault(name: string, version: string): void {
    this.#checkOpen();
    this.#registry.setDefault(name, version);
  }

  /**
   * Removes a version, the default if none is given. It gets no more requests; those that it has are answered. Resolves when they are, and when its client, if the
   * server has loaded it, is disposed of. What is not answered after two minutes is rejected with `disposed`.
   * @throws `model-not-found`; `invalid-input` for the default of a model that has other versions; `disposed`
   */
  async unregister(name: string, version?: string): Promise<void> {
    this.#checkOpen();
    const served = this.#registry.remove(name, version);
    this.#draining.add(served);
    await served.drain(this.#clock).finally(() => this.#draining.delete(served));
  }

  /** Returns the models, by name. */
  list(): readonly ListedModel[] {
    return this.#registry.defaults.map(({ options: { name, version } }) => ({
      name,
      defaultVersion: version,
      versions: this.#registry.versions(name).map(({ options }) => options.version),
    }));
  }

  /**
   * Describes a version of a model, the default if none is given.
   * @throws `model-not-found`, `not-initialized` while it is being loaded, `timeout`, `disposed`, what `Client.describe` throws
   */
  async describe(name: string, version?: string): Promise<DescribedModel> {
    this.#checkOpen();
    const { options, active } = this.#registry.find(name, version);
    const isDefault = this.#registry.find(name) === this.#registry.find(name, version);
    const { modelUrl, loadedAt } = options;
    const described = await this.#ask(options.client);
    return { ...described, name, version: options.version, isDefault, modelUrl, loadedAt, activeRequests: active };
  }

  /**
   * Predicts one input with a version of a model, the default if none is given.
   * @throws `model-not-found`, `not-initialized` while it is being loaded, `disposed`, what `Client.predict` throws
   */
  async predict(
    name: string,
    input: unknown,
    { version, ...options }: ServedRequestOptions & { readonly version?: string } = {},
  ): Promise<unknown> {
    this.#checkOpen();
    return await this.#registry.find(name, version).run((client) => client.predict(input, options));
  }

  /**
   * Answers an HTTP request: TorchServe's inference API and, where the options allow it, its management API; the Open Inference Protocol v2 below `/v2`. The origin
   * of the request's URL does not matter. It never rejects: an error is a response with TorchServe's status and body.
   */
  async fetch(request: Request): Promise<Response> {
    const { maxRequestSize = 6_553_500, timeout = 120_000, management } = this.#options;
    return await answer(request, {
      registry: this.#registry,
      server: this as unknown as Manager,
      clock: this.#clock,
      disposed: this.#disposed.signal,
      maxRequestSize,
      timeout,
      management,
    });
  }

  /** Ends the server, and disposes of the clients that it has loaded: their pending requests are rejected with `disposed`. */
  async dispose(): Promise<void> {
    this.#disposed.abort(serverDisposed());
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
}

function isClient(model: unknown): model is ServedClient {
  return typeof model === 'object' && model !== null && 'predict' in model && 'infer' in model && 'describe' in model;
}

/** Names a model's location: its URL, or the name of the file that was picked. */
function nameOf(model: unknown): string {
  if (typeof model === 'string' || model instanceof URL) return String(model);
  return typeof File !== 'undefined' && model instanceof File ? model.name : '';
}
