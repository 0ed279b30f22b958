import { TabServeError } from '../contract/errors.js';
import type { OnArrayBuffer, Tensor } from '../contract/tensors.js';
import { strides, type MapLayout } from './maps.js';

/** The features of one text or image: one number for each feature of the model. */
export type Embedding = OnArrayBuffer<Float32Array>;

export const POOLINGS = ['mean', 'cls', 'last-token'] as const;
/**
 * How the vectors of a text's tokens, or of an image's positions, become one: their mean, the first one (`cls`), or the
 * last one (`last-token`).
 */
export type Pooling = (typeof POOLINGS)[number];

/** The positions of a row that belong to its text; the others are padding. */
export interface Span {
  readonly start: number;
  /** The position after the last one. */
  readonly end: number;
}

/** The smallest length that a vector is divided by, as in `torch.nn.functional.normalize`. */
const SMALLEST_NORM = 1e-12;

/**
 * Pools vectors `[positions, features]` of one row.
 * @param span the positions that count. Default: all
 * @throws `model-config` if the row has fewer positions than `span` needs
 */
export function poolPositions({ dims, data }: Tensor, pooling: Pooling, span?: Span): Embedding {
  const [positions, features] = dims as readonly [number, number];
  const { start, end } = span ?? { start: 0, end: positions };
  if (end > positions || start >= end)
    throw new TabServeError(
      'model-config',
      `pooling: "${pooling}" needs a vector for each of the ${end} tokens, but the model's output has ${positions}. Name another output in handler.outputName.`,
    );
  const values = data as Float32Array;
  if (pooling !== 'mean') {
    const at = pooling === 'cls' ? start : end - 1;
    return values.slice(at * features, (at + 1) * features) as Embedding;
  }
  const sums = new Float64Array(features);
  for (let position = start; position < end; position++)
    for (let feature = 0; feature < features; feature++) sums[feature]! += values[position * features + feature]!;
  return Float32Array.from(sums, (sum) => sum / (end - start));
}

/** Returns the mean of each channel of one row's maps, `[channels, height, width]` or `[height, width, channels]`. */
export function poolMaps({ dims, data }: Tensor, layout: MapLayout): Embedding {
  const [a, b, c] = dims as readonly [number, number, number];
  const [channels, height, width] = layout === 'NCHW' ? [a, b, c] : [c, a, b];
  const { channel, pixel } = strides({ layout, channels, height, width });
  const values = data as Float32Array;
  return Float32Array.from({ length: channels }, (_, index) => {
    let sum = 0;
    for (let at = 0; at < width * height; at++) sum += values[index * channel + at * pixel]!;
    return sum / (width * height);
  });
}

/** Returns the vector divided by its Euclidean norm. A vector of zeros stays as it is. */
export function unit(vector: Embedding): Embedding {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const norm = Math.max(Math.sqrt(squares), SMALLEST_NORM);
  return vector.map((value) => value / norm) as Embedding;
}
