import type { BaseHandler } from '../handlers/base-handler.js';
import type { HandlerName, HandlerRegistry } from '../handlers/registry.js';
import { Client } from './client.js';
import type { ClientOptions, InitializeOptions } from './options.js';

export interface LoadOptions<Name extends HandlerName> extends Omit<ClientOptions, 'model'>, InitializeOptions {
  /** A built-in handler. @default the one that the archive's manifest names */
  readonly handler?: Name;
}

/** `connect` and `initialize` with the built-in worker. @throws what `initialize` throws */
export async function load<Name extends HandlerName = HandlerName>(
  model: string | URL | File,
  options: LoadOptions<Name> = {},
): Promise<Client<[HandlerName] extends [Name] ? BaseHandler<unknown, unknown> : HandlerRegistry[Name]>> {
  const { signal, onProgress, ...rest } = options;
  const client = new Client<HandlerRegistry[Name]>(defaultWorker, { ...rest, model });
  await client.initialize({ ...(signal && { signal }), ...(onProgress && { onProgress }) });
  return client as never;
}

/** Bundlers find the worker by this literal. */
function defaultWorker(): Worker {
  return new Worker(new URL('../worker/default.worker.js', import.meta.url), { type: 'module' });
}
