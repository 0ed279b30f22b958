import { describeValue } from '../contract/describe-value.js';
import { TabServeError } from '../contract/errors.js';
import type { Clock } from '../shared/clock.js';
import { withinLimit } from '../shared/limit.js';
import type { LoadModel } from './options.js';
import type { ServedClient, ServedDescription } from './served-client.js';

/** How long to wait for a client's description, which a worker returns between two batches. */
const DESCRIBE_MS = 30_000;

/** A model's location, and the options of `load` that it is loaded with. */
export interface Source {
  readonly model: unknown;
  readonly options: object;
}

/** A client that can answer. */
export interface Opened {
  readonly client: ServedClient;
  /** What the client says about its model. */
  readonly description: ServedDescription;
  /** What the client was loaded from; undefined for a client of the app's own. */
  readonly source: Source | undefined;
  readonly loadedAt: Date;
}

/** Loads models with the app's `load`, and asks clients what they serve. */
export class Loader {
  readonly #load: LoadModel | undefined;
  readonly #clock: Clock;
  readonly #disposed: AbortSignal;

  /** @param disposed aborts when the server is disposed of: it ends every wait */
  constructor(load: LoadModel | undefined, clock: Clock, disposed: AbortSignal) {
    this.#load = load;
    this.#clock = clock;
    this.#disposed = disposed;
  }

  /** Takes a client of the app's own. @throws what `Client.describe` throws; `timeout` */
  async take(client: ServedClient): Promise<Opened> {
    return { client, description: await this.describe(client), source: undefined, loadedAt: new Date() };
  }

  /** Loads a model. @throws `invalid-input` if the server has no `load`; what `load` throws; `timeout` */
  async open(source: Source, signal?: AbortSignal): Promise<Opened> {
    if (!this.#load)
      throw new TabServeError(
        'invalid-input',
        `register: expected a client, got ${describeValue(source.model)}. To register a model by its location, make the server with new ModelServer({ load }).`,
      );
    const either = signal ? AbortSignal.any([signal, this.#disposed]) : this.#disposed;
    const client = await this.#load(source.model, { ...source.options, signal: either });
    try {
      return { ...(await this.take(client)), source };
    } catch (error) {
      await client.dispose();
      throw error;
    }
  }

  /** Asks a client what it serves. @throws what `Client.describe` throws; `timeout` */
  async describe(client: ServedClient): Promise<ServedDescription> {
    return await withinLimit('The client', () => client.describe(), {
      milliseconds: DESCRIBE_MS,
      clock: this.#clock,
      signal: this.#disposed,
    });
  }
}

export function isClient(model: unknown): model is ServedClient {
  return typeof model === 'object' && model !== null && 'predict' in model && 'infer' in model && 'describe' in model;
}
