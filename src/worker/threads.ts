import { defaultThreads } from '../shared/threads.js';

/** Returns the number of threads for WASM: `wanted`, or the default for so many workers; 1 if memory cannot be shared. */
export function threadCount(wanted: number | undefined, maxWorkers: number): number {
  const shared = globalThis.crossOriginIsolated === true && typeof SharedArrayBuffer !== 'undefined';
  return shared ? (wanted ?? defaultThreads(navigator.hardwareConcurrency || 1, maxWorkers)) : 1;
}
