/** Numbers in rows, as pipelines return them. */
export class PipelineTensor {
  readonly type = 'float32';
  readonly dims: readonly number[];
  /** Row-major; its length is the product of `dims`. */
  readonly data: Float32Array;

  constructor(dims: readonly number[], data: Float32Array) {
    this.dims = dims;
    this.data = data;
  }

  /** The number of elements. */
  get size(): number {
    return this.data.length;
  }

  /** Returns the numbers as lists in lists. */
  tolist(): unknown {
    let rows: readonly unknown[] = Array.from(this.data);
    for (const size of this.dims.slice(1).toReversed())
      rows = Array.from({ length: rows.length / size }, (_, at) => rows.slice(at * size, (at + 1) * size));
    return rows;
  }
}

/** Returns vectors of the same length as a tensor, a row for each. */
export function tensorOfVectors(vectors: readonly Float32Array[]): PipelineTensor {
  const size = vectors[0]?.length ?? 0;
  const data = new Float32Array(vectors.length * size);
  vectors.forEach((vector, at) => data.set(vector, at * size));
  return new PipelineTensor([vectors.length, size], data);
}
