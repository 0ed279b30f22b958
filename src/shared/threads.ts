/** Returns whether threads of WASM can share memory here: only on a page that is cross-origin isolated. */
export function canShareMemory(): boolean {
  return globalThis.crossOriginIsolated === true && typeof SharedArrayBuffer !== 'undefined';
}

/**
 * Returns the default number of threads of a model: at most half of the cores, at most four, and few enough that
 * each of `maxWorkers` workers has cores of its own.
 */
export function defaultThreads(cores: number, maxWorkers: number): number {
  return Math.max(1, Math.min(4, Math.ceil(cores / 2), Math.floor(cores / maxWorkers)));
}
