import { loadScript } from '../../shared/load-script.js';
import type { Engines } from '../engines/engine.js';
import type { HostOptions } from './host.js';
import type { HandlerClass } from '../../contract/handler.js';
import { serve } from './serve.js';

/** Options of `expose`. */
export interface ExposeOptions {
  /** The engines that the worker may start. */
  readonly engines: Engines;
}

/**
 * Serves one handler class from this worker. Call it at the top level of the worker's module.
 * Outside a worker, it does nothing: a unit test may import the class from the worker's module.
 */
export function expose(handler: HandlerClass, { engines }: ExposeOptions): void {
  if (!('WorkerGlobalScope' in globalThis)) return;
  serve({ engines, ...servingClass(handler) });
}

/** Returns what `serve` takes to serve one class, whose workflow's nodes have built-in handlers. */
export function servingClass(handler: HandlerClass): Pick<HostOptions, 'handlerClass' | 'builtIn'> {
  return {
    handlerClass: () => Promise.resolve(handler),
    builtIn: async (name) => (await loadScript(() => import('../handlers/registry.js'))).loadHandler(name),
  };
}
