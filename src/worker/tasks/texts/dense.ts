import { TabServeError } from '../../../contract/errors.js';
import type { Tensor } from '../../../contract/tensors.js';
import { toFloats } from '../../tensors/tensors.js';
import type { Embedding } from '../../outputs/embedding.js';

/** A fully connected layer after the pooling: `activation(weight · vector + bias)`. */
export interface DenseLayer {
  /** The row of each new feature, one after the other. */
  readonly weight: Float32Array;
  readonly bias: Float32Array | undefined;
  /** The number of features that it takes. */
  readonly width: number;
  readonly activation: 'identity' | 'tanh';
}

/**
 * Returns a layer of the tensors of sentence-transformers' `Dense`: `linear.weight` [new features, features] and, if it
 * has one, `linear.bias`.
 * @throws `model-format` naming `file` if the tensors do not fit
 */
export function denseLayer(
  tensors: Readonly<Record<string, Tensor>>,
  activation: DenseLayer['activation'],
  file: string,
): DenseLayer {
  const { 'linear.weight': weight, 'linear.bias': bias } = tensors;
  const [rows, width] = weight?.dims ?? [];
  if (!weight || !rows || !width || weight.dims.length !== 2 || (bias && bias.data.length !== rows))
    throw new TabServeError(
      'model-format',
      `${file} must have linear.weight with the dims [new features, features], and linear.bias with the new features, or none.`,
    );
  return { weight: toFloats(weight), bias: bias && toFloats(bias), width, activation };
}

/** Returns the layer's vector. @throws `model-config` if `vector` has another number of features than the layer takes */
export function applyDense(vector: Embedding, { weight, bias, width, activation }: DenseLayer): Embedding {
  if (vector.length !== width)
    throw new TabServeError(
      'model-config',
      `handler.dense: a layer takes ${width} features, but the vector before it has ${vector.length}. Name another output in handler.outputName.`,
    );
  return Float32Array.from({ length: weight.length / width }, (_, row) => {
    let sum = bias?.[row] ?? 0;
    for (let at = 0; at < width; at++) sum += weight[row * width + at]! * vector[at]!;
    return activation === 'tanh' ? Math.tanh(sum) : sum;
  });
}
