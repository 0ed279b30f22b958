import type { BROWSER_CANDIDATES } from '../../contract/backends.js';
import type { EngineLoader, Engines } from './engine.js';
import { onnxWasm } from './onnx-wasm.js';
import { onnxWebgl } from './onnx-webgl.js';
import { onnxWebgpu } from './onnx-webgpu.js';
import { onnxWebnn } from './onnx-webnn.js';
import { remoteHttp } from './remote-http.js';
import { tfjsCpu } from './tfjs-cpu.js';
import { tfjsWasm } from './tfjs-wasm.js';
import { tfjsWebgl } from './tfjs-webgl.js';
import { tfjsWebgpu } from './tfjs-webgpu.js';

/**
 * Every engine on each of its backends in a browser, as a lazy script. Each loader is a module of its own, so that a
 * bundler can leave it and its files out.
 */
export const allEngines = {
  'onnx/webgpu': onnxWebgpu,
  'onnx/webgl': onnxWebgl,
  'onnx/webnn': onnxWebnn,
  'onnx/wasm': onnxWasm,
  'tfjs/webgpu': tfjsWebgpu,
  'tfjs/webgl': tfjsWebgl,
  'tfjs/wasm': tfjsWasm,
  'tfjs/cpu': tfjsCpu,
  'remote/http': remoteHttp,
} satisfies Engines & Record<(typeof BROWSER_CANDIDATES)[number], EngineLoader>;
