/** Runs a decoder on rows of the same length. */
import { zeroData } from '../../contract/dtypes.js';
import { TabServeError } from '../../contract/errors.js';
import type { DType, Session, Tensor, TensorInfo, Tensors } from '../../contract/tensors.js';
import { fromFloat16 } from '../tensors/float16.js';
import { integers } from '../tensors/tensors.js';
import type { CacheTensor, DecoderInterface } from './decoder-interface.js';

/**
 * The key–value cache of rows: what the model keeps of tokens that it has run. It is never changed: a run returns a new
 * one.
 */
export interface KeyValueCache {
  /** How many tokens of each row it covers. */
  readonly length: number;
  /** By the name of the input; with the encoder's output, if the decoder reads one. */
  readonly tensors: Tensors;
}

/** What a run returns. */
export interface DecoderStep {
  readonly cache: KeyValueCache;
  /** For the next token of each row: one number for each token of the vocabulary. */
  readonly logits: readonly Float32Array[];
}

/** A decoder with its cache. */
export class Decoder {
  readonly #session: Session;
  readonly #interface: DecoderInterface;

  constructor(session: Session, model: DecoderInterface) {
    this.#session = session;
    this.#interface = model;
  }

  /** Whether the model has a cache. Without one, each run is on all tokens. */
  get hasCache(): boolean {
    return this.#interface.cache.length > 0;
  }

  /** Whether it runs several rows at once. */
  get takesRows(): boolean {
    const { ids, cache } = this.#interface;
    return typeof ids.dims[0] !== 'number' && cache.every(({ rowAxis }) => rowAxis !== undefined);
  }

  /**
   * Returns the cache for a row of which no token was run.
   * @param hiddenStates the encoder's output for the row's text, if the decoder reads one
   */
  emptyCache(hiddenStates?: Tensor): KeyValueCache {
    const { cache, hiddenStates: states, encoderMask } = this.#interface;
    const empty = cache.map((one) => [one.past.name, emptyTensor(one)] as const);
    const mask = encoderMask && hiddenStates && ones(encoderMask.dtype, hiddenStates.dims[1]!);
    return {
      length: 0,
      tensors: {
        ...Object.fromEntries(empty),
        ...(states && hiddenStates && { [states.name]: hiddenStates }),
        ...(mask && { [encoderMask.name]: mask }),
      },
    };
  }

  /** Returns the cache of other rows, each of them one of the cache's own. */
  takeRows(cache: KeyValueCache, rows: readonly number[]): KeyValueCache {
    const axes = new Map(this.#interface.cache.map((one) => [one.past.name, one] as const));
    const tensors = Object.entries(cache.tensors).map(([name, tensor]) => {
      const own = axes.get(name);
      const axis = own ? own.rowAxis! : 0;
      // All rows have the same encoder's text.
      const isSame = own && !own.isOfEncoder ? rows.every((row, index) => row === index) : true;
      return [name, isSame && tensor.dims[axis] === rows.length ? tensor : takeRows(tensor, axis, rows)] as const;
    });
    return { length: cache.length, tensors: Object.fromEntries(tensors) };
  }

  /**
   * Runs the model on the tokens that the cache does not cover.
   * @param rows all tokens of each row: a model without a cache runs on all of them
   * @throws what the session's run throws; `inference-failed` if the logits are no floats
   */
  async run(rows: readonly (readonly number[])[], cache: KeyValueCache, signal?: AbortSignal): Promise<DecoderStep> {
    const outputs = await this.#session.run(this.feeds(rows, cache), { signal });
    const fresh = this.#interface.cache
      .filter(({ isOfEncoder }) => !isOfEncoder || cache.length === 0)
      .map(({ past, present }) => [past.name, outputs[present]!] as const);
    return {
      cache: { length: rows[0]!.length, tensors: { ...cache.tensors, ...Object.fromEntries(fresh) } },
      logits: lastLogits(outputs[this.#interface.logits.name]!),
    };
  }

  /** Returns the model's inputs for the tokens that the cache does not cover. */
  feeds(rows: readonly (readonly number[])[], cache: KeyValueCache): Tensors {
    const { ids, mask, positions, useCache, keptLogits } = this.#interface;
    const start = this.hasCache ? cache.length : 0;
    const { length } = rows[0]!;
    const matrix = (dtype: DType, valuesOf: (row: readonly number[]) => readonly number[]): Tensor => {
      const values = rows.flatMap(valuesOf);
      return integers(dtype, [rows.length, values.length / rows.length], values);
    };
    const feeds: Record<string, Tensor> = {
      ...cache.tensors,
      [ids.name]: matrix(ids.dtype, (row) => row.slice(start)),
    };
    const add = (info: TensorInfo | undefined, make: (dtype: DType) => Tensor): void => {
      if (info) feeds[info.name] = make(info.dtype);
    };
    add(mask, (dtype) => matrix(dtype, (row) => row.map(() => 1)));
    add(positions, (dtype) => matrix(dtype, () => Array.from({ length: length - start }, (_, index) => start + index)));
    add(useCache, () => ({ dtype: 'bool', dims: [1], data: Uint8Array.of(start > 0 ? 1 : 0) }));
    add(keptLogits, (dtype) => integers(dtype, keptLogits!.dims.length === 0 ? [] : [1], [1]));
    return feeds;
  }
}

/** Returns the mask of one row whose tokens all count. */
export function ones(dtype: DType, length: number): Tensor {
  return integers(
    dtype,
    [1, length],
    Array.from({ length }, () => 1),
  );
}

function emptyTensor({ past: { dtype, dims }, rowAxis }: CacheTensor): Tensor {
  const sizes = dims.map((size, axis) => (typeof size === 'number' ? size : axis === rowAxis ? 1 : 0));
  const length = sizes.reduce((product, size) => product * size, 1);
  return { dtype, dims: sizes, data: zeroData(dtype, length) };
}

/** Returns copies of the logits after the last token of each row. */
function lastLogits({ dtype, dims, data }: Tensor): readonly Float32Array[] {
  const [rows, tokens, size] = dims as [number, number, number];
  return Array.from({ length: rows }, (_, row) => {
    const end = (row + 1) * tokens * size;
    if (dtype === 'float32') return (data as Float32Array).slice(end - size, end);
    if (dtype === 'float16') return fromFloat16((data as Uint16Array).slice(end - size, end));
    throw new TabServeError('inference-failed', `The model's logits are ${dtype}; expected float32 or float16.`);
  });
}

/** Returns a tensor with these places of an axis, in this order. */
function takeRows({ dtype, dims, data }: Tensor, axis: number, rows: readonly number[]): Tensor {
  const size = dims.slice(axis + 1).reduce((product, one) => product * one, 1);
  const outer = dims.slice(0, axis).reduce((product, one) => product * one, 1);
  const from = data as Float32Array;
  const taken = zeroData(dtype, outer * rows.length * size) as Float32Array;
  for (let at = 0; at < outer; at++)
    for (const [index, row] of rows.entries()) {
      const start = (at * dims[axis]! + row) * size;
      taken.set(from.subarray(start, start + size), (at * rows.length + index) * size);
    }
  return { dtype, dims: dims.map((one, at) => (at === axis ? rows.length : one)), data: taken };
}
