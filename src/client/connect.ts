import type { FormName, Handler, ResultFor } from '../contract/handler.js';
import type { HandlerName, HandlerOf } from '../handlers/registry.js';
import { Client } from './client.js';
import { connectWorker } from './connect-worker.js';
import { defaultWorker } from './default-worker.js';
import type { ClientOptions } from './options.js';
import { readClientOptions } from './read-options.js';
import type { WorkerFactory } from './workers/early-worker.js';

/** What `connect` takes for the built-in worker. */
export interface ConnectOptions<Name extends HandlerName, Form = never> extends ClientOptions<HandlerOf<Name>, Form> {
  /** A built-in handler. @default the one that the archive's manifest names */
  readonly handler?: Name;
}

/**
 * Makes a client of the built-in worker. Nothing is started or downloaded before `initialize`, and `dispose` ends it at any time.
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
  return new Client(() => defaultWorker(options.assets), options, { isPossible: () => typeof Worker !== 'undefined' });
}
