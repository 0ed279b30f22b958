import type { CandidateName } from '../contract.js';
import type { EngineLoader, Engines } from './engine.js';

/** ONNX Runtime on WebGPU; the JSPI build where the browser has JSPI. */
export const onnxWebgpu: EngineLoader = async (environment) => {
  const { start } = 'Suspending' in WebAssembly ? await import('./onnx/webgpu-jspi.js') : await import('./onnx/webgpu.js');
  return start(environment);
};

/** ONNX Runtime on WebGL. */
export const onnxWebgl: EngineLoader = async () => (await import('./onnx/webgl.js')).start();

/** ONNX Runtime on WASM. */
export const onnxWasm: EngineLoader = async (environment) => (await import('./onnx/wasm.js')).start(environment);

/** Every engine on every backend that it has, each a lazy chunk. */
export const allEngines = {
  'onnx/webgpu': onnxWebgpu,
  'onnx/webgl': onnxWebgl,
  'onnx/wasm': onnxWasm,
} satisfies Engines & Record<CandidateName, EngineLoader>;
