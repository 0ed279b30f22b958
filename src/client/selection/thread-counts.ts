import type { ModelConfig } from '../../contract/archive.js';
import type { Probe } from '../../contract/backends.js';
import { defaultThreads } from '../../shared/threads.js';

/** The numbers of threads that are measured. */
const COUNTS = [1, 2, 4];

/**
 * Returns the numbers of threads to measure for ONNX Runtime's WASM, the default first. Each of `maxWorkers` workers must get cores of its own. A pure function.
 * @returns an empty list if there is nothing to choose: memory cannot be shared, or the config sets the number
 */
export function threadCounts({ wasm, cores }: Probe, { engine }: ModelConfig, maxWorkers: number): readonly number[] {
  if (!wasm.available || !wasm.threads || engine?.threads !== undefined) return [];
  const first = defaultThreads(cores, maxWorkers);
  return [first, ...COUNTS.filter((count) => count !== first && count * maxWorkers <= cores)];
}
