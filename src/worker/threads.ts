/** Threads to compute with on WASM: what was asked for, else min(4, ⌈cores / 2⌉); one where memory cannot be shared. */
export function threadCount(wanted?: number): number {
  const shared = globalThis.crossOriginIsolated === true && typeof SharedArrayBuffer !== 'undefined';
  return shared ? (wanted ?? Math.min(4, Math.ceil((navigator.hardwareConcurrency || 1) / 2))) : 1;
}
