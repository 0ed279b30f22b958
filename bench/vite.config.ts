import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { sourceWorkers } from '../scripts/vite/source-workers.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The benchmark's page as an app would ship it: a production build, our sources in it. */
export default defineConfig({
  root: here('app'),
  publicDir: false,
  base: '/',
  logLevel: 'warn',
  plugins: [sourceWorkers()],
  worker: { format: 'es', plugins: () => [sourceWorkers()] },
  // The app imports it from its own folder, but it is installed beside this file.
  resolve: { alias: { '@huggingface/transformers': here('node_modules/@huggingface/transformers/dist/transformers.web.js') } },
  build: { outDir: here('../.cache/bench'), emptyOutDir: true, target: 'es2022', chunkSizeWarningLimit: 10_000 },
});
