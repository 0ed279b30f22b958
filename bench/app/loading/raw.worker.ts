/**
 * onnxruntime-web alone in a worker, as one writes it by hand: reads the model's file, creates a session from memory,
 * and runs it once.
 */
import * as ort from 'onnxruntime-web/wasm';
import { SESSION_OPTIONS, THREADS } from '../model.ts';
import { runOnZeros } from './onnx-by-hand.ts';

/** Where the file is read from: the Cache API, in the cache `bench`; or the server, by way of the HTTP cache. */
export type Source = 'cache-api' | 'http';

export interface RawRequest {
  readonly url: string;
  readonly source: Source;
  /** The file of the model's external data, if it has one. */
  readonly weights?: string;
}

/** Milliseconds. */
export interface RawAnswer {
  readonly read: number;
  readonly create: number;
}

const scope = globalThis as unknown as Worker;
ort.env.wasm.numThreads = THREADS;
ort.env.wasm.wasmPaths = { wasm: new URL('onnxruntime-web/ort-wasm-simd-threaded.wasm', import.meta.url) };

scope.onmessage = async ({ data: { url, source, weights } }: MessageEvent<RawRequest>) => {
  const started = performance.now();
  const model = await readFile(url, source);
  const externalData = weights && [{ path: 'weights.bin', data: await readFile(weights, source) }];
  const read = performance.now() - started;
  const session = await ort.InferenceSession.create(model, {
    ...SESSION_OPTIONS,
    ...(externalData && { externalData }),
  });
  const create = performance.now() - started - read;
  await runOnZeros(session);
  scope.postMessage({ read, create } satisfies RawAnswer);
};

async function readFile(url: string, source: Source): Promise<Uint8Array> {
  const response = source === 'http' ? await fetch(url) : await (await caches.open('bench')).match(url);
  return new Uint8Array(await response!.arrayBuffer());
}
