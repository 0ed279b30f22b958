import type { FormName, ResultFor } from '../contract/handler.js';
import type { HandlerName, HandlerOf } from '../handlers/registry.js';
import type { Client } from './client.js';
import { connect, type ConnectOptions } from './connect.js';
import type { InitializeOptions } from './options.js';
import type { ModelLocation } from './model-location.js';
import { readOptions } from '../shared/read-options.js';

/** What `load` takes beside the model. */
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
