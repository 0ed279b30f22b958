import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'rolldown';
import { replacePlugin } from 'rolldown/plugins';
import { libraryFiles, OUTPUT } from './libraries.mjs';
import { linkParts } from './parts.mjs';

/** As `src/page/client/connect.ts` names the built-in worker. */
const WORKER_OF_PAGE = '../../worker/default.worker.js';

/**
 * Bundles the page and the workers, with every dependency inside but for the libraries that are loaded when used, which
 * have files of their own, and the engines' `.wasm` and `.mjs` files, which are too large.
 *
 * | file                            | is                                                                            |
 * | ------------------------------- | ----------------------------------------------------------------------------- |
 * | `standalone/tabserve.js`        | `tabserve`, for a page without a bundler; `load` starts the `worker.js` beside it |
 * | `standalone/worker.js`          | the built-in worker. It looks for the engines' files beside it, or in the folder that the option `assets` names |
 * | `standalone/tabserve-worker.js` | `tabserve/worker`, for a worker of the app's own                              |
 * | `built-in/worker.js`            | the built-in worker for an app's bundler, which finds the engines' files in their npm packages |
 *
 * @param {string} dist where the compiled modules are
 * @returns {Promise<readonly string[]>} the files that went into them
 */
export async function buildStandalone(dist) {
  const worker = `${dist}/worker/default.worker.js`;
  const { workerScripts } = await import(pathToFileURL(`${dist}/tools/vite/worker-scripts.js`).href);
  const chunks = workerScripts(`${dist}/`);
  const beside = [await siblings(dist)];
  const all = [
    ...(await bundle(`${dist}/built-in`, { worker }, '../standalone/', [linkParts()], chunks, '[name].js')),
    ...(await bundle(`${dist}/standalone`, { tabserve: `${dist}/index.js` }, './', beside)),
    ...(await bundle(`${dist}/standalone`, { worker, 'tabserve-worker': `${dist}/worker.js` }, './', beside, chunks)),
  ];
  return all.flatMap(({ moduleIds }) => moduleIds);
}

/**
 * @param {string} dir
 * @param {Record<string, string>} input
 * @param {string} folder where the libraries' files are, relative to `dir`
 * @param {readonly import('rolldown').Plugin[]} plugins
 * @param {import('rolldown').OutputOptions['codeSplitting']} [codeSplitting]
 * @param {string} [chunkFileNames]
 */
async function bundle(dir, input, folder, plugins, codeSplitting, chunkFileNames = '[name]-[hash].js') {
  const { output } = await build({
    input,
    platform: 'browser',
    // Chunks may use what an entry does not export.
    preserveEntrySignatures: 'allow-extension',
    plugins: [libraryFiles(folder), ...plugins],
    logLevel: 'warn',
    // The first script has what some modules import statically, and others when they need it.
    checks: { ineffectiveDynamicImport: false },
    output: {
      ...OUTPUT,
      ...(codeSplitting && { codeSplitting }),
      dir,
      format: 'es',
      entryFileNames: '[name].js',
      chunkFileNames,
    },
  });
  const chunks = output.filter((file) => file.type === 'chunk');
  for (const { fileName, code } of chunks) {
    if (code.includes('default.worker.js')) throw new Error(`${fileName} names a worker that is not beside it.`);
    writeFileSync(`${dir}/${fileName}`, quoted(code));
  }
  return chunks;
}

/**
 * Puts quotes around what bundlers look for, as the sources have it: the minifier writes backticks, which not every
 * bundler reads. No position changes.
 * @param {string} code
 */
function quoted(code) {
  return code.replace(/\b(import|new URL)\(`([^`$"\\]*)`/g, '$1("$2"');
}

/**
 * Files that are not bundled are looked up beside the bundle. `String` hides them from a bundler that bundles the
 * bundle: Parcel fails if they are not there.
 * @param {string} dist
 */
async function siblings(dist) {
  const { ENGINE_FILES } = await import(pathToFileURL(`${dist}/tools/cli/copy.js`).href);
  const files = [[WORKER_OF_PAGE, 'worker.js'], ...ENGINE_FILES.map((file) => [file, basename(file)])];
  return replacePlugin(
    Object.fromEntries(
      files.map(([file, name]) => [
        `new URL('${file}', import.meta.url)`,
        `new URL('./${name}', String(import.meta.url))`,
      ]),
    ),
    { delimiters: ['', ''] },
  );
}
