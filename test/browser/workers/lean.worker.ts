import { onnxWasm } from '../../../src/worker/engines/onnx-wasm.ts';
import { BaseHandler, expose } from '../../../src/worker-core.ts';

expose(BaseHandler, { engines: { 'onnx/wasm': onnxWasm } });
