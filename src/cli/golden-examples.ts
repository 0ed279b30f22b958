import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { messageOf, TabServeError } from '../contract/errors.js';
import type { Tensor, Tensors, TypedArrayInput } from '../contract/tensors.js';
import type { Sample } from '../contract/wire.js';
import { decodeImage } from '../images/decode.js';
import { provideFileDecoder } from '../images/file-decoder.js';
import { generate } from '../models/golden.js';
import { readSafetensors } from '../models/safetensors.js';
import { decodeFile } from '../node/decode-file.js';
import type { LocalModel } from './local-model.js';
import { isWeak } from './weak-examples.js';
import { writeSafetensors } from './write-safetensors.js';

/** Of an output with more elements than this, a sample is stored. */
const MAX_OUTPUT = 4096;

/** A golden example: a file for the archive. */
export interface GoldenExample {
  /** Its path in the archive. */
  readonly path: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whether it proves little: see `isWeak`. */
  readonly isWeak: boolean;
}

/**
 * Makes golden examples by running the model under Node.
 * @param sources each one a file or `seed:N`. A `.safetensors` file holds the model's inputs by name; with outputs too it is a golden example already, and is
 *   taken as it is. A `.txt` file is a text for the handler, a `.json` file any other input of the handler; any other file is an image. `seed:N` stands for
 *   generated numbers in −1..1, of which the example stores only the seed
 * @throws what the model and its handler throw; `model-not-found` if a file is missing
 */
export async function makeGoldenExamples(
  model: LocalModel,
  sources: readonly string[],
): Promise<readonly GoldenExample[]> {
  const examples: GoldenExample[] = [];
  for (const source of sources) {
    const path = `golden/${basename(source)
      .replace(/[^\w.-]/g, '-')
      .replace(/\.\w+$/, '')}.safetensors`;
    const free = examples.some((one) => one.path === path) ? path.replace('.s', `-${examples.length + 1}.s`) : path;
    examples.push({ path: free, ...(await makeExample(model, source)) });
  }
  return examples;
}

async function makeExample(model: LocalModel, source: string): Promise<Omit<GoldenExample, 'path'>> {
  const [, seed] = /^seed:(\d+)$/.exec(source) ?? [];
  if (seed !== undefined) {
    if (!Number.isSafeInteger(Number(seed)))
      throw new TabServeError('model-config', `--golden: ${source} is too large; the largest seed is 2^53 - 1.`);
    const { feeds, metadata } = seeded(model, Number(seed));
    const outputs = await model.run(feeds);
    return { bytes: pack({}, outputs, metadata), isWeak: isWeak(outputs) };
  }
  const bytes = await readFile(source).catch((cause: unknown) => {
    const why = `--golden: ${source} cannot be read: ${messageOf(cause as Error)}.`;
    throw new TabServeError('model-not-found', `${why} Expected a file, or seed:N with a whole number N.`, { cause });
  });
  const given = outputsOf(bytes, source);
  if (given) return { bytes, isWeak: isWeak(given) };
  const { feeds, outputs } = await runOn(model, bytes, source);
  return { bytes: pack(feeds, outputs, {}), isWeak: isWeak(outputs) };
}

/** Returns the expected outputs of a file that holds some, such as those that Python computed. */
function outputsOf(bytes: Uint8Array, source: string): Tensors | undefined {
  if (extname(source).toLowerCase() !== '.safetensors') return undefined;
  const outputs = Object.entries(readSafetensors(bytes, source).tensors).filter(([name]) =>
    name.startsWith('outputs/'),
  );
  return outputs.length > 0 ? Object.fromEntries(outputs) : undefined;
}

async function runOn(model: LocalModel, bytes: Buffer, source: string): Promise<Sample> {
  switch (extname(source).toLowerCase()) {
    case '.safetensors': {
      const { tensors } = readSafetensors(bytes, source);
      const feeds = Object.fromEntries(
        Object.entries(tensors).map(([name, tensor]) => [name.replace(/^inputs\//, ''), tensor]),
      );
      return { feeds, outputs: await model.run(feeds) };
    }
    case '.txt':
      return await model.record(bytes.toString('utf8'));
    case '.json':
      return await model.record(parseInput(bytes.toString('utf8'), source));
    default:
      return await model.record(await decode(bytes, source));
  }
}

function parseInput(text: string, source: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new TabServeError('invalid-input', `${source} is not JSON: ${messageOf(cause as Error)}`, { cause });
  }
}

/** Decodes an image with sharp, as a worker does under Node. The pixels are 8-bit RGB, upright. */
async function decode(bytes: Uint8Array, source: string): Promise<TypedArrayInput> {
  provideFileDecoder(decodeFile);
  try {
    const image = await decodeImage(new Blob([bytes as Uint8Array<ArrayBuffer>]));
    const { data, width, height } = await image.read();
    image.close();
    return { data: data.filter((_, index) => index % 4 < 3), dims: [height, width, 3] };
  } catch (cause) {
    if (!(cause instanceof TabServeError)) throw cause;
    throw new TabServeError(cause.code, `${source}: ${cause.message}`, { cause });
  } finally {
    // Examples are made one after another.
    provideFileDecoder(undefined);
  }
}

/** Generates every input from a seed. */
function seeded({ inputs }: LocalModel, seed: number): { feeds: Tensors; metadata: Record<string, string> } {
  const feeds: Record<string, Tensor> = {};
  const metadata: Record<string, string> = {};
  inputs.forEach(({ name, dtype, dims: declared }, index) => {
    const dims = declared.map((size, axis) => (typeof size === 'number' ? size : axis === 0 ? 1 : undefined));
    if (dtype !== 'float32' || !dims.every((size) => size !== undefined))
      throw new TabServeError(
        'unsupported',
        `seed:${seed} makes float32 inputs of known size; "${name}" is ${dtype} [${declared.map((size) => size ?? '?').join(', ')}]. Pass a file with an input instead.`,
      );
    feeds[name] = { dtype, dims, data: generate(seed + index, dims) };
    metadata[`inputs/${name}`] = JSON.stringify({ seed: seed + index, dims });
  });
  return { feeds, metadata };
}

function pack(feeds: Tensors, outputs: Tensors, metadata: Readonly<Record<string, string>>): Uint8Array<ArrayBuffer> {
  const tensors: Record<string, Tensor> = {};
  const notes: Record<string, string> = { ...metadata };
  for (const [name, tensor] of Object.entries(feeds)) tensors[`inputs/${name}`] = tensor;
  for (const [name, tensor] of Object.entries(outputs)) {
    const stride = Math.ceil(tensor.data.length / MAX_OUTPUT);
    const key = `outputs/${name}`;
    tensors[key] = stride > 1 ? everyNth(tensor, stride) : tensor;
    if (stride > 1) notes[key] = JSON.stringify({ stride, dims: tensor.dims });
  }
  return writeSafetensors(tensors, notes);
}

/** Takes the elements 0, stride, 2 · stride, … */
function everyNth({ dtype, data }: Tensor, stride: number): Tensor {
  const sample = (data as Float32Array).filter((_, index) => index % stride === 0);
  return { dtype, dims: [sample.length], data: sample };
}
