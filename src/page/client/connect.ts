import type { Handler } from '../../contract/handler.js';
import type { FormName, ResultFor } from '../../contract/handler-types.js';
import type { HandlerName, HandlerOf } from '../../worker/handlers/registry.js';
import { Client } from './client.js';
import { connectWorker, loadWith } from './connect-worker.js';
import type { ClientOptions } from '../options/client-options.js';
import type { InitializeOptions } from '../requests/request-options.js';
import { readClientOptions } from '../options/client-options.js';
import { type WorkerFactory, markBuiltIn } from '../workers/worker-factory.js';
import type { ModelLocation } from '../options/model-location.js';
import { absoluteUrl, folderUrl } from '../options/values.js';

/** What `connect` takes for the built-in worker. */
export interface ConnectOptions<Name extends HandlerName, Form = never> extends ClientOptions<HandlerOf<Name>, Form> {
  /** A built-in handler. @default the one that the archive's manifest names */
  readonly handler?: Name;
}

/**
 * Makes a client of the built-in worker. Nothing is started or downloaded before `initialize`, and `dispose` ends it at
 * any time.
 *
 * ```ts
 * const classifier = connect({ model: '/models/digits/', handler: 'image_classifier' });
 * await classifier.initialize();
 * ```
 */
export function connect<Name extends HandlerName = HandlerName, Form extends FormName<HandlerOf<Name>> = never>(
  options: ConnectOptions<Name, Form>,
): Client<HandlerOf<Name>, ResultFor<HandlerOf<Name>, Form>>;
/**
 * Makes a client for a handler class of the app's own, which its worker module serves with `expose(MyHandler)`.
 *
 * ```ts
 * const birds = connect<BirdClassifier>(
 *   () => new Worker(new URL('./birds.worker.ts', import.meta.url), { type: 'module' }),
 *   { model: '/models/birds/' },
 * );
 * await birds.initialize();
 * ```
 * @param factory makes a fresh worker at each call: each backend that is tried gets its own
 */
export function connect<H extends Handler, Form extends FormName<H> = never>(
  factory: WorkerFactory,
  options: ClientOptions<H, Form>,
): Client<H, ResultFor<H, Form>>;
export function connect(first: unknown, second?: unknown): unknown {
  if (typeof first === 'function') return connectWorker(first as WorkerFactory, second as ClientOptions);
  const options = readClientOptions(first as ClientOptions);
  return new Client(() => defaultWorker(options.assets), options, { isBuiltIn: true });
}

/** What `load` takes in addition to the model. */
export interface LoadOptions<Name extends HandlerName, Form = never>
  extends Omit<ConnectOptions<Name, Form>, 'model'>, InitializeOptions {}

/**
 * Loads a model: `connect` and `initialize` with the built-in worker.
 * @throws what `initialize` throws, after everything that was started has ended
 */
export async function load<Name extends HandlerName = HandlerName, Form extends FormName<HandlerOf<Name>> = never>(
  model: ModelLocation,
  options: LoadOptions<Name, Form> = {},
): Promise<Client<HandlerOf<Name>, ResultFor<HandlerOf<Name>, Form>>> {
  return await loadWith((rest) => connect({ ...rest, model } as unknown as ConnectOptions<Name, Form>), options);
}

/**
 * Makes the built-in worker: from the folder `assets`, if that is of the page's own origin, because browsers do not
 * start a worker from another one; otherwise from where the bundler has placed it. Bundlers find its script by the
 * literal.
 */
export function defaultWorker(assets: string | URL | undefined): Worker {
  const folder = assets === undefined ? undefined : folderUrl(absoluteUrl(assets, 'assets'));
  const worker =
    folder !== undefined && new URL(folder).origin === globalThis.location?.origin
      ? new Worker(`${folder}worker.js`, { type: 'module' })
      : new Worker(new URL('../../worker/default.worker.js', import.meta.url), { type: 'module' });
  return markBuiltIn(worker);
}
