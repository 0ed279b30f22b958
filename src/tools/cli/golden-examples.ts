import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { messageOf, TabServeError } from '../../contract/errors.js';
import type { Tensor, Tensors, TypedArrayInput } from '../../contract/tensors.js';
import { decodeImage } from '../../worker/images/decode.js';
import { provideFileDecoder } from '../../worker/images/encoded.js';
import { GOLDEN_TOLERANCES } from '../../worker/host/compare-outputs.js';
import { generate } from '../../worker/models/golden.js';
import { readSafetensors } from '../../worker/tensors/safetensors.js';
import { fromFloat16 } from '../../worker/tensors/float16.js';
import { withBlobs } from '../../server/http/base64.js';
import { decodeFile } from '../../server/node/decode-file.js';
import type { LocalModel } from './local-model.js';
import { writeSafetensors } from './write-safetensors.js';

/** If an output has more elements than this, a sample is stored. */
const MAX_OUTPUT = 4096;

/** A golden example: a file for the archive. */
export interface GoldenExample {
  /** The node whose model it is for; undefined for the archive's own. */
  readonly node?: string | undefined;
  /** Its path in the archive, or in that of the node. */
  readonly path: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whether it proves little: see `isWeak`. */
  readonly isWeak: boolean;
}

/**
 * Makes golden examples by running the model under Node.
 * @param sources each one a file or `seed:N`. A `.safetensors` file holds the model's inputs by name; with outputs too
 *   it is a golden example already, and is taken as it is. A `.txt` file is a text for the handler, a `.json` file any
 *   other input of the handler, in which `{ "b64": "…" }` is a file; any other file is an image. `seed:N` stands for generated numbers in −1..1, of which
 *   the example stores only the seed
 * @throws what the model and its handler throw; `model-not-found` if a file is missing
 */
export async function makeGoldenExamples(
  model: LocalModel,
  sources: readonly string[],
): Promise<readonly GoldenExample[]> {
  const examples: GoldenExample[] = [];
  // Examples are made one after another.
  provideFileDecoder(decodeFile);
  try {
    for (const source of sources) await addExamples(model, source, examples);
  } finally {
    provideFileDecoder(undefined);
  }
  return examples;
}

async function addExamples(model: LocalModel, source: string, examples: GoldenExample[]): Promise<void> {
  const path = `golden/${basename(source)
    .replace(/[^\w.-]/g, '-')
    .replace(/\.\w+$/, '')}.safetensors`;
  const free = examples.some((one) => one.path === path) ? path.replace('.s', `-${examples.length + 1}.s`) : path;
  for (const example of await makeExamples(model, source)) examples.push({ path: free, ...example });
}

/** Makes an example of each model that runs for a source. */
async function makeExamples(model: LocalModel, source: string): Promise<readonly Omit<GoldenExample, 'path'>[]> {
  const [, seed] = /^seed:(\d+)$/.exec(source) ?? [];
  if (seed !== undefined) {
    if (!Number.isSafeInteger(Number(seed)))
      throw new TabServeError('model-config', `--golden: ${source} is too large; the largest seed is 2^53 - 1.`);
    const own = ownModel(model, source);
    const { feeds, metadata } = seeded(own, Number(seed));
    const outputs = await own.run(feeds);
    return [{ bytes: pack({}, outputs, metadata), isWeak: isWeak(outputs) }];
  }
  const bytes = await readFile(source).catch((cause: unknown) => {
    const why = `--golden: ${source} cannot be read: ${messageOf(cause as Error)}.`;
    throw new TabServeError('model-not-found', `${why} Expected a file, or seed:N with a whole number N.`, { cause });
  });
  if (extname(source).toLowerCase() === '.safetensors') {
    const own = ownModel(model, source);
    const given = outputsOf(bytes, source);
    if (given) return [{ bytes, isWeak: isWeak(given) }];
    const feeds = feedsOf(bytes, source);
    const outputs = await own.run(feeds);
    return [{ bytes: pack(feeds, outputs, {}), isWeak: isWeak(outputs) }];
  }
  const samples = await model.record(await readInput(bytes, source));
  return samples.map(({ node, feeds, outputs }) => ({
    node,
    bytes: pack(feeds, outputs, {}),
    isWeak: isWeak(outputs),
  }));
}

