import { readFileSync } from 'node:fs';
import { defineConfig } from 'vite';
import { documents } from './scripts/vite/documents.ts';
import { isolation } from './scripts/vite/isolation.ts';
import { largeFiles } from './scripts/vite/large-files.ts';
import { modelServer } from './scripts/vite/model-server.ts';
import { offline } from './scripts/vite/offline.ts';
import { packagedModels } from './scripts/vite/packaged-models.ts';
import { predictionsWorker } from './scripts/vite/predictions-worker.ts';
import { sharing } from './scripts/vite/sharing.ts';
import { sourceWorkers } from './scripts/vite/source-workers.ts';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')) as { version: string };

/** The gallery: started by `npm start`, built by `npm run gallery`. */
export default defineConfig({
  root: 'demo',
  publicDir: '../public',
  base: './',
  plugins: [
    sourceWorkers(),
    isolation(),
    packagedModels(),
    modelServer(),
    predictionsWorker(),
    largeFiles(),
    documents(),
    sharing(),
    offline(),
  ],
  define: { VERSION: JSON.stringify(version) },
  worker: { format: 'es', plugins: () => [sourceWorkers()] },
  // Found at first use, in a worker, they would reload the page.
  optimizeDeps: {
    include: [
      'comlink',
      'yaml',
      '@huggingface/tokenizers',
      '@cfworker/json-schema',
      ...['wasm', 'webgpu', 'jspi', 'webgl'].map((build) => `onnxruntime-web/${build}`),
      ...['core', 'converter', 'layers', 'backend-cpu', 'backend-wasm', 'backend-webgl', 'backend-webgpu'].map(
        (part) => `@tensorflow/tfjs-${part}`,
      ),
    ],
  },
  server: { port: 5173, fs: { allow: ['..'] } },
  // A picture in a `data:` URL needs a looser Content-Security-Policy.
  build: {
    outDir: '../dist-gallery',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    // Each browser that runs TabServe preloads modules itself.
    modulePreload: { polyfill: false },
    rollupOptions: {
      output: {
        codeSplitting: {
          // What every page with TabServe needs: as one file it is smaller than as the five that bundling by use makes.
          groups: [
            {
              name: 'basics',
              test: /src\/(contract\/(archive|backends|describe-value|downloads|error-data|errors|precisions|settings|version)|shared\/(abort|clock|limit|model-url|spans|threads)|client\/(download-settings|progress|selection\/.*|workers\/(built-in|connection|make-worker|start|watchdog)))\.ts|\/comlink\//,
            },
          ],
        },
      },
    },
  },
});
