/** TorchServe with the gallery's digits, where `npm run interop` has installed it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installed } from '../../scripts/interop/environments.mjs';
import { startTorchServe } from '../../scripts/interop/torchserve.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

/**
 * Starts TorchServe with one worker.
 * @param model the folder of the gallery's digits
 * @param folder for its model store and its logs
 * @returns its URL, and a function that ends it; undefined where it is not installed
 */
export async function startDigits(model, folder) {
  const bin = installed('torchserve');
  if (!bin) return undefined;
  mkdirSync(folder, { recursive: true });
  const archive = {
    'model-name': 'digits',
    version: '1.0',
    'serialized-file': join(model, 'digits.onnx'),
    'extra-files': join(model, 'index_to_name.json'),
    handler: at('digits_handler.py'),
    'export-path': folder,
  };
  const flags = Object.entries(archive).flatMap(([name, value]) => [`--${name}`, value]);
  execFileSync(join(bin, 'torch-model-archiver'), [...flags, '--force']);
  const { inference, stop } = await startTorchServe(folder, { folder, models: { digits: 'digits' } });
  return { url: inference, end: stop };
}
