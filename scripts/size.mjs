// Prints what a visitor downloads, and fails if something is above its limit. It measures the build:
// `npm run build && npm run size`.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'rolldown';

const dist = fileURLToPath(new URL('../dist/', import.meta.url));

/**
 * What is measured, and the most kilobytes that it may have: JavaScript minified and compressed by gzip. Raise a limit
 * only with a reason.
 *
 * @type {readonly { readonly what: string, readonly limit: number, readonly measure: () => Promise<number> | number
 *   }[]}
 */
const LIMITS = [
  // Until every script was counted that the browser loads at once, not the first of four alone, it was 19.
  // 0.1 of it is what the workers do, for DevTools; 0.1 that a client's reports and its sender are classes.
  // 0.2 more tells which sound files a worker decodes.
  { what: 'page: import { load }', limit: 24.4, measure: () => page(atOnce) },
  {
    what: 'page: all scripts, those of frames, audio files and sharing too',
    // 0.7 of it are the Hub's addresses, 0.2 the file system for what the Cache API refuses, 0.2 what the workers do.
    limit: 54.3,
    measure: () => page((chunks) => chunks),
  },
  {
    what: "page: import { useModel }, without React's own code",
    // 0.1 of it are the arguments that the hooks of all frameworks read alike, 0.1 streams that wait for the model.
    limit: 26.3,
    measure: () => page(atOnce, 'useModel', 'react'),
  },
  {
    what: 'service worker: import { answerPredictions }',
    // 1.1 of it answers a page's requests to models that are device-only, which come by message.
    limit: 6.8,
    measure: () => page(atOnce, 'answerPredictions', 'service-worker'),
  },
  {
    what: 'page: import { hostModels }',
    limit: 3,
    measure: () => page(atOnce, 'hostModels', 'service-worker'),
  },
  {
    what: 'page: import { ModelServer }',
    limit: 20.2,
    measure: () => page(atOnce, 'ModelServer', 'serving'),
  },
  { what: 'page: import { tabserve }, for the AI SDK', limit: 3.1, measure: () => page(atOnce, 'tabserve', 'ai-sdk') },
  {
    what: 'page: import { pipeline }, with load',
    limit: 28,
    measure: () => page(atOnce, 'pipeline', 'pipeline'),
  },
  {
    what: 'page: import { languageModel }, the Prompt API',
    limit: 4,
    measure: () => page(atOnce, 'languageModel', 'prompt-api'),
  },
  {
    what: 'page: import { mountDevtools }, alone',
    // 1 of it are device reports.
    limit: 13,
    measure: () => page(atOnce, 'mountDevtools', 'devtools'),
  },
  {
    what: 'built-in worker: its first script',
    // 0.5 of it are files that the Hub lists, and downloads that begin again where a range is refused.
    // 0.5 more are the signatures of models of other exporters, and Ultralytics' tasks.
    // 0.2 more are the names of four tasks of sounds and speakers.
    // 0.2 more are the types of NeMo's models, and the name of a task of keywords.
    // 0.1 more are the names of a task of conversations, and of Supertonic's parts.
    // 0.2 more are the names of three tasks: Florence-2, Donut, Voxtral.
    limit: 92.5,
    measure: worker,
  },
  { what: 'onnx/wasm', limit: 25, measure: () => file('standalone/onnx-wasm.js') },
  { what: 'onnx/webgl', limit: 97, measure: () => file('standalone/onnx-webgl.js') },
  { what: 'onnx/webgpu, with JSPI', limit: 38, measure: () => file('standalone/onnx-webgpu-jspi.js') },
  { what: 'onnx/webgpu, without JSPI', limit: 39, measure: () => file('standalone/onnx-webgpu.js') },
  { what: 'tfjs/wasm', limit: 139, measure: () => file('standalone/tfjs-core.js', 'standalone/tfjs-wasm.js') },
  { what: 'tfjs/webgl', limit: 186, measure: () => file('standalone/tfjs-core.js', 'standalone/tfjs-webgl.js') },
  { what: 'tfjs/webgpu', limit: 176, measure: () => file('standalone/tfjs-core.js', 'standalone/tfjs-webgpu.js') },
  { what: 'tfjs/cpu', limit: 139, measure: () => file('standalone/tfjs-core.js', 'standalone/tfjs-cpu.js') },
  { what: 'tfjs: a layers model, in addition', limit: 75, measure: () => file('standalone/tfjs-layers.js') },
  { what: 'YAML', limit: 14, measure: () => file('standalone/yaml.js') },
  { what: 'zip files', limit: 25, measure: () => file('standalone/zip.js') },
  { what: 'sound files', limit: 70, measure: () => file('standalone/mediabunny.js') },
  // 78 of them are the engine of chat templates: its modules, their types, and its script in two bundles.
  // 50 more are speakers and CLAP: their modules, their types, and their scripts in two bundles.
  // 20 more are Parakeet, Wav2Vec2-BERT and keywords: their modules, their types, and their scripts in two bundles.
  // 23 more are live words, and the command line's migrate and inspect --write.
  // 20 more are DevTools and device reports: their modules, their types, and the command that compares reports.
  // 5 more are conversations: a task, its types, and who speaks over HTTP.
  // 13 more are Supertonic: its modules, their types, and their scripts in two bundles.
  // 41 more are Florence-2, Donut, Gemma 3, Llava and Voxtral: their modules, types and schemas, and their scripts in two bundles.
  // 290 less: modules have no docblocks.
  // 77 more are the reader of sound files.
  // 8 more are Gemma 4: its two readers, their spectrogram, and what several senses of a model are, with their types and in two bundles.
  // 7 more are the classes that tests compare.
  // 4 more are PaliGemma, Mistral 3 and Qwen2-Audio, and how a decoder is found not to be causal.
  // 5 more are components' streams and frames, three pipelines of pictures, and nodeListener, with their types.
  { what: 'the build', limit: 2970, measure: all },
];

