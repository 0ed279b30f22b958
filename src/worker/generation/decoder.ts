/** Runs a decoder on rows of the same length. */
import { zeroData } from '../../contract/dtypes.js';
import { TabServeError } from '../../contract/errors.js';
import type { DType, Session, Tensor, TensorInfo, Tensors } from '../../contract/tensors.js';
import { fromFloat16 } from '../tensors/float16.js';
import { gather } from '../tensors/gather.js';
import { readLast, readTensor } from '../tensors/read-tensor.js';
import { freeTensors, useTensors } from '../tensors/tensor-users.js';
import { integers, stack, toFloats } from '../tensors/tensors.js';
import { hasRows, type CacheTensor, type DecoderInterface } from './decoder-interface.js';
import type { Embedder } from './embedder.js';
import { canJoin, joinRows, type PaddingSide, type RowOfCache } from './join-rows.js';
import { KeyValueCache, takeRows } from './key-value-cache.js';

/** The most that keys and values differ by whose tokens see the same, as a part of their size. */
const TOLERANCE = 1e-3;

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
  readonly #embedder: Embedder | undefined;
  #causal: Promise<boolean> | undefined;

  /** @param embedder of a decoder that reads embeddings in place of tokens */
  constructor(session: Session, model: DecoderInterface, embedder?: Embedder) {
    this.#session = session;
    this.#interface = model;
    this.#embedder = embedder;
  }

  /** Whether the model has a cache. Without one, each run is on all tokens. */
  get hasCache(): boolean {
    return this.#interface.cache.length > 0;
  }

  /** Whether a row's numbers depend on what runs beside it, and with which other tokens of its own. */
  get quantizesAtRunTime(): boolean {
    return this.#session.quantizesAtRunTime === true;
  }

  /** Whether it runs several rows at once. */
  get takesRows(): boolean {
    const { cache } = this.#interface;
    return hasRows(this.#interface) && cache.every(({ rowAxis }) => rowAxis !== undefined);
  }

  /**
   * Returns the cache for a row of which no token was run.
   * @param hiddenStates the encoder's output for the row's text, if the decoder reads one; the cache frees it
   */
  emptyCache(hiddenStates?: Tensor): KeyValueCache {
    const { cache, hiddenStates: states, encoderMask } = this.#interface;
    const empty = cache.map((one) => [one.past.name, emptyTensor(one)] as const);
    const mask = encoderMask && hiddenStates && ones(encoderMask.dtype, hiddenStates.dims[1]!);
    return new KeyValueCache(0, {
      ...Object.fromEntries(empty),
      ...(states && hiddenStates && { [states.name]: hiddenStates }),
      ...(mask && { [encoderMask.name]: mask }),
    });
  }

  /** Returns the cache of other rows, each of them one of the cache's own. */
  async takeRows(cache: KeyValueCache, rows: readonly number[]): Promise<KeyValueCache> {
    return await takeRows(cache, this.#interface, rows);
  }

  /** Returns whether a row of this cache can be joined with other rows. */
  canJoin(cache: KeyValueCache): boolean {
    return !this.quantizesAtRunTime && canJoin(cache, this.#interface);
  }

  /** Returns one cache of rows of others. The shorter ones are padded. */
  async joinRows(rows: readonly RowOfCache[], side: PaddingSide): Promise<KeyValueCache> {
    return await joinRows(rows, side, this.#interface);
  }

  /**
   * Runs the model on the tokens that the cache does not cover.
   * @param rows all tokens of each row: a model without a cache runs on all of them
   * @param pads how many positions of the cache are padding, for each row
   * @param side of the padding
   * @throws what the session's run throws; `inference-failed` if the logits are no floats
   */
  async run(
    rows: readonly (readonly number[])[],
    cache: KeyValueCache,
    signal?: AbortSignal,
    pads: readonly number[] = rows.map(() => 0),
    side: PaddingSide = 'left',
  ): Promise<DecoderStep> {
    const feeds = this.#feeds(rows, cache, pads, side);
    const fresh = this.#fresh(rows, cache, pads);
    const embedded = await this.#embedder?.run(fresh, signal);
    const read = embedded ?? this.#ids(fresh);
    const outputs = await this.#session
      .run({ ...feeds, ...read }, { signal, keep: true })
      .finally(() => embedded && freeTensors(Object.values(embedded)));
    try {
      const logits = await lastLogits(outputs[this.#interface.logits.name]!);
      const states = this.#interface.cache
        .filter(({ isOfEncoder }) => !isOfEncoder || cache.length === 0)
        .map(({ past, present }) => [past.name, outputs[present]!] as const);
      const tensors = { ...cache.tensors, ...Object.fromEntries(states) };
      useTensors(Object.values(tensors));
      return { cache: new KeyValueCache(pads[0]! + rows[0]!.length, tensors), logits };
    } finally {
      freeTensors(Object.values(outputs));
    }
  }

  /**
   * Returns whether each token sees only those before it. In a run of PaliGemma, each token sees all of them: a beginning has
   * other keys and values in another prompt, and a prompt runs as a whole. It is measured once, by runs of two tokens that
   * differ in the second one.
   * @param tokens of a prompt
   * @throws what the session's run throws
   */
  async isCausal(tokens: readonly number[]): Promise<boolean> {
    this.#causal ??= this.#seesOnlyBefore(tokens);
    try {
      return await this.#causal;
    } catch (error) {
      this.#causal = undefined;
      throw error;
    }
  }

  async #seesOnlyBefore(tokens: readonly number[]): Promise<boolean> {
    const { cache, hiddenStates } = this.#interface;
    const states = cache.filter(({ tokenAxis }) => tokenAxis !== undefined);
    // The decoder of an encoder is causal.
    if (hiddenStates || states.length === 0) return true;
    const first = tokens[0]!;
    // Of a picture without a motif, the first vectors are nearly the same, and the text is at the end.
    const other = tokens.findLast((token) => token !== first) ?? Number(first === 0);
    const [one, two] = [await this.#firstOf([first, first], states), await this.#firstOf([first, other], states)];
    return one.every((values, at) => areAlike(values, two[at]!));
  }

  /** Returns the keys and values of the first token of a run. */
  async #firstOf(tokens: readonly number[], states: readonly CacheTensor[]): Promise<readonly Float32Array[]> {
    const { cache } = await this.run([tokens], this.emptyCache());
    try {
      const parts = states.map(({ past, tokenAxis }) => ({ tensor: cache.tensors[past.name]!, axis: tokenAxis! }));
      const taken = await gather(parts, [{ start: 0, length: 1 }]);
      try {
        return await Promise.all(taken.map(async (tensor) => toFloats(await readTensor(tensor)).slice()));
      } finally {
        freeTensors(taken);
      }
    } finally {
      cache.free();
    }
  }

  /**
   * Returns what tokens have listened to: cross attentions `[1, heads, tokens, positions]` of some layers.
   * @param cache of a row of which nothing was run
   * @throws what the session's run throws
   */
  async crossAttentions(
    tokens: readonly number[],
    cache: KeyValueCache,
    layers: readonly number[],
    signal: AbortSignal,
  ): Promise<readonly Tensor[]> {
    const feeds = { ...this.#feeds([tokens], cache, [0], 'left'), ...this.#ids([tokens]) };
    const outputs = await this.#session.run(feeds, { signal, keep: true });
    try {
      const { crossAttentions } = this.#interface;
      const read = await Promise.all(layers.map((layer) => readTensor(outputs[crossAttentions[layer]!]!)));
      // On WASM these are the outputs themselves, which the caller reads after they are freed here.
      useTensors(read);
      return read;
    } finally {
      freeTensors(Object.values(outputs));
    }
  }

  /** Returns the model's inputs for one token; undefined if the sizes of its embeddings are unknown. */
  example(cache: KeyValueCache): Tensors | undefined {
    const rows = [[0]];
    const read = this.#embedder ? this.#embedder.example() : this.#ids(rows);
    return read && { ...this.#feeds(rows, cache, [0], 'left'), ...read };
  }

  /** Returns the tokens that the cache does not cover. */
  #fresh(
    rows: readonly (readonly number[])[],
    cache: KeyValueCache,
    pads: readonly number[],
  ): readonly (readonly number[])[] {
    const start = this.hasCache ? cache.length : 0;
    return rows.map((row, index) => row.slice(start - pads[index]!));
  }

  /**
   * Returns the positions of tokens on several axes, as models of pictures count them: of texts alone, they are alike.
   * @param axes how many the model has: HunYuan-VL has four. Pictures have three
   */
  #positionsOf(row: readonly number[], axes: number): readonly (readonly number[])[] {
    return this.#embedder?.vectors?.positionsOf(row) ?? Array.from({ length: axes }, () => range(0, row.length));
  }

  #ids(rows: readonly (readonly number[])[]): Tensors {
    const { name, dtype } = this.#interface.ids!;
    return { [name]: matrix(dtype, rows) };
  }

  /** Returns the model's inputs beside the tokens. */
  #feeds(
    rows: readonly (readonly number[])[],
    cache: KeyValueCache,
    pads: readonly number[],
    side: PaddingSide,
  ): Tensors {
    const { mask, positions, useCache, keptLogits } = this.#interface;
    const start = this.hasCache ? cache.length : 0;
    const each = (dtype: DType, valuesOf: (row: readonly number[], pad: number) => readonly number[]): Tensor =>
      matrix(
        dtype,
        rows.map((row, index) => valuesOf(row, pads[index]!)),
      );
    const feeds: Record<string, Tensor> = { ...cache.tensors };
    const add = (info: TensorInfo | undefined, make: (dtype: DType) => Tensor): void => {
      if (info) feeds[info.name] = make(info.dtype);
    };
    add(mask, (dtype) =>
      each(dtype, ({ length }, pad) => {
        const [padding, own] = [Array.from({ length: pad }, () => 0), Array.from({ length }, () => 1)];
        return side === 'left' ? [...padding, ...own] : [...own, ...padding];
      }),
    );
    add(positions, (dtype) => {
      const { dims } = positions!;
      if (dims.length < 3) return each(dtype, ({ length }, pad) => range(start - pad, length));
      const axes = typeof dims[0] === 'number' ? dims[0] : 3;
      const found = rows.map((row) => this.#positionsOf(row, axes));
      return stack(
        found[0]!.map((_, axis) =>
          matrix(
            dtype,
            found.map((own, index) => own[axis]!.slice(start - pads[index]!)),
          ),
        ),
      );
    });
    add(useCache, () => ({ dtype: 'bool', dims: [1], data: Uint8Array.of(start > 0 ? 1 : 0) }));
    add(keptLogits, (dtype) => integers(dtype, keptLogits!.dims.length === 0 ? [] : [1], [1]));
    return feeds;
  }
}

/** Returns whether numbers are the same, but for rounding. */
function areAlike(one: Float32Array, other: Float32Array): boolean {
  const largest = one.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return one.every((value, index) => Math.abs(value - other[index]!) <= TOLERANCE * largest);
}

/** Returns a matrix of rows of the same length. */
function matrix(dtype: DType, rows: readonly (readonly number[])[]): Tensor {
  const values = rows.flat();
  return integers(dtype, [rows.length, values.length / rows.length], values);
}

function range(start: number, end: number): number[] {
  return Array.from({ length: end - start }, (_, index) => start + index);
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
async function lastLogits(logits: Tensor): Promise<readonly Float32Array[]> {
  const { dtype } = logits;
  if (dtype !== 'float32' && dtype !== 'float16')
    throw new TabServeError('inference-failed', `The model's logits are ${dtype}; expected float32 or float16.`);
  const last = await readLast(logits);
  return dtype === 'float32' ? (last as readonly Float32Array[]) : (last as readonly Uint16Array[]).map(fromFloat16);
}
