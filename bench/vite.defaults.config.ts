import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The page of the first answer in an app without our plugin. What is set here changes no script of the app. */
export default defineConfig({
  root: here('app/defaults'),
  publicDir: false,
  base: '/defaults/',
  logLevel: 'error',
  build: { outDir: here('../.cache/bench-defaults'), emptyOutDir: true, chunkSizeWarningLimit: 10_000 },
});
