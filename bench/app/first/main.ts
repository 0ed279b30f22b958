/**
 * The page's side of the section on the first answer: TabServe, and onnxruntime-web alone in a worker.
 * `bench/first-answer.mjs` calls it.
 */
import { connect, type BackendName, type CandidateName } from '../../../src/index.ts';
import type { RawAnswer } from '../loading/raw.worker.ts';
import { SESSION_OPTIONS, THREADS } from '../model.ts';
import { spansSince, type Span } from './spans.ts';

export interface FirstRequest {
  /** An archive, or the `.onnx` alone. */
  readonly model: string;
  readonly handler: string | undefined;
  readonly backends: readonly (BackendName | CandidateName)[] | undefined;
  /** The dims of one row. */
  readonly dims: readonly number[];
}

export interface Answered {
  /** Milliseconds from the call to the first answer. */
  readonly took: number;
  readonly spans: readonly Span[];
}

const first = {
  /** Opens a model, and predicts one row. */
  async ours({ model, handler, backends, dims }: FirstRequest): Promise<Answered> {
    const started = performance.now();
    let worker: Worker | undefined;
    const client = connect(
      () => (worker = new Worker(new URL('./ours.worker.ts', import.meta.url), { type: 'module' })),
      {
        model,
        ...(handler !== undefined && { handler }),
        ...(backends && { backends }),
        config: {
          engine: { threads: THREADS, graphOptimizationLevel: SESSION_OPTIONS.graphOptimizationLevel },
        },
      },
    );
    await client.initialize();
    await client.predict({ data: new Float32Array(dims.reduce((product, size) => product * size, 1)), dims });
    const { took, spans } = spansSince(started);
    const ofWorker = await new Promise<readonly Span[]>((resolve) => {
      worker!.addEventListener('message', ({ data }) => data?.spans && resolve(data.spans));
      worker!.postMessage('spans');
    });
    return { took, spans: [...spans, ...ofWorker] };
  },
  /** Does the same by hand. @param url of the `.onnx` */
  async raw(url: string): Promise<Answered> {
    const started = performance.now();
    const worker = new Worker(new URL('../loading/raw.worker.ts', import.meta.url), { type: 'module' });
    await new Promise<RawAnswer>((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<RawAnswer>) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.postMessage({ url, source: 'http' });
    });
    return { took: performance.now() - started, spans: [] };
  },
};
export type First = typeof first;

Object.assign(globalThis, { first });
