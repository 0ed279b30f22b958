// Compiles each kernel's .wat to a .wasm.ts beside it. Run it after every change of the former; a unit test compares.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import wabt from 'wabt';

/** Where each kernel lies under `src`, without its ending, and the name of its constant. */
const KERNELS = {
  'worker/transforms/resample': 'RESAMPLE_WASM',
  'worker/transforms/crop': 'CROP_WASM',
  'worker/images/planar/ycc': 'YCC_WASM',
  'worker/images/planar/video': 'VIDEO_WASM',
  'worker/outputs/interpolate': 'INTERPOLATE_WASM',
};

/** Returns the text of one kernel's `.wasm.ts`. */
export async function buildKernel(path) {
  const name = path.split('/').pop();
  const { parseWat } = await wabt();
  const module = parseWat(`${name}.wat`, await readFile(new URL(`../src/${path}.wat`, import.meta.url), 'utf8'), {
    simd: true,
  });
  module.validate();
  const base64 = Buffer.from(module.toBinary({}).buffer).toString('base64');
  module.destroy();
  return `// Generated from ${name}.wat by scripts/build-kernels.mjs. Do not edit.\n\n/** The WebAssembly module, in base64. */\nexport const ${KERNELS[path]} =\n  '${base64}';\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const path of Object.keys(KERNELS))
    await writeFile(new URL(`../src/${path}.wasm.ts`, import.meta.url), await buildKernel(path));
}
