/** The page's side of the section on loading: TabServe, and onnxruntime-web alone in a worker. `bench/loading.mjs` calls it. */
import { load } from '../../../src/index.ts';
import { SESSION_OPTIONS, THREADS } from '../model.ts';
import type { RawAnswer, RawRequest } from './raw.worker.ts';

const OPTIONS = {
  handler: 'base_handler',
  backends: ['onnx/wasm'],
  config: { engine: { threads: THREADS, graphOptimizationLevel: SESSION_OPTIONS.graphOptimizationLevel } },
} as const;

const loading = {
  /** Stores the file where the raw worker reads it. */
  async store(url: string): Promise<void> {
    await (await caches.open('bench')).put(url, await fetch(url));
  },
  /** Returns the milliseconds from the call until the model has run once. The worker ends with the page. */
  async ours(url: string): Promise<{ readonly took: number }> {
    const started = performance.now();
    await load(url, OPTIONS);
    return { took: performance.now() - started };
  },
  /** Does the same in a worker without TabServe. */
  async raw(request: RawRequest): Promise<RawAnswer & { readonly took: number }> {
    const started = performance.now();
    const worker = new Worker(new URL('./raw.worker.ts', import.meta.url), { type: 'module' });
    const answer = await new Promise<RawAnswer>((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<RawAnswer>) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.postMessage(request);
    });
    return { ...answer, took: performance.now() - started };
  },
};
export type Loading = typeof loading;

Object.assign(globalThis, { loading });
