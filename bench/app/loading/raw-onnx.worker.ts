/** ONNX Runtime alone in a worker, as one writes it by hand, with its `.wasm` compiled once for a page: what a worker takes that repeats nothing but what no two workers can share. */
import * as ort from 'onnxruntime-web/wasm';
import { SESSION_OPTIONS, THREADS } from '../model.ts';
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
  // It asks for bytes, which it would compile: a module is put in their place.
  const { instantiate } = WebAssembly;
  WebAssembly.instantiate = (async (_: unknown, imports: WebAssembly.Imports) => ({
    module,
    instance: await instantiate(module, imports),
  })) as unknown as typeof WebAssembly.instantiate;
  ort.env.wasm.numThreads = THREADS;
  ort.env.wasm.wasmBinary = new ArrayBuffer(0);
  const session = await ort.InferenceSession.create(new Uint8Array(model), SESSION_OPTIONS);
  const [input] = session.inputMetadata;
  if (!input?.isTensor) throw new Error('The model takes no tensor.');
  const dims = input.shape.map((size) => (typeof size === 'number' ? size : 1));
  const zeros = new Float32Array(dims.reduce((product, size) => product * size, 1));
  await session.run({ [input.name]: new ort.Tensor('float32', zeros, dims) });
  return module;
}
