/** Packs one model by both archivers: each archive is served by TorchServe and by TabServe. */
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';

const MODEL = resolve('test/goldens/interop/archives/classifier');
const HANDLER = resolve('test/docs/from-torchserve/onnx_classifier.py');
const TABSERVE = resolve('dist/tools/cli/main.js');

/** Packs the archives into TorchServe's model store, and returns their paths. They need `npm run build`. */
export function packArchives(bin, store) {
  const flags = (name) =>
    Object.entries({
      '--model-name': name,
      '--version': '1.0',
      '--serialized-file': join(MODEL, 'classifier.onnx'),
      '--handler': 'image_classifier',
      '--extra-files': `${join(MODEL, 'index_to_name.json')},${HANDLER}`,
      '--export-path': store,
    }).flat();
  run(process.execPath, [TABSERVE, 'archive', ...flags('from-tabserve'), '--force']);
  run(join(bin, 'torch-model-archiver'), [...flags('from-torchserve'), '--force']);
  return { tabserve: join(store, 'from-tabserve.mar'), torchserve: join(store, 'from-torchserve.mar') };
}

function run(command, args) {
  const { status } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed.`);
}
