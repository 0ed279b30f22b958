/**
 * TensorFlow.js alone in a worker, as one writes it by hand, with its `.wasm` compiled once for a page: what a worker
 * takes that repeats nothing but what no two workers can share.
 */
import { loadGraphModel } from '@tensorflow/tfjs-converter';
import { setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import * as core from '@tensorflow/tfjs-core';
import type { SharedRequest } from './shared.ts';

const WASM = new URL('@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm', import.meta.url).href;
const scope = globalThis as unknown as Worker;

scope.onmessage = ({ data }: MessageEvent<SharedRequest>) => {
  void open(data).then((module) => scope.postMessage(module), reportError);
};

/** Opens the model, runs it once, and returns the compiled `.wasm`. */
async function open({ url, module: compiled }: SharedRequest): Promise<WebAssembly.Module> {
  const compiling = compiled ?? WebAssembly.compileStreaming(fetch(WASM));
  const starting = Promise.resolve(compiling).then(start);
  const model = await loadGraphModel({
    load: async () => {
      const [artifacts] = await Promise.all([core.io.http(url).load!(), starting]);
      return artifacts;
    },
  });
  const feeds = model.inputs.map(({ shape, dtype }) =>
    core.zeros(
      shape!.map((size) => Math.max(size, 1)),
      dtype,
    ),
  );
  await (model.predict(feeds) as core.Tensor).data();
  return await compiling;
}

/** Starts the backend. It asks for bytes, which it would compile: a module is put in their place. */
async function start(module: WebAssembly.Module): Promise<void> {
  core.env().set('WASM_HAS_MULTITHREAD_SUPPORT', false);
  const names = ['tfjs-backend-wasm.wasm', 'tfjs-backend-wasm-simd.wasm', 'tfjs-backend-wasm-threaded-simd.wasm'];
  setWasmPaths(Object.fromEntries(names.map((name) => [name, WASM])), true);
  const { platform } = core.env();
  const { instantiate } = WebAssembly;
  const download = platform.fetch.bind(platform);
  platform.fetch = (path, ...rest) => (path === WASM ? Promise.resolve(new Response()) : download(path, ...rest));
  WebAssembly.instantiate = (async (_: unknown, imports: WebAssembly.Imports) => ({
    module,
    instance: await instantiate(module, imports),
  })) as unknown as typeof WebAssembly.instantiate;
  await core.setBackend('wasm');
}
