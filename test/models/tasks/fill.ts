/**
 * Writes the models of this folder, which are stored compressed and without their random weights (`make/seeded.py`), and
 * their tokenizers. Playwright runs it before the tests.
 */
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { generate } from '../../../src/worker/models/golden.ts';

/** Where weights are in the file, in bytes, and the generator's numbers that they are. */
interface Seeded {
  readonly at: number;
  readonly seed: number;
  readonly dims: readonly number[];
  readonly scale: number;
  /** Whether the file has the matrix with its axes swapped. */
  readonly transposed?: boolean;
}

/** Returns a model with its weights. @param stored `model.onnx.gz` */
export function fill(stored: Uint8Array, seeds: readonly Seeded[]): Uint8Array {
  const bytes = gunzipSync(stored);
  for (const { at, seed, dims, scale, transposed = false } of seeds) {
    const values = generate(seed, dims);
    const columns = transposed ? dims.slice(1).reduce((product, dim) => product * dim, 1) : values.length;
    const rows = values.length / columns;
    for (let index = 0; index < values.length; index++) {
      const place = transposed ? (index % columns) * rows + Math.floor(index / columns) : index;
      bytes.writeFloatLE(Math.fround(values[index]! * scale), at + 4 * place);
    }
  }
  return bytes;
}

/** Writes each file that is stored as `.gz` and is not there, or is another one. */
export default function fillAll(): void {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.gz')) continue;
    const file = folder + path.slice(0, -'.gz'.length);
    const seeds = file.replace(/\.onnx$/, '.seeds.json');
    const listed = seeds !== file && existsSync(seeds) ? (JSON.parse(readFileSync(seeds, 'utf8')) as Seeded[]) : [];
    const model = fill(readFileSync(folder + path), listed);
    if (existsSync(file) && readFileSync(file).equals(model)) continue;
    // Another run may read it.
    writeFileSync(`${file}.${process.pid}`, model);
    renameSync(`${file}.${process.pid}`, file);
  }
}
