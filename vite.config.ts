import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
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

/** The client, and what every client loads. */
const CLIENT = ['client/connect', 'selection/open-worker'].map((name) =>
  fileURLToPath(new URL(`src/page/${name}.ts`, import.meta.url)),
);

interface Modules {
  getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null;
}

/** Returns modules and those that they import, without those that they load later. */
function neededBy(ids: readonly string[], modules: Modules): ReadonlySet<string> {
  const needed = new Set(ids);
  for (const one of needed) for (const imported of modules.getModuleInfo(one)?.importedIds ?? []) needed.add(imported);
  return needed;
}

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
      'js-yaml',
      '@noble/hashes/sha2.js',
      '@cfworker/json-schema',
      '@zip.js/zip.js/lib/zip-core-custom.js',
      'mediabunny',
      'modern-tar',
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
          groups: [{ name: (id, modules) => (neededBy(CLIENT, modules).has(id) ? 'basics' : null) }],
        },
      },
    },
  },
});
