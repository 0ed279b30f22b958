import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import base from '../vite.config.ts';

const source = (name: string): string => fileURLToPath(new URL(`../src/${name}.ts`, import.meta.url));

/** The browser tests' pages, served from the sources, with everything in the repository under its own path. */
export default defineConfig({
  ...base,
  root: '.',
  publicDir: 'public',
  optimizeDeps: { ...base.optimizeDeps, entries: ['test/browser/pages/*.html'] },
  cacheDir: 'node_modules/.vite-test',
  resolve: {
    alias: [
      { find: /^tabserve$/, replacement: source('index') },
      { find: /^tabserve\/worker$/, replacement: source('worker') },
      { find: /^tabserve\/engines\/([\w-]+)$/, replacement: source('engines/$1') },
      { find: /^tabserve\/core$/, replacement: source('core') },
      { find: /^tabserve\/worker\/core$/, replacement: source('worker-core') },
    ],
  },
  server: { hmr: false, watch: null },
});
