import { TabServeError } from '../../contract/errors.js';

/**
 * Checks that workers can be started here.
 * @param isBuiltIn whether it is the built-in worker: an app's own factory may make workers where the global `Worker`
 *   is missing, though not in a service worker, which cannot `import()` either
 * @throws `unsupported` saying where to load the model instead
 */
export function checkWorkers(isBuiltIn: boolean): void {
  // Servers such as Cloudflare's have the class, too, and no registration.
  if ('ServiceWorkerGlobalScope' in globalThis && 'registration' in globalThis)
    throw new TabServeError(
      'unsupported',
      'A service worker can start no Web Worker. Load the model in a page; in an extension, in an offscreen document: docs/hosting.md#service-workers.',
    );
  if (isBuiltIn && typeof Worker === 'undefined')
    throw new TabServeError(
      'unsupported',
      'There are no Web Workers here: this is a server, or another environment that is not a page. Call load() or initialize() in the browser, in a page; under Node, use load() of tabserve/node.',
    );
}
