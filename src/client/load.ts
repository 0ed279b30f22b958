import type { FormName, Handler, ResultFor } from '../contract/handler.js';
import type { HandlerName, HandlerRegistry } from '../handlers/registry.js';
import { Client } from './client.js';
import type { ClientOptions, InitializeOptions } from './options.js';

/** The handler class of a name; of no certain name, any handler. */
type HandlerOf<Name extends HandlerName> = [HandlerName] extends [Name] ? Handler : HandlerRegistry[Name];

export interface LoadOptions<Name extends HandlerName, Form = never>
  extends Omit<ClientOptions<HandlerOf<Name>, Form>, 'model'>, InitializeOptions {
  /** A built-in handler. @default the one that the archive's manifest names */
  readonly handler?: Name;
}

/** `connect` and `initialize` with the built-in worker. @throws what `initialize` throws */
export async function load<Name extends HandlerName = HandlerName, Form extends FormName<HandlerOf<Name>> = never>(
  model: string | URL | File,
  options: LoadOptions<Name, Form> = {},
): Promise<Client<HandlerOf<Name>, ResultFor<HandlerOf<Name>, Form>>> {
  const { signal, onProgress, ...rest } = options;
  const client = new Client(defaultWorker, { ...(rest as Omit<ClientOptions, 'model'>), model });
  await client.initialize({ ...(signal && { signal }), ...(onProgress && { onProgress }) });
  return client as never;
}

/** Bundlers find the worker by this literal. */
function defaultWorker(): Worker {
  return new Worker(new URL('../worker/default.worker.js', import.meta.url), { type: 'module' });
}
