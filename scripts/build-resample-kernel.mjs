// Compiles src/transforms/resample.wat to src/transforms/resample.wasm.ts. Run it after every change of the former;
// a unit test calls `build` and compares.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import wabt from 'wabt';

const source = new URL('../src/transforms/resample.wat', import.meta.url);
const target = new URL('../src/transforms/resample.wasm.ts', import.meta.url);

/** The text of `resample.wasm.ts`. */
export async function build() {
  const { parseWat } = await wabt();
  const module = parseWat('resample.wat', await readFile(source, 'utf8'), { simd: true });
  module.validate();
  const base64 = Buffer.from(module.toBinary({}).buffer).toString('base64');
  module.destroy();
  return `// Generated from resample.wat by scripts/build-resample-kernel.mjs. Do not edit.\n\n/** The WebAssembly module, in base64. */\nexport const RESAMPLE_WASM =\n  '${base64}';\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeFile(target, await build());
