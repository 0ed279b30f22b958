/**
 * Copies each tensor that it gets into a WebAssembly memory, as an engine does, computes for a while, and answers how
 * long that took.
 */
const COMPUTE_MS = 3;

const scope = globalThis as unknown as Worker;
const heap = new Float32Array(new WebAssembly.Memory({ initial: 64 }).buffer);
scope.onmessage = ({ data }: MessageEvent<Float32Array>) => {
  heap.set(data);
  const started = performance.now();
  let took = 0;
  while (took < COMPUTE_MS) took = performance.now() - started;
  scope.postMessage(took);
};