/** @throws `unsupported` if the archive has several models: tensors are those of one */
function ownModel({ own }: LocalModel, source: string): NonNullable<LocalModel['own']> {
  if (own) return own;
  throw new TabServeError(
    'unsupported',
    `--golden: ${source} holds the tensors of one model, and this archive has several. Pass an input of the handler, such as a .txt file: each model gets an example of what it computes for it.`,
  );
}

/** Returns the expected outputs of a file that holds some, such as those that Python computed. */
function outputsOf(bytes: Uint8Array, source: string): Tensors | undefined {
  const outputs = Object.entries(readSafetensors(bytes, source).tensors).filter(([name]) =>
    name.startsWith('outputs/'),
  );
  return outputs.length > 0 ? Object.fromEntries(outputs) : undefined;
}

function feedsOf(bytes: Uint8Array, source: string): Tensors {
  const { tensors } = readSafetensors(bytes, source);
  return Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [name.replace(/^inputs\//, ''), tensor]));
}

/** Returns an input of the handler. */
async function readInput(bytes: Buffer, source: string): Promise<unknown> {
  switch (extname(source).toLowerCase()) {
    case '.txt':
      return bytes.toString('utf8');
    case '.json':
      return parseInput(bytes.toString('utf8'), source);
    default:
      return await decode(bytes, source);
  }
}

function parseInput(text: string, source: string): unknown {
  try {
    const json = JSON.parse(text) as unknown;
    return withBlobs(json, source);
  } catch (cause) {
    if (cause instanceof TabServeError) throw new TabServeError(cause.code, `${source}: ${cause.message}`, { cause });
    throw new TabServeError('invalid-input', `${source} is not JSON: ${messageOf(cause as Error)}`, { cause });
  }
}

/** Decodes an image with sharp, as a worker does under Node. The pixels are 8-bit RGB or gray, upright. */
async function decode(bytes: Uint8Array, source: string): Promise<TypedArrayInput> {
  try {
    const image = await decodeImage(new Blob([bytes as Uint8Array<ArrayBuffer>]));
    const { data, width, height } = await image.read();
    image.close();
    const channels = data.length / (width * height);
    return channels === 4
      ? { data: data.filter((_, index) => index % 4 < 3), dims: [height, width, 3] }
      : { data, dims: [height, width, channels] };
  } catch (cause) {
    if (!(cause instanceof TabServeError)) throw cause;
    throw new TabServeError(cause.code, `${source}: ${cause.message}`, { cause });
  }
}

/** Generates every input from a seed. */
function seeded(
  { inputs }: NonNullable<LocalModel['own']>,
  seed: number,
): { feeds: Tensors; metadata: Record<string, string> } {
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

/**
 * Returns whether a golden example with these outputs proves little: a backend that answers with the same number
 * everywhere, or with zeros, would reproduce it.
 */
function isWeak(outputs: Tensors): boolean {
  const all = Object.values(outputs).filter(({ data }) => data.length > 0);
  return all.length > 0 && all.every(isFlat);
}

function isFlat({ dtype, data }: Tensor): boolean {
  if (dtype === 'string') return false;
  let [min, max] = [Infinity, -Infinity];
  const values = dtype === 'float16' ? fromFloat16(data as Uint16Array) : (data as Iterable<number | bigint>);
  for (const one of values) {
    const value = Number(one);
    min = Math.min(min, value);
    max = Math.max(max, value);
  }
  const { absolute = 0, relative = 0 } = GOLDEN_TOLERANCES[dtype] ?? {};
  const largest = Math.max(Math.abs(min), Math.abs(max));
  const tolerance = absolute + relative * largest;
  // A single number proves little only if zero would be right.
  return data.length === 1 ? largest <= tolerance : (max - min) / 2 <= tolerance;
}
