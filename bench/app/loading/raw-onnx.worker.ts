/**
 * ONNX Runtime alone in a worker, as one writes it by hand, with its `.wasm` compiled once for a page: what a worker
 * takes that repeats nothing but what no two workers can share.
 */
import * as ort from 'onnxruntime-web/wasm';
import { SESSION_OPTIONS } from '../model.ts';
import { runOnZeros, useModule } from './onnx-by-hand.ts';
import type { SharedRequest } from './shared.ts';

const WASM = new URL('onnxruntime-web/ort-wasm-simd-threaded.wasm', import.meta.url);
const scope = globalThis as unknown as Worker;

scope.onmessage = ({ data }: MessageEvent<SharedRequest>) => {
  void open(data).then((module) => scope.postMessage(module), reportError);
};

/** Opens the model, runs it once, and returns the compiled `.wasm`. */
async function open({ url, module: compiled }: SharedRequest): Promise<WebAssembly.Module> {
  const compiling = Promise.resolve(compiled ?? WebAssembly.compileStreaming(fetch(WASM)));
  const [module, model] = await Promise.all([compiling, fetch(url).then((response) => response.arrayBuffer())]);
  useModule(module);
  const session = await ort.InferenceSession.create(new Uint8Array(model), SESSION_OPTIONS);
  await runOnZeros(session);
  return module;
}
