import { build } from 'vite';

/**
 * The files for pages without a bundler, with every dependency inside but for the engines' own `.wasm` and `.mjs` files, which are too large:
 * those are looked up in the folder that the option `assets` names, or else beside these files.
 *
 * | file                 | is                                                                  |
 * | -------------------- | ------------------------------------------------------------------- |
 * | `tabserve.js`        | `tabserve`, for the page; `load` starts the `worker.js` beside it   |
 * | `worker.js`          | the built-in worker, with chunks that are loaded when used      |
 * | `tabserve-worker.js` | `tabserve/worker`, for a worker of the app's own                    |
 *
 * @param {string} dist where the compiled modules are
 */
export async function buildStandalone(dist) {
  await bundle(dist, { tabserve: `${dist}/index.js` });
  await bundle(dist, { worker: `${dist}/worker/default.worker.js`, 'tabserve-worker': `${dist}/worker.js` });
}

/**
 * @param {string} dist
 * @param {Record<string, string>} entry
 */
async function bundle(dist, entry) {
  await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    plugins: [siblings()],
    build: {
      outDir: `${dist}/standalone`,
      emptyOutDir: false,
      target: 'es2022',
      lib: { entry, formats: ['es'] },
      rolldownOptions: { output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js', minify: true } },
    },
  });
}

/** Files that are not bundled are looked up beside the bundle. */
function siblings() {
  return {
    name: 'tabserve:siblings',
    enforce: /** @type {const} */ ('pre'),
    /** @param {string} code */
    transform(code) {
      return code
        .replace(
          /new URL\((['"])\.\.\/worker\/default\.worker\.js\1, import\.meta\.url\)/g,
          "new URL(/* @vite-ignore */ './worker.js', import.meta.url)",
        )
        .replace(
          /new URL\((['"])(?:onnxruntime-web\/|@tensorflow\/tfjs-backend-wasm\/dist\/)?((?:ort|tfjs)-[\w.-]+\.(?:wasm|mjs))\1,\s*import\.meta\.url\)/g,
          "new URL(/* @vite-ignore */ './$2', import.meta.url)",
        );
    },
  };
}
