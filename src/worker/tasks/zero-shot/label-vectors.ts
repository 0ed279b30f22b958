/**
 * The vectors of labels, as a model of images and texts in one file returns them (CLIP, SigLIP). With them, the model
 * reads one text with the next image instead of all. Its scores are `scale · (image · text) + bias`; the scale is
 * computed from the first run, by least squares.
 */
import type { Tensor, Tensors } from '../../../contract/tensors.js';
import { toFloats } from '../../tensors/tensors.js';

/** The outputs with the vectors of images and texts, `[rows, size]`. */
const VECTORS = { images: 'image_embeds', texts: 'text_embeds' } as const;

/** The largest difference between the model's output and the formula, relative to the largest output. */
const TOLERANCE = 1e-5;
/** The largest difference of a vector's length from 1. */
const LENGTH_TOLERANCE = 1e-3;
/** A line fits any two products, whatever the model computes. */
const MIN_PRODUCTS = 3;
/** If the products differ by less, the scale is not exact enough. */
const MIN_SPREAD = 0.01;

/** The vectors of a list of labels, as the model has read them. */
export interface LabelVectors {
  readonly texts: Float32Array;
  readonly scale: number;
  /** How many tokens each text was padded to. */
  readonly tokens: number;
}

/**
 * Returns the labels' vectors of a run with all of them.
 * @param logits the name of the output `[images, texts]`
 * @param read how many of the texts are labels, which are the first ones; how many tokens each text has
 * @returns undefined if the model returns no vectors, or vectors of another length than 1, with which each image would
 *   have a scale of its own; if its scores are not those of the formula; or if there are too few products, or too
 *   similar ones, to compute the scale
 */
export function labelVectors(
  outputs: Tensors,
  logits: string,
  { labels, tokens }: { readonly labels: number; readonly tokens: number },
): LabelVectors | undefined {
  const vectors = outputs[VECTORS.texts];
  const texts = vectors && toFloats(vectors);
  const all = texts && haveLengthOne(outputs) ? products(outputs, texts) : undefined;
  const scale = all && scaleOf(toFloats(outputs[logits]!), all);
  return scale === undefined ? undefined : { texts: texts!.slice(0, labels * vectors!.dims[1]!), scale, tokens };
}

/** Returns the first columns of a matrix. */
export function firstColumns(matrix: Tensor, columns: number): Tensor {
  const [rows = 0, all = 0] = matrix.dims;
  if (all === columns) return matrix;
  const numbers = toFloats(matrix);
  const data = Float32Array.from(
    { length: rows * columns },
    (_, at) => numbers[Math.floor(at / columns) * all + (at % columns)]!,
  );
  return { dtype: 'float32', dims: [rows, columns], data };
}

/** Returns the logits `[images, texts]`, float32, of a run with the first label alone. */
export function logitsOf(outputs: Tensors, logits: string, cached: LabelVectors): Tensor {
  const first = toFloats(outputs[logits]!);
  const firstProducts = products(outputs, toFloats(outputs[VECTORS.texts]!))!;
  const all = products(outputs, cached.texts)!;
  const columns = all.length / first.length;
  // The first label's own output has the bias in it.
  const data = Float32Array.from(all, (product, at) => {
    const row = Math.floor(at / columns);
    return first[row]! + cached.scale * (product - firstProducts[row]!);
  });
  return { dtype: 'float32', dims: [first.length, columns], data };
}

/** Returns the scalar product of each image with each text, `[images, texts]`; undefined without both vectors. */
function products(outputs: Tensors, texts: Float32Array): Float64Array | undefined {
  const vectors = outputs[VECTORS.images];
  const [images, size] = vectors?.dims ?? [];
  if (!vectors || !images || !size || vectors.dims.length !== 2 || texts.length % size !== 0) return undefined;
  const image = toFloats(vectors);
  const columns = texts.length / size;
  return Float64Array.from({ length: images * columns }, (_, at) => {
    const [row, column] = [Math.floor(at / columns) * size, (at % columns) * size];
    let sum = 0;
    for (let index = 0; index < size; index++) sum += image[row + index]! * texts[column + index]!;
    return sum;
  });
}

/** Returns whether each vector of images and texts has length 1. */
function haveLengthOne(outputs: Tensors): boolean {
  return Object.values(VECTORS).every((name) => {
    const vectors = outputs[name];
    const [rows = 0, size = 0] = vectors?.dims ?? [];
    const numbers = vectors && toFloats(vectors);
    const lengths = Array.from({ length: rows }, (_, row) =>
      Math.hypot(...numbers!.subarray(row * size, (row + 1) * size)),
    );
    return lengths.every((length) => Math.abs(length - 1) < LENGTH_TOLERANCE);
  });
}

/** Returns the factor of `logits = factor · products + constant` by least squares; undefined if they are not alike. */
function scaleOf(logits: Float32Array, of: Float64Array): number | undefined {
  if (logits.length !== of.length || of.length < MIN_PRODUCTS) return undefined;
  // A list is too long to be the arguments of a function.
  const [least, most] = [
    of.reduce((one, other) => Math.min(one, other)),
    of.reduce((one, other) => Math.max(one, other)),
  ];
  if (most - least < MIN_SPREAD) return undefined;
  const [logit, product] = [mean(logits), mean(of)];
  let [above, below] = [0, 0];
  for (const [at, one] of of.entries()) {
    above += (one - product) * (logits[at]! - logit);
    below += (one - product) ** 2;
  }
  const factor = above / below;
  const largest = logits.reduce((most, one) => Math.max(most, Math.abs(one)), 0);
  const isExact = of.every(
    (one, at) => Math.abs(logits[at]! - logit - factor * (one - product)) <= TOLERANCE * largest,
  );
  return isExact ? factor : undefined;
}

function mean(values: Float32Array | Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}
