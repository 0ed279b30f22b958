/** The worker's public names under Node: `tabserve/worker` resolves to this module there. */
import type { HandlerClass } from './contract/handler.js';
import { servingClass, type ExposeOptions } from './worker/host/expose.js';
import { nodeEngines } from './server/node/engines.js';
import { serveThread } from './server/node/serve-thread.js';

export * from './worker-core.js';

/**
 * Serves one handler class from this worker thread. To be called at the top level of the module that a `ThreadWorker`
 * runs. In any other thread, it does nothing: a unit test may import the class from the worker's module.
 */
export function expose(handler: HandlerClass, { engines = nodeEngines }: Partial<ExposeOptions> = {}): void {
  serveThread({ engines, ...servingClass(handler) });
}
