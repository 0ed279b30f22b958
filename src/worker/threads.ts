/**
 * Threads to compute with on WASM: min(4, ⌈cores / 2⌉), or what was asked for; one where memory cannot be shared, and one in a classic script,
 * from which a bundler has cut the glue that threads load.
 */
export function threadCount(wanted?: number): number {
  const shared = globalThis.crossOriginIsolated === true && typeof SharedArrayBuffer !== 'undefined';
  if (!shared || isClassicScript()) return 1;
  return Math.max(1, Math.floor(wanted ?? Math.min(4, Math.ceil((navigator.hardwareConcurrency || 1) / 2))));
}

/** `importScripts` works in classic workers only; called with nothing, it does nothing. */
function isClassicScript(): boolean {
  try {
    (globalThis as { importScripts?: () => void }).importScripts?.();
    return true;
  } catch {
    return false;
  }
}
