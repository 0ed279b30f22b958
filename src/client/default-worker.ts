import { absoluteUrl, folderUrl } from './url.js';
import { markBuiltIn } from './workers/built-in.js';

/**
 * Makes the built-in worker: from the folder `assets`, if that is of the page's own origin, because browsers start no worker from another one;
 * else from where the bundler has placed it. Bundlers find its script by the literal.
 */
export function defaultWorker(assets: string | URL | undefined): Worker {
  const folder = assets === undefined ? undefined : folderUrl(absoluteUrl(assets, 'assets'));
  const worker =
    folder !== undefined && new URL(folder).origin === globalThis.location?.origin
      ? new Worker(`${folder}worker.js`, { type: 'module' })
      : new Worker(new URL('../worker/default.worker.js', import.meta.url), { type: 'module' });
  return markBuiltIn(worker);
}
