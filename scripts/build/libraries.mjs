import { writeFileSync } from 'node:fs';
import { build } from 'rolldown';

/** Code that TensorFlow.js's other parts share. */
const CORE = '@tensorflow/tfjs-core';

/**
 * The libraries that are loaded when they are used. `src/worker/libraries/NAME.ts` imports one; the build makes the
 * file `dist/standalone/NAME.js` of it.
 *
 * - `entry`: what the file exports.
 * - `needed`: one of its exports, without which it is not the file that is wanted.
 * - `needsCore`: it shares TensorFlow.js's core with other files. It exports a function `link`, which takes the core.
 * - `inModules`: the compiled modules load the file, too; else only the built-in worker does, and the modules import
 *   the npm package.
 *
 * @type {Readonly<Record<string, { readonly entry: string, readonly needed?: string, readonly needsCore?: boolean, readonly inModules: boolean
 *   }>>}
 */
export const LIBRARIES = {
  'onnx-wasm': { entry: `export * from 'onnxruntime-web/wasm';`, needed: 'InferenceSession', inModules: true },
  'onnx-webgl': { entry: `export * from 'onnxruntime-web/webgl';`, needed: 'InferenceSession', inModules: true },
  'onnx-webgpu': { entry: `export * from 'onnxruntime-web/webgpu';`, needed: 'InferenceSession', inModules: true },
  'onnx-webgpu-jspi': { entry: `export * from 'onnxruntime-web/jspi';`, needed: 'InferenceSession', inModules: true },
  'tfjs-core': {
    entry: `export * as core from '${CORE}'; export { loadGraphModel } from '@tensorflow/tfjs-converter';`,
    needed: 'core',
    inModules: true,
  },
  'tfjs-cpu': { entry: `import '@tensorflow/tfjs-backend-cpu';`, needsCore: true, inModules: true },
  'tfjs-wasm': {
    entry: `export { setWasmPaths } from '@tensorflow/tfjs-backend-wasm';`,
    needsCore: true,
    inModules: true,
  },
  'tfjs-webgl': {
    entry: `export { setWebGLContext } from '@tensorflow/tfjs-backend-webgl';`,
    needsCore: true,
    inModules: true,
  },
  'tfjs-webgpu': { entry: `import '@tensorflow/tfjs-backend-webgpu';`, needsCore: true, inModules: true },
  'tfjs-layers': {
    entry: `export { loadLayersModel } from '@tensorflow/tfjs-layers';`,
    needsCore: true,
    inModules: true,
  },
  mediabunny: {
    entry: `export { ADTS, AudioSampleSink, BlobSource, FLAC, Input, MATROSKA, MP3, MP4, OGG, QTFF, WEBM } from 'mediabunny';`,
    needed: 'AudioSampleSink',
    inModules: true,
  },
  yaml: {
    entry: `export { CORE_SCHEMA, loadAll, mapTag, mergeTag } from 'js-yaml';`,
    needed: 'loadAll',
    inModules: false,
  },
  zip: {
    entry: `export { BlobReader, configure, ZipReader } from '@zip.js/zip.js/lib/zip-core-custom.js';`,
    needed: 'ZipReader',
    inModules: false,
  },
};

/** How our bundles are written: without comments but those that bundlers read. `NOTICE.txt` has the licenses. */
export const OUTPUT = /** @type {const} */ ({
  minify: true,
  comments: { legal: false, jsdoc: false, annotation: true },
});

/**
 * Makes the file of each library, and the modules that load them.
 * @param {string} dist where the compiled modules are
 * @returns {Promise<readonly string[]>} the files of npm packages that went into them
 */
export async function buildLibraries(dist) {
  const sources = [];
  for (const [name, { entry, needsCore = false, inModules }] of Object.entries(LIBRARIES)) {
    const { output } = await build({
      input: `virtual:${name}`,
      platform: 'browser',
      plugins: [virtual(`virtual:${name}`, entry)],
      ...(needsCore && { external: [CORE] }),
      logLevel: 'warn',
      write: false,
      output: {
        ...OUTPUT,
        ...(needsCore
          ? { format: 'iife', name: 'library', globals: { [CORE]: 'core' } }
          : { format: 'es', codeSplitting: false }),
      },
    });
    const [{ code, moduleIds }] = output;
    sources.push(...moduleIds);
    writeFileSync(
      `${dist}/standalone/${name}.js`,
      `/* Licenses: NOTICE.txt */\n${needsCore ? linked(code.trim()) : code}`,
    );
    if (inModules) replaceModule(`${dist}/worker/libraries/${name}.js`, loader(name, '../../standalone/'));
  }
  return sources;
}

/**
 * Puts the validator of JSON Schema into its module, without what reads `location`.
 * @param {string} dist where the compiled modules are
 * @returns {Promise<readonly string[]>} the files of npm packages that went into it
 */
export async function buildValidator(dist) {
  const { output } = await build({
    input: 'virtual:validator',
    platform: 'browser',
    plugins: [virtual('virtual:validator', `export { Validator } from '@cfworker/json-schema';`)],
    transform: { define: { 'self.location': 'undefined' } },
    logLevel: 'warn',
    write: false,
    output: OUTPUT,
  });
  const [{ code, moduleIds }] = output;
  replaceModule(`${dist}/shared/json-schema.js`, code);
  return moduleIds;
}

/**
 * Makes a function of a script that takes TensorFlow.js's core from the variable `core`, and sets `library` if it
 * exports anything.
 * @param {string} script
 */
function linked(script) {
  return `export function link(core){${script}${script.startsWith('var library=') ? 'return library' : ''}}\n`;
}

/**
 * Replaces what the compiler made of a module.
 * @param {string} file
 * @param {string} code
 */
export function replaceModule(file, code) {
  writeFileSync(file, code);
}

/**
 * Makes the modules of `libraries` load the files.
 * @param {string} folder where the files are, relative to the bundle
 */
export function libraryFiles(folder) {
  return {
    name: 'tabserve:library-files',
    load: {
      filter: { id: /\/libraries\/[\w-]+\.js$/ },
      /** @param {string} id */
      handler(id) {
        const name = id.replace(/^.*\/|\.js$/g, '');
        return Object.hasOwn(LIBRARIES, name) ? loader(name, folder) : undefined;
      },
    },
  };
}

/**
 * Returns the code of a module that loads a library's file.
 * @param {string} name
 * @param {string} folder
 */
function loader(name, folder) {
  // Files beside a bundle are hidden from bundlers: standalone.mjs.
  const base = folder === './' ? 'String(import.meta.url)' : 'import.meta.url';
  const { needsCore = false, needed } = LIBRARIES[name];
  const file = `importFile('${name}.js', new URL('${folder}${name}.js', ${base}), '${needsCore ? 'link' : needed}', assets)`;
  return `import { importFile } from './load.js';\n${
    needsCore
      ? `export const load = async (assets, core) => {\n  const [library, own] = await Promise.all([${file}, core]);\n  return library.link(own);\n};`
      : `export const load = (assets) => ${file};`
  }\n`;
}

/**
 * @param {string} id
 * @param {string} code
 */
function virtual(id, code) {
  return {
    name: 'tabserve:virtual',
    /** @param {string} source */
    resolveId: (source) => (source === id ? { id, moduleSideEffects: true } : undefined),
    /** @param {string} asked */
    load: (asked) => (asked === id ? { code, moduleSideEffects: true } : undefined),
  };
}
