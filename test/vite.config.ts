import { readdirSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import vue from '@vitejs/plugin-vue';
import { defineConfig, type Plugin } from 'vite';
import { packagedModels } from '../scripts/vite/packaged-models.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = (name: string): string => `${root}src/${name}.ts`;

/** The scripts of a folder. */
const scriptsIn = (folder: string): string[] =>
  readdirSync(`${root}${folder}`)
    .filter((name) => /(?<!\.spec|\.d)\.tsx?$/.test(name))
    .map((name) => `${folder}/${name}`);

/** Every script that a page or a test names by its path. */
const ENTRIES = [
  ...scriptsIn('test/browser/pages'),
  ...scriptsIn('test/browser/workers'),
  ...['', '/tasks', '/from', '/methods'].flatMap((folder) => scriptsIn(`test/readme${folder}`)),
  'test/browser/cache/stores.worker.ts',
  'src/index.ts',
  'src/worker/default.worker.ts',
];

/**
 * Workers are entries of the one build, so that all of them share its chunks; Vite would build each with engines of its
 * own.
 */
function workersAreEntries(): Plugin {
  return {
    name: 'tabserve:workers-are-entries',
    enforce: 'pre',
    transform(code, id) {
      return code.replace(
        /new URL\('(\.[^']+\.worker)\.[jt]s', import\.meta\.url\)/g,
        (_, path: string) => `new URL('/${relative(root, resolve(dirname(id), path))}.js', location.origin)`,
      );
    },
  };
}

/**
 * `onnxruntime-web_webgl` for a build of ONNX Runtime, the package's name for any other: tests look at what is
 * downloaded.
 */
function chunkOf(module: string): string | undefined {
  const [, build] = /onnxruntime-web\/dist\/ort\.(\w+)/.exec(module) ?? [];
  if (build) return `onnxruntime-web_${build}`;
  // The other backends use some of its kernels, which therefore are not told from it.
  if (module.includes('/tfjs-backend-cpu/') && !module.endsWith('/backend_cpu.js')) return undefined;
  return /.*\/node_modules\/(@[^/]+\/[^/]+|[^/]+)/.exec(module)?.[1]!.replace('/', '_');
}

/** The browser tests' pages and workers: built from the sources, once for a run, and readable in a stack trace. */
export default defineConfig({
  root,
  publicDir: false,
  logLevel: 'warn',
  plugins: [workersAreEntries(), packagedModels(), vue(), svelte()],
  // React's StrictMode does nothing in a production build.
  define: { 'process.env.NODE_ENV': '"development"' },
  resolve: {
    alias: [
      { find: /^tabserve$/, replacement: source('index') },
      { find: /^tabserve\/worker$/, replacement: source('worker') },
      { find: /^tabserve\/engines\/([\w-]+)$/, replacement: source('worker/engines/$1') },
      { find: /^tabserve\/serving$/, replacement: source('serving') },
      { find: /^tabserve\/service-worker$/, replacement: source('service-worker') },
      { find: /^tabserve\/ai-sdk$/, replacement: source('ai-sdk') },
      { find: /^tabserve\/(react|vue|svelte)$/, replacement: source('$1') },
      { find: /^tabserve\/pipeline$/, replacement: source('pipeline') },
      { find: /^tabserve\/prompt-api$/, replacement: source('prompt-api') },
      { find: /^tabserve\/devtools$/, replacement: source('devtools') },
      { find: /^tabserve\/core$/, replacement: source('core') },
      { find: /^tabserve\/worker\/core$/, replacement: source('worker-core') },
    ],
  },
  build: {
    write: false,
    // As the package is. WebKit 2.50 cannot parse `await using`.
    target: 'es2022',
    minify: false,
    // Its helper looks for a document, which workers have not.
    modulePreload: false,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 10_000,
    rollupOptions: {
      input: Object.fromEntries(ENTRIES.map((path) => [path.replace(/\.tsx?$/, ''), `${root}${path}`])),
      // Directives are for servers.
      onwarn: (warning, warn) => warning.code !== 'MODULE_LEVEL_DIRECTIVE' && warn(warning),
      preserveEntrySignatures: 'allow-extension',
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: 'chunks/[name].js',
        assetFileNames: 'assets/[name][extname]',
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [{ debugName: 'packages', test: /node_modules/, name: chunkOf }],
        },
      },
    },
  },
});
