import { tabserve } from 'tabserve/vite';
import { defineConfig } from 'vite';

/** `vite build --mode assets`: the engine's files are in a folder that the app serves. */
export default defineConfig(({ mode }) => ({
  plugins: [tabserve({ engines: ['onnx/wasm'], ...(mode === 'assets' && { assets: '/ort' }) })],
}));
