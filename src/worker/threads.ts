import { defaultThreads } from '../shared/threads.js';

/**
 * Returns the number of threads for WASM: `wanted`, or the default for so many workers; 1 if memory cannot be shared.
 * @param warn called if `wanted` is more than that
 */
export function threadCount(wanted: number | undefined, maxWorkers: number, warn: (message: string) => void): number {
  const shared = globalThis.crossOriginIsolated === true && typeof SharedArrayBuffer !== 'undefined';
  if (shared) return wanted ?? defaultThreads(navigator.hardwareConcurrency || 1, maxWorkers);
  if (wanted !== undefined && wanted > 1)
    warn(
      `ONNX Runtime computes with 1 thread in place of ${wanted}: the page is not cross-origin isolated. Its server must send Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp. See docs/hosting.md#cross-origin-isolation.`,
    );
  return 1;
}
