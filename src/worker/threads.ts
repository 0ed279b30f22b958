import { canShareMemory, defaultThreads } from '../shared/threads.js';

/** Returns the number of threads to ask of WASM: `wanted`, or the default for so many workers, which is 1 if memory cannot be shared. */
export function threadCount(wanted: number | undefined, maxWorkers: number): number {
  return wanted ?? (canShareMemory() ? defaultThreads(navigator.hardwareConcurrency || 1, maxWorkers) : 1);
}
