import type { Plugin, PreviewServer, ViteDevServer } from 'vite';
import { BROWSER_CANDIDATES, type CandidateName } from '../../contract/backends.js';
import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import { workerScripts } from './worker-scripts.js';

/**
 * The modules of other packages that TabServe's own modules import in a browser. A test compares them with the build.
 */
const DEPENDENCIES = [
  '@noble/hashes/sha2.js',
  '@zip.js/zip.js/lib/zip-core-custom.js',
  'comlink',
  'js-yaml',
  'modern-tar',
];

/** What the Vite plugin takes. */
export interface TabServePluginOptions {
  /**
   * The engines that the built-in worker may use, e.g. `['onnx/wasm']`. The others, and their files, are not built.
   * @default all
   */
  readonly engines?: readonly CandidateName[];
  /**
   * Absolute path or URL of a folder with the engines' `.wasm` files, as `npx tabserve copy` writes it. The build then
   * contains none of them.
   * @default they are placed among the app's own assets
   */
  readonly assets?: string;
}

/** A Vite plugin. This type refers to none of Vite's, so that the declarations compile without Vite. */
export interface VitePlugin {
  readonly name: string;
}

/**
 * Sets what TabServe needs of Vite: workers as modules, so that a visitor loads one engine; dependencies that are
 * bundled before the first request, so that the dev server does not reload the page; and the headers of cross-origin
 * isolation in `vite dev` and `vite preview`, which threads need. What the app's own config says takes precedence.
 *
 * ```ts
 * // vite.config.ts
 * export default defineConfig({ plugins: [tabserve({ engines: ['onnx/webgpu', 'onnx/wasm'] })] });
 * ```
 * @throws `model-config` if an engine or `assets` is wrong
 */
export function tabserve({ engines, assets }: TabServePluginOptions = {}): VitePlugin {
  if (engines !== undefined) checkEngines(engines);
  const modules = replaceModules(engines, assets === undefined ? undefined : checkAssets(assets));
  const plugin: Plugin = {
    ...modules,
    config: ({ worker }) => ({
      worker: {
        format: worker?.format ?? 'es',
        plugins: () => [modules],
        // Vite 7 and earlier, which have Rollup, do not read it.
        ...(worker?.format !== 'iife' && {
          rolldownOptions: { output: { codeSplitting: workerScripts(pathOf('../../')) } },
        }),
      },
      // Its own modules are served as they are: bundled, they would not find their workers and `.wasm` files.
      optimizeDeps: { exclude: ['tabserve'], include: DEPENDENCIES.map((name) => `tabserve > ${name}`) },
    }),
    configureServer: isolate,
    configurePreviewServer: isolate,
  };
  return plugin;
}

/** Leaves the other engines out of the built-in worker, and sets the URL of the engines' files. */
function replaceModules(engines: readonly CandidateName[] | undefined, assets: string | undefined): Plugin {
  const replaced = new Map<string, string>();
  if (engines) replaced.set(pathOf('../../worker/engines/index.js'), registryOf([...new Set(engines)]));
  if (engines || assets !== undefined) replaced.set(pathOf('../../worker/default.worker.js'), BUILT_IN_WORKER);
  return {
    name: 'tabserve',
    enforce: 'pre',
    transform: {
      filter: { id: /\/worker\// },
      handler(code, id) {
        const own = replaced.get(id.split('?', 1)[0]!);
        if (own !== undefined) return { code: own, map: null };
        return assets === undefined ? undefined : { code: placeFiles(code, assets), map: null };
      },
    },
  };
}

/** The source of the built-in worker, of which the build can leave engines out. */
const BUILT_IN_WORKER = `
import { allEngines } from './engines/index.js';
import { loadHandler } from './handlers/registry.js';
import { serve } from './host/serve.js';

serve({ engines: allEngines, handlerClass: loadHandler });
// Every built-in handler needs it. It is loaded while the page says which model is wanted; whoever needs it reports a
// failure. An import() at the top level would make V8 parse the whole script once more, to find the line.
queueMicrotask(() => void import('./handlers/base-handler.js').catch(() => {}));
`;

/** Returns the source of `engines/index.js` with these engines alone. */
function registryOf(engines: readonly CandidateName[]): string {
  const loaders = engines.map((candidate) => ({
    candidate,
    loader: candidate.replace(/\/(\w)/, (_, letter: string) => letter.toUpperCase()),
  }));
  return [
    ...loaders.map(({ candidate, loader }) => `import { ${loader} } from './${candidate.replace('/', '-')}.js';`),
    `export const allEngines = { ${loaders.map(({ candidate, loader }) => `'${candidate}': ${loader}`).join(', ')} };`,
  ].join('\n');
}

/** Replaces the URLs of the engines' `.wasm` files, and of the scripts of their threads. */
function placeFiles(code: string, assets: string): string {
  return code.replace(
    /new URL\('[@\w/-]+\/([\w.-]+\.(?:wasm|mjs))', import\.meta\.url\)/g,
    (_, file: string) => `new URL(${JSON.stringify(assets + file)}, self.location.origin)`,
  );
}

/**
 * Sends the headers of cross-origin isolation with every response: the scripts of workers need them as the page does.
 * Those of the config `server.headers` replace them.
 */
function isolate({ middlewares }: Pick<ViteDevServer | PreviewServer, 'middlewares'>): void {
  middlewares.use((_request, response, next) => {
    response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
    response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
    next();
  });
}

/** Returns the absolute path of one of TabServe's own files, in Vite's form. */
function pathOf(file: string): string {
  // On Windows, the URL's path has a slash before the drive's letter.
  return decodeURIComponent(new URL(file, import.meta.url).pathname).replace(/^\/(?=[A-Za-z]:)/, '');
}

function checkEngines(engines: unknown): void {
  const known: readonly unknown[] = BROWSER_CANDIDATES;
  if (Array.isArray(engines) && engines.length > 0 && engines.every((engine) => known.includes(engine))) return;
  throw new TabServeError(
    'model-config',
    `tabserve({ engines }): expected a list of ${BROWSER_CANDIDATES.join(', ')}; got ${describeValue(engines)}.`,
  );
}

/** Returns the folder with a slash at its end. */
function checkAssets(assets: unknown): string {
  if (typeof assets === 'string' && /^(\/|https?:\/\/)/.test(assets)) return assets.replace(/\/?$/, '/');
  throw new TabServeError(
    'model-config',
    `tabserve({ assets }): expected an absolute path, such as '/tabserve/', or a URL; got ${describeValue(assets)}.`,
  );
}