/** Measures the build. Sizes are in kilobytes of 1,000 bytes. */
export async function sizes() {
  return await Promise.all(
    LIMITS.map(async ({ what, limit, measure }) => ({ what, limit, size: Math.round((await measure()) / 100) / 10 })),
  );
}

/** @param {readonly string[]} names */
function file(...names) {
  return names.reduce((sum, name) => sum + compressed(readFileSync(`${dist}${name}`)), 0);
}

function all() {
  return readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(`${dist}${name}`).isFile())
    .reduce((sum, name) => sum + compressed(readFileSync(`${dist}${name}`)), 0);
}

/** @typedef {import('rolldown').OutputChunk} Chunk */

/**
 * Returns the chunks that the browser loads before the app runs.
 * @param {readonly Chunk[]} chunks the first of which is the app's
 */
function atOnce([first, ...others]) {
  const files = new Set([first.fileName]);
  for (const file of files)
    for (const one of [first, ...others]) if (one.fileName === file) one.imports.forEach((other) => files.add(other));
  return [first, ...others].filter(({ fileName }) => files.has(fileName));
}

/**
 * @param {(chunks: readonly Chunk[]) => readonly Chunk[]} choose of the page's chunks
 * @param {string} name what the page imports
 * @param {string} entry from which module
 */
async function page(choose, name = 'load', entry = 'index') {
  const chunks = await bundled(`import { ${name} } from '${dist}${entry}.js'; globalThis.${name} = ${name};`, 'es');
  return choose(chunks).reduce((sum, { code }) => sum + compressed(code), 0);
}

async function worker() {
  const [{ code }] = await bundled(`import '${dist}worker/default.worker.js';`, 'iife');
  return compressed(code);
}

/**
 * Bundles an app as bundlers do by default. Returns the chunks.
 * @param {string} app
 * @param {'es' | 'iife'} format
 */
export async function bundled(app, format) {
  const { output } = await build({
    input: 'app',
    external: ['react', 'svelte', 'svelte/reactivity', 'vue'],
    platform: 'browser',
    write: false,
    logLevel: 'silent',
    plugins: [
      {
        name: 'app',
        resolveId: (id) => (id === 'app' ? id : undefined),
        load: (id) => (id === 'app' ? app : undefined),
      },
    ],
    output: { format, minify: true, comments: { legal: true, jsdoc: false, annotation: false } },
  });
  return output.filter((chunk) => chunk.type === 'chunk');
}

/** @param {string | Uint8Array} content */
function compressed(content) {
  return gzipSync(content, { level: 9 }).length;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const measured = await sizes();
  console.table(measured.map(({ what, size, limit }) => ({ '': what, 'kB (gzip)': size, limit })));
  const above = measured.filter(({ size, limit }) => size > limit);
  for (const { what, size, limit } of above) console.error(`${what}: ${size} kB, above its limit of ${limit} kB.`);
  if (above.length > 0) process.exitCode = 1;
}
