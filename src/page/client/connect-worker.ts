import { readOptions } from '../../shared/read-options.js';
import type { InitializeOptions } from '../requests/request-options.js';
import type { Handler } from '../../contract/handler.js';
import type { FormName, ResultFor } from '../../contract/handler-types.js';
import { Client } from './client.js';
import type { ClientOptions } from '../options/client-options.js';
import { readClientOptions } from '../options/client-options.js';
import type { WorkerFactory } from '../workers/worker-factory.js';

/**
 * Makes a client for a handler class of the app's own, which its worker module serves with `expose(MyHandler)`. Nothing
 * is started or downloaded before `initialize`, and `dispose` ends it at any time.
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
export function connectWorker<H extends Handler, Form extends FormName<H> = never>(
  factory: WorkerFactory,
  options: ClientOptions<H, Form>,
): Client<H, ResultFor<H, Form>> {
  return new Client(factory, readClientOptions(options as ClientOptions));
}

/**
 * Makes a client with the options that `connect` takes, and initializes it.
 * @throws what `initialize` throws, after everything that was started has ended
 */
export async function loadWith<C extends Pick<Client, 'initialize' | 'dispose'>>(
  make: (options: object) => C,
  options: InitializeOptions,
): Promise<C> {
  const { signal, onProgress, ...rest } = readOptions(options, 'an object as options');
  const client = make(rest);
  try {
    await client.initialize({
      ...(signal !== undefined && { signal }),
      ...(onProgress !== undefined && { onProgress }),
    });
    return client;
  } catch (error) {
    await client.dispose();
    throw error;
  }
}
