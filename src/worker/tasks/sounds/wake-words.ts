/**
 * openWakeWord's models, as its `AudioFeatures` runs them: a spectrogram, an embedding of its last 76 frames, and a
 * head that reads the last embeddings, in steps of 80 ms.
 */
import { TabServeError } from '../../../contract/errors.js';
import type { OutputInfo, RunOptions, Session, TensorInfo, Tensors } from '../../../contract/tensors.js';
import { numbersOf } from '../../outputs/rows.js';
import { toFloats } from '../../tensors/tensors.js';

/** Samples per second, of a step, and of what the spectrogram hears again of the step before. */
export const RATE = 16_000;
export const STEP = 1280;
const AGAIN = 480;
/** Samples for each frame of the spectrogram, and what its first frame needs more. */
const HOP = 160;
const EDGE = 480;
/** The numbers of the published models, where the graph does not say them. */
const [FRAMES, MELS, EMBEDDINGS, WIDTH] = [76, 32, 16, 96];
/** A sample of full scale in 16 bits, which the models hear. */
const FULL_SCALE = 2 ** 15;

/** What the models have heard of a recording so far. */
export interface Heard {
  /** The last samples. */
  readonly samples: Float32Array;
  /** The last frames of the spectrogram, `[frames, mels]`. */
  readonly spectrogram: Float32Array;
  /** The last embeddings, `[embeddings, width]`. */
  readonly embeddings: Float32Array;
}

