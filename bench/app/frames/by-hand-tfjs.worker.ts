import { setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import { loadGraphModel } from '@tensorflow/tfjs-converter';
import { browser, div, env, expandDims, setBackend, tidy, type Tensor } from '@tensorflow/tfjs-core';
import { serveMasks } from './by-hand.ts';

// Its threads break in minified code.
env().set('WASM_HAS_MULTITHREAD_SUPPORT', false);
const { href } = new URL('@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm', import.meta.url);
setWasmPaths({
  'tfjs-backend-wasm.wasm': href,
  'tfjs-backend-wasm-simd.wasm': href,
  'tfjs-backend-wasm-threaded-simd.wasm': href,
});
await setBackend('wasm');
const model = await loadGraphModel('/models/selfie/model.json');

serveMasks(async (pixels) => {
  const output = tidy(() => model.execute(expandDims(div(browser.fromPixels(pixels), 255))) as Tensor);
  const map = (await output.data()) as Float32Array;
  output.dispose();
  return map;
});
