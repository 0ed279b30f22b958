import { availableParallelism } from 'node:os';
import type { Platform } from '../worker/platform.js';
import { fetchLocal } from './fetch-local.js';

/** The most threads of one model, unless its config asks for more. */
const MOST_THREADS = 4;

/** What a worker thread has in place of what a Web Worker has. */
export const nodePlatform: Platform = {
  probe: async () => ({
    webgpu: { available: false, reason: 'Node has no WebGPU.' },
    webgl: { available: false, reason: 'Node has no WebGL.' },
    wasm: { available: true, simd: true, jspi: 'Suspending' in WebAssembly, threads: false },
    crossOriginIsolated: false,
    cores: availableParallelism(),
  }),
  threads: (candidate, wanted) =>
    candidate === 'onnx/cpu' ? (wanted ?? Math.min(MOST_THREADS, Math.ceil(availableParallelism() / 2))) : 1,
  fetch: fetchLocal,
};
