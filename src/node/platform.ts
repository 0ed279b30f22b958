import { availableParallelism } from 'node:os';
import { defaultThreads } from '../shared/threads.js';
import type { Platform } from '../worker/platform.js';
import { fetchLocal } from './fetch-local.js';

/** What a worker thread has in place of what a Web Worker has. */
export const nodePlatform: Platform = {
  probe: async () => ({
    webgpu: { available: false, reason: 'Node has no WebGPU.' },
    webgl: { available: false, reason: 'Node has no WebGL.' },
    webnn: { available: false, reason: 'Node has no WebNN.' },
    wasm: { available: true, simd: true, jspi: 'Suspending' in WebAssembly, threads: false },
    crossOriginIsolated: false,
    cores: availableParallelism(),
  }),
  threads: (candidate, wanted, maxWorkers) =>
    candidate === 'onnx/cpu' ? (wanted ?? defaultThreads(availableParallelism(), maxWorkers)) : 1,
  fetch: fetchLocal,
};
