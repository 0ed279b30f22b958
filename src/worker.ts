/** The worker's public names, with every engine as the default of `expose`. */
import { expose as exposeWith, type ExposeOptions } from './worker/host/expose.js';
import type { HandlerClass } from './contract/handler.js';
import { allEngines } from './worker/engines/index.js';

export * from './worker-core.js';

/**
 * Serves one handler class from this worker. To be called at the top level of the worker's module.
 *
 * An app that wants to ship fewer engines imports from `tabserve/worker/core`, where none is the default, and names
 * those that it wants: `expose(MyHandler, { engines: { 'onnx/wasm': onnxWasm } })` with `onnxWasm` of
 * `tabserve/engines/onnx-wasm`. Named here, the others are left out of the choice, but a bundler emits their files all
 * the same.
 */
export function expose(handler: HandlerClass, options: Partial<ExposeOptions> = {}): void {
  exposeWith(handler, { engines: allEngines, ...options });
}
