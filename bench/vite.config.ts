import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { sourceWorkers } from '../scripts/vite/source-workers.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const ORT = here('../node_modules/onnxruntime-web/dist');

/** The benchmark's page as an app would ship it: a production build, our sources in it. */
export default defineConfig({
  root: here('app'),
  publicDir: false,
  base: '/',
  logLevel: 'error',
  plugins: [sourceWorkers()],
  worker: { format: 'es', plugins: () => [sourceWorkers()] },
  resolve: {
    alias: [
      {
        find: '@huggingface/transformers',
        replacement: here('node_modules/@huggingface/transformers/dist/transformers.web.js'),
      },
      // Ours, for all but transformers.js, which brings one and imports another entry of it.
      { find: /^onnxruntime-web\/wasm$/, replacement: `${ORT}/ort.wasm.bundle.min.mjs` },
      { find: /^onnxruntime-web\/(ort-wasm-simd-threaded\.wasm)$/, replacement: `${ORT}/$1` },
    ],
  },
  build: {
    outDir: here('../.cache/bench'),
    emptyOutDir: true,
    target: 'es2022',
    chunkSizeWarningLimit: 10_000,
    rollupOptions: { input: [here('app/index.html'), here('app/serving/index.html'), here('app/loading/index.html')] },
  },
});
