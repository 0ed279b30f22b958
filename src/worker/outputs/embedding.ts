import { TabServeError } from '../../contract/errors.js';
import type { OnArrayBuffer, Tensor } from '../../contract/tensors.js';
import { strides, type MapLayout } from './maps.js';

/** The features of one text or image: one number for each feature of the model. */
export type Embedding = OnArrayBuffer<Float32Array>;

export const POOLINGS = ['mean', 'cls', 'last-token', 'max', 'mean-sqrt-length', 'weighted-mean'] as const;
/**
 * How the vectors of a text's tokens, or of an image's positions, become one: their mean, the first one (`cls`), the
 * last one (`last-token`), the largest number of each feature (`max`), their sum divided by the square root of their
 * number (`mean-sqrt-length`), or their mean with the weights 1, 2, 3 and so on (`weighted-mean`). The weights begin at
 * the text's first token, after padding on the left, so that no other text of the batch changes them.
 */
export type Pooling = (typeof POOLINGS)[number];

/** The positions of a row that belong to its text; the others are padding. */
export interface Span {
  readonly start: number;
  /** The position after the last one. */
  readonly end: number;
}

/** The smallest length that a vector is divided by, as in `torch.nn.functional.normalize`. */
const MIN_NORM = 1e-12;

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
  if (pooling === 'cls' || pooling === 'last-token') {
    const at = pooling === 'cls' ? start : end - 1;
    return values.slice(at * features, (at + 1) * features) as Embedding;
  }
  if (pooling === 'max')
    return Float32Array.from({ length: features }, (_, feature) => {
      let most = -Infinity;
      for (let position = start; position < end; position++)
        most = Math.max(most, values[position * features + feature]!);
      return most;
    });
  const sums = new Float64Array(features);
  let divisor = 0;
  for (let position = start; position < end; position++) {
    const weight = pooling === 'weighted-mean' ? position - start + 1 : 1;
    divisor += weight;
    for (let feature = 0; feature < features; feature++)
      sums[feature]! += weight * values[position * features + feature]!;
  }
  if (pooling === 'mean-sqrt-length') divisor = Math.sqrt(divisor);
  return Float32Array.from(sums, (sum) => sum / divisor);
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
  const norm = Math.max(Math.sqrt(squares), MIN_NORM);
  return vector.map((value) => value / norm) as Embedding;
}
