import { defineConfig } from 'vite';
import base from '../vite.config.ts';

/** The browser tests' pages, served from the sources, with everything in the repository under its own path. */
export default defineConfig({
  ...base,
  root: '.',
  publicDir: 'public',
  cacheDir: 'node_modules/.vite-test',
  server: { hmr: false, watch: null },
});
