// Compiles ycc.wat to ycc.wasm.ts. Run it after every change of the former; a unit test calls `build` and compares.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import wabt from 'wabt';

const source = new URL('ycc.wat', import.meta.url);
const target = new URL('ycc.wasm.ts', import.meta.url);

/** The text of `ycc.wasm.ts`. */
export async function build() {
  const { parseWat } = await wabt();
  const module = parseWat('ycc.wat', await readFile(source, 'utf8'), { simd: true });
  module.validate();
  const base64 = Buffer.from(module.toBinary({}).buffer).toString('base64');
  module.destroy();
  return `// Generated from ycc.wat by build-kernel.mjs. Do not edit.\n\n/** The WebAssembly module, in base64. */\nexport const YCC_WASM =\n  '${base64}';\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeFile(target, await build());
