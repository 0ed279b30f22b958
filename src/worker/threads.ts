/** Returns the number of threads for WASM: `wanted`, by default min(4, ⌈cores / 2⌉); 1 if memory cannot be shared. */
export function threadCount(wanted?: number): number {
  const shared = globalThis.crossOriginIsolated === true && typeof SharedArrayBuffer !== 'undefined';
  return shared ? (wanted ?? Math.min(4, Math.ceil((navigator.hardwareConcurrency || 1) / 2))) : 1;
}
