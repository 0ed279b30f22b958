/** Makes the built-in worker. Bundlers find its script by this literal. */
export function defaultWorker(): Worker {
  return new Worker(new URL('../worker/default.worker.js', import.meta.url), { type: 'module' });
}
