/** A model that gains from batches; see `bench/model/mlp/make.py`. */

export const MLP_URL = '/model/mlp/mlp.onnx';
export const WIDTH = 2048;
export const ENGINE = { threads: 1, graphOptimizationLevel: 'all' } as const;

/** Rows one after another, of numbers in -1..1. */
export function makeRows(count: number): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: count * WIDTH }, (_, at) => ((7 * at) % 1000) / 500 - 1);
}
