/**
 * The page's side of the section on loading: TabServe, and onnxruntime-web alone in a worker. `bench/loading.mjs` calls
 * it.
 */
import { connect, load, type CandidateName, type Client } from '../../../src/index.ts';
import { SESSION_OPTIONS, THREADS } from '../model.ts';
import type { RawAnswer, RawRequest } from './raw.worker.ts';
import type { SharedRequest } from './shared.ts';

const OPTIONS = {
  handler: 'base_handler',
  backends: ['onnx/wasm'],
  config: { engine: { threads: THREADS, graphOptimizationLevel: SESSION_OPTIONS.graphOptimizationLevel } },
} as const;

export interface WorkersRequest {
  readonly candidate: CandidateName;
  /** @default the archive of the digits */
  readonly model?: string;
  /** `asyncify`: ONNX Runtime's build for browsers without JSPI. */
  readonly build?: 'asyncify';
}

/** What is written by hand, by engine. Bundlers find each script by its literal. */
const RAW_WORKERS = {
  onnx: () => new Worker(new URL('./raw-onnx.worker.ts', import.meta.url), { type: 'module' }),
  tfjs: () => new Worker(new URL('./raw-tfjs.worker.ts', import.meta.url), { type: 'module' }),
};

export interface RawWorkersRequest {
  readonly engine: keyof typeof RAW_WORKERS;
  /** URL of the model's file. */
  readonly model: string;
}

/** Milliseconds. */
export interface WorkerTimes {
  /** Of five workers, one after another. */
  readonly opened: readonly number[];
  readonly healed: number;
}

const loading = {
  /** Stores the file where the raw worker reads it. */
  async store(url: string): Promise<void> {
    await (await caches.open('bench')).put(url, await fetch(url));
  },
  /** Returns the milliseconds from the call until the model has run once. The worker ends with the page. */
  async ours(url: string): Promise<{ readonly took: number }> {
    const started = performance.now();
    await load(url, OPTIONS);
    const took = performance.now() - started;
    // The files are stored meanwhile, for the next load.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    return { took };
  },
  /**
   * Opens the model five times on a page, each time with a worker of its own, and ends the last one's worker. Returns
   * the milliseconds until each was open, and until the lost worker was replaced.
   */
  async workers({ candidate, model = '/models/digits/', build }: WorkersRequest): Promise<WorkerTimes> {
    const opened: number[] = [];
    let last: Worker | undefined;
    const factory = (): Worker =>
      (last = new Worker(new URL('./bench.worker.ts', import.meta.url), { type: 'module', name: build ?? '' }));
    const clients: Client[] = [];
    for (let index = 0; index < 5; index++) {
      const client = connect(factory, {
        model,
        ...(model.endsWith('.onnx') && { handler: OPTIONS.handler }),
        backends: [candidate],
        config: OPTIONS.config,
      });
      const started = performance.now();
      await client.initialize();
      opened.push(performance.now() - started);
      clients.push(client);
    }
    const healed = new Promise<number>((resolve) => clients.at(-1)!.on('recover', ({ took }) => resolve(took)));
    last!.dispatchEvent(new ErrorEvent('error', { message: 'lost' }));
    return { opened, healed: await healed };
  },
  /** Does the same as `ours` in a worker without TabServe. */
  async raw(request: RawRequest): Promise<RawAnswer & { readonly took: number }> {
    const started = performance.now();
    const worker = new Worker(new URL('./raw.worker.ts', import.meta.url), { type: 'module' });
    const answer = await ask<RawAnswer>(worker, request);
    return { ...answer, took: performance.now() - started };
  },
  /**
   * Opens a model five times in workers without TabServe, which share the compiled engine. Returns the milliseconds
   * until each has run it once.
   */
  async rawWorkers({ engine, model }: RawWorkersRequest): Promise<readonly number[]> {
    const opened: number[] = [];
    let module: WebAssembly.Module | undefined;
    for (let index = 0; index < 5; index++) {
      const started = performance.now();
      module = await ask<WebAssembly.Module>(RAW_WORKERS[engine](), { url: model, module } satisfies SharedRequest);
      opened.push(performance.now() - started);
    }
    return opened;
  },
};
export type Loading = typeof loading;

/** Sends a worker its only message. The answer is its only message, too. */
function ask<Answer>(worker: Worker, request: unknown): Promise<Answer> {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<Answer>) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage(request);
  });
}

Object.assign(globalThis, { loading });
