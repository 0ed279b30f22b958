import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import type { Plugin } from 'vite';

/** The script's name, beside the page. */
export const PREDICTIONS_WORKER = 'predictions.sw.js';

/**
 * Makes the part of the gallery's service worker that answers predictions: one classic script, which Workbox's script
 * imports. The dev server has it alone.
 */
export function predictionsWorker(): Plugin {
  return {
    name: 'tabserve:predictions-worker',
    configureServer({ middlewares }) {
      middlewares.use((request, response, next) => {
        if (!request.url?.split('?')[0]!.endsWith(`/${PREDICTIONS_WORKER}`)) return next();
        response.setHeader('Content-Type', 'text/javascript');
        void bundled()
          .catch((error: unknown) => `throw new Error(${JSON.stringify(String(error))});`)
          .then((code) => response.end(code));
      });
    },
    async generateBundle() {
      this.emitFile({ type: 'asset', fileName: PREDICTIONS_WORKER, source: await bundled() });
    },
  };
}

async function bundled(): Promise<string> {
  const bundle = await rolldown({
    input: fileURLToPath(new URL('../../demo/fetch/predictions.sw.ts', import.meta.url)),
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    platform: 'browser',
  });
  const { output } = await bundle.generate({ format: 'iife', minify: true });
  await bundle.close();
  return output[0].code;
}
