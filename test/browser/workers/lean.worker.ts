import { BaseHandler, expose, onnxWasm } from '../../../src/worker-core.ts';

expose(BaseHandler, { engines: { 'onnx/wasm': onnxWasm } });