/** The three models. */
export class WakeWords {
  readonly #spectrogram: Session;
  readonly #embedding: Session;
  readonly #head: Session;
  readonly #output: OutputInfo;
  readonly #size: {
    readonly frames: number;
    readonly mels: number;
    readonly embeddings: number;
    readonly width: number;
  };
  #start: Heard | undefined;

  /** @param output of the head @throws `model-config` if they are not models of openWakeWord's shapes */
  constructor(spectrogram: Session, embedding: Session, head: Session, output: OutputInfo) {
    check('melspectrogram', spectrogram, 2);
    const [, frames, mels] = check('embedding', embedding, 4);
    const [, embeddings, width] = check('the model', head, 3);
    const size = (dim: unknown, usual: number): number => (typeof dim === 'number' ? dim : usual);
    [this.#spectrogram, this.#embedding, this.#head, this.#output] = [spectrogram, embedding, head, output];
    this.#size = {
      frames: size(frames, FRAMES),
      mels: size(mels, MELS),
      embeddings: size(embeddings, EMBEDDINGS),
      width: size(width, WIDTH),
    };
  }

  /** Returns the inputs of a run of a model for trying a backend. */
  example(node: string | undefined): Tensors {
    const { frames, mels, embeddings, width } = this.#size;
    if (node === 'melspectrogram') return feed(this.#spectrogram, [1, STEP + AGAIN]);
    if (node === 'embedding') return feed(this.#embedding, [1, frames, mels, 1]);
    return feed(this.#head, [1, embeddings, width]);
  }

  /** Returns what the models have heard before the first sample: four seconds of silence, in ones for a spectrogram. */
  async start(options: RunOptions): Promise<Heard> {
    if (this.#start) return this.#start;
    const { frames, mels, embeddings, width } = this.#size;
    const silence = await this.#mels(new Float32Array(frames * HOP + EDGE), options);
    const one = await this.#embed(silence.subarray(-frames * mels), options);
    const all = new Float32Array(embeddings * width);
    for (let at = 0; at < embeddings; at++) all.set(one, at * width);
    this.#start = {
      samples: new Float32Array(0),
      spectrogram: new Float32Array(frames * mels).fill(1),
      embeddings: all,
    };
    return this.#start;
  }

  /** Hears a step. @returns the scores of the head, and what was heard so far */
  async step(before: Heard, step: Float32Array, options: RunOptions): Promise<{ scores: Float32Array; heard: Heard }> {
    const { frames, mels, embeddings, width } = this.#size;
    const whole = Float32Array.from(step, toInt16);
    const added = await this.#mels(appended(before.samples, whole, STEP + AGAIN), options);
    const spectrogram = appended(before.spectrogram, added, frames * mels);
    const embedding = await this.#embed(spectrogram, options);
    const heard = {
      samples: whole.slice(-AGAIN),
      spectrogram,
      embeddings: appended(before.embeddings, embedding, embeddings * width),
    };
    const outputs = await this.#head.run(feed(this.#head, [1, embeddings, width], heard.embeddings), options);
    const scores = toFloats(numbersOf(outputs, this.#output.name));
    if (scores.length === this.#output.dims[1]) return { scores, heard };
    throw misshapen('the model', this.#output, `${this.#output.dims[1]} numbers, as it declares`);
  }

  async #mels(samples: Float32Array, options: RunOptions): Promise<Float32Array> {
    const outputs = await this.#spectrogram.run(feed(this.#spectrogram, [1, samples.length], samples), options);
    const found = toFloats(numbersOf(outputs, this.#spectrogram.outputs[0]!.name));
    if (found.length > 0 && found.length % this.#size.mels === 0) return found.map((value) => value / 10 + 2);
    throw misshapen('melspectrogram', this.#spectrogram.outputs[0]!, `frames of ${this.#size.mels} mels`);
  }

  async #embed(spectrogram: Float32Array, options: RunOptions): Promise<Float32Array> {
    const { frames, mels, width } = this.#size;
    const outputs = await this.#embedding.run(feed(this.#embedding, [1, frames, mels, 1], spectrogram), options);
    const found = toFloats(numbersOf(outputs, this.#embedding.outputs[0]!.name));
    if (found.length === width) return found;
    throw misshapen('embedding', this.#embedding.outputs[0]!, `${width} numbers, which the head reads`);
  }
}

/** Returns a sample as a whole number of 16 bits. */
function toInt16(sample: number): number {
  return Math.min(FULL_SCALE - 1, Math.max(-FULL_SCALE, Math.floor(sample * FULL_SCALE + 0.5)));
}

/** Returns the last `length` numbers of two arrays. */
function appended(first: Float32Array, second: Float32Array, length: number): Float32Array {
  const kept = Math.max(0, Math.min(first.length, length - second.length));
  const result = new Float32Array(kept + Math.min(second.length, length));
  result.set(first.subarray(first.length - kept));
  result.set(second.subarray(Math.max(0, second.length - length)), kept);
  return result;
}

function feed({ inputs }: Session, dims: readonly number[], data?: Float32Array): Tensors {
  const size = dims.reduce((product, dim) => product * dim, 1);
  return { [inputs[0]!.name]: { dtype: 'float32', dims, data: data ?? new Float32Array(size) } };
}

/** Returns the dims of a model's only input. @throws `model-config` */
function check(name: string, { inputs }: Session, rank: number): TensorInfo['dims'] {
  const [input] = inputs;
  if (inputs.length === 1 && input!.dims.length === rank && input!.dtype === 'float32') return input!.dims;
  throw new TabServeError(
    'model-config',
    `keyword_spotter runs models of openWakeWord: melspectrogram.onnx [rows, samples], embedding_model.onnx [rows, ${FRAMES}, ${MELS}, 1], and a head [rows, ${EMBEDDINGS}, ${WIDTH}]. The inputs of ${name} are ${inputs.map((one) => `"${one.name}" ${one.dtype} [${one.dims.map((dim) => dim ?? '?').join(', ')}]`).join(', ')}.`,
  );
}

function misshapen(name: string, output: OutputInfo, expected: string): TabServeError {
  return new TabServeError(
    'model-config',
    `keyword_spotter: the output "${output.name}" of ${name} must have ${expected}. Take the models that the head was trained with.`,
  );
}
