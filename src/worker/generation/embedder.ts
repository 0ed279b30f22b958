/** Makes of tokens the vectors that a decoder reads, where a file of its own does it: `embed_tokens`. */
import { TabServeError } from '../../contract/errors.js';
import type { Session, Tensor, TensorInfo, Tensors } from '../../contract/tensors.js';
import { toFloat16 } from '../tensors/float16.js';
import { integers } from '../tensors/tensors.js';
import { listInfos, type DecoderInterface } from './decoder-interface.js';
import { randomAt } from './sample.js';
import type { SoftTokens } from './soft-tokens.js';

/** The file's node. */
export const EMBED_TOKENS = 'embed_tokens';
/** The decoder's input of which a picture's vectors are a part. */
export const EMBEDDINGS = 'inputs_embeds';

/** The embeddings of a decoder's tokens. */
export class Embedder {
  readonly #session: Session;
  readonly #ids: TensorInfo;
  readonly #read: readonly TensorInfo[];
  /** Of a model that reads pictures, or hears. */
  vectors: SoftTokens | undefined;

  /** @throws `model-config` if its outputs are not what the decoder reads */
  constructor(session: Session, { embeddings }: DecoderInterface) {
    const { inputs, outputs } = session;
    const [ids, ...others] = inputs;
    const fits = embeddings.every((info) =>
      outputs.some(({ name, dims, dtype }) => {
        const [own, theirs] = [dims.at(-1), info.dims.at(-1)];
        const isOfSize = typeof own !== 'number' || typeof theirs !== 'number' || own === theirs;
        return name === info.name && isOfSize && (dtype === undefined || dtype === info.dtype);
      }),
    );
    if (ids?.name !== 'input_ids' || others.length > 0 || !fits)
      throw new TabServeError(
        'model-config',
        `${EMBED_TOKENS} makes of "input_ids" [rows, tokens] the decoder's inputs ${typed(embeddings)}. This one has the inputs ${typed(inputs)}, and the outputs ${typed(outputs)}. Take both from one export, and in precisions that fit: engine.dtype chooses them.`,
      );
    this.#session = session;
    this.#ids = ids;
    this.#read = embeddings;
  }

  /**
   * Returns the decoder's inputs for rows of tokens, of the same length. On a GPU they may stay there, and the caller
   * frees them.
   */
  async run(rows: readonly (readonly number[])[], signal?: AbortSignal): Promise<Tensors> {
    const numbers = rows.flat();
    const found = numbers.map((number) => this.vectors?.vectorOf(number));
    const hasVectors = found.some((one) => one !== undefined);
    const tokens = hasVectors ? numbers.map((number, at) => found[at]?.token ?? number) : numbers;
    const ids = integers(this.#ids.dtype, [rows.length, numbers.length / rows.length], tokens);
    const outputs = await this.#session.run({ [this.#ids.name]: ids }, { signal, keep: !hasVectors });
    const read = Object.fromEntries(this.#read.map(({ name }) => [name, outputs[name]!] as const));
    if (!hasVectors) return read;
    const vectors = found.map((one) => one?.vector);
    return { ...read, [EMBEDDINGS]: withVectors(read[EMBEDDINGS]!, vectors) };
  }

  /** Returns noise in place of the vectors of one token; undefined if the decoder does not declare their sizes. */
  example(): Tensors | undefined {
    const found = this.#read.map((info, index) => [info.name, noise(info, index + 1)] as const);
    return found.some(([, tensor]) => !tensor) ? undefined : (Object.fromEntries(found) as Tensors);
  }
}

function typed(infos: Parameters<typeof listInfos>[0]): string {
  return `${listInfos(infos)} (${infos.map(({ dtype }) => dtype ?? 'of unknown dtype').join(', ')})`;
}

/** Returns embeddings with vectors in some places. */
function withVectors(embeddings: Tensor, vectors: readonly (Float32Array | undefined)[]): Tensor {
  const { dtype, data } = embeddings;
  const size = embeddings.dims.at(-1)!;
  const copy = (data as Float32Array | Uint16Array).slice();
  for (const [at, vector] of vectors.entries())
    if (vector) copy.set(dtype === 'float16' ? toFloat16(vector) : vector, at * size);
  return { ...embeddings, data: copy } as Tensor;
}

function noise({ dtype, dims }: TensorInfo, seed: number): Tensor | undefined {
  const sizes = dims.map((size, axis) => (axis < 2 ? 1 : size));
  if (!sizes.every((size) => typeof size === 'number')) return undefined;
  const values = Float32Array.from(
    { length: sizes.reduce((product, size) => product * size, 1) },
    (_, at) => randomAt(seed, at) * 2 - 1,
  );
  return dtype === 'float16'
    ? { dtype, dims: sizes, data: toFloat16(values) }
    : { dtype: 'float32', dims: sizes, data: values };
}
