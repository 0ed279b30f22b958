/**
 * Serves the first page's segmenter, with the engines that are small: TensorFlow.js. It tells the page how many bytes
 * it has uploaded.
 */
import { onUpload } from './uploads.js';
import { tfjsWasm } from '../../src/worker/engines/tfjs-wasm.js';
import { tfjsWebgl } from '../../src/worker/engines/tfjs-webgl.js';
import { tfjsWebgpu } from '../../src/worker/engines/tfjs-webgpu.js';
import { expose, ImageSegmenter } from '../../src/worker-core.js';

addEventListener('message', ({ data, ports: [port] }: MessageEvent<unknown>) => {
  if (data === 'uploads') onUpload((bytes) => port?.postMessage(bytes));
});

expose(ImageSegmenter, {
  engines: { 'tfjs/webgpu': tfjsWebgpu, 'tfjs/webgl': tfjsWebgl, 'tfjs/wasm': tfjsWasm },
});
