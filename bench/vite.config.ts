import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { sourceWorkers } from '../scripts/vite/source-workers.ts';
import { workerScripts } from '../src/tools/vite/worker-scripts.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const ORT = here('../node_modules/onnxruntime-web/dist');

/** The page of each section, by Vite's mode; another mode builds all of them. */
const PAGES: Readonly<Record<string, string>> = {
  requests: 'app/index.html',
  first: 'app/first/index.html',
  serving: 'app/serving/index.html',
  loading: 'app/loading/index.html',
  frames: 'app/frames/index.html',
  people: 'app/people/index.html',
  handlers: 'app/handlers/index.html',
  generation: 'app/generation/index.html',
  published: 'app/published/index.html',
  threads: 'app/threads/index.html',
  precisions: 'app/threads/index.html',
  webnn: 'app/threads/index.html',
};

/** The benchmark's pages as an app would ship them: a production build, our sources in it. */
export default defineConfig(({ mode }) => ({
  root: here('app'),
  publicDir: false,
  base: '/',
  logLevel: 'error',
  plugins: [sourceWorkers()],
  // As the Vite plugin splits workers.
  worker: {
    format: 'es',
    plugins: () => [sourceWorkers()],
    rolldownOptions: { output: { codeSplitting: workerScripts(here('../src/')) } },
  },
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
    rollupOptions: { input: (mode in PAGES ? [PAGES[mode]!] : [...new Set(Object.values(PAGES))]).map(here) },
  },
}));
