import { zeroData } from '../../contract/dtypes.js';
import type { TensorInfo, Tensors } from '../../contract/tensors.js';
import { TabServeError } from '../../contract/errors.js';
import { integers } from '../tensors/tensors.js';
import { IDS_INPUT, MASK_INPUT, paddedLength, padRows, TEXT_INPUTS } from '../text/text-inputs.js';
import type { Encoding, Padding } from '../text/tokenizer.js';

/** What a model of texts may have beside the tokens. */
const OTHER_INPUTS = TEXT_INPUTS.filter((name) => name !== IDS_INPUT);

/** The inputs of a model of texts: how tokens become its tensors. */
export class TextTensorInput {
  readonly #inputs: readonly TensorInfo[];
  readonly #ids: TensorInfo;
  /** The cache of a language model that makes vectors. It is empty: no text continues another. */
  readonly #caches: readonly TensorInfo[];

  /**
   * @param ids the input for the tokens
   * @throws `model-config` if the model has inputs that a tokenizer cannot fill
   */
  constructor(inputs: readonly TensorInfo[], ids: TensorInfo) {
    this.#inputs = inputs.filter((input) => !isCache(input));
    this.#caches = inputs.filter(isCache);
    this.#ids = ids;
    this.#check();
  }

  #check(): void {
    const inputs = this.#inputs;
    const known = this.#isBag
      ? 2
      : inputs.filter((input) => input === this.#ids || OTHER_INPUTS.includes(input.name)).length;
    const sameRank = inputs.every(
      ({ dtype, dims }) => (dtype === 'int64' || dtype === 'int32') && dims.length === this.#ids.dims.length,
    );
    const dynamic = !this.#isBag || inputs.every(({ dims }) => typeof dims[0] !== 'number');
    if (sameRank && dynamic && known === inputs.length) return;
    const inputList = inputs
      .map(({ name, dtype, dims }) => `"${name}" ${dtype} [${dims.map((size) => size ?? '?').join(', ')}]`)
      .join(', ');
    const unfilled = inputs.filter(({ name }) => !TEXT_INPUTS.includes(name));
    if (inputs.some(({ name }) => name === IDS_INPUT) && unfilled.length > 0)
      throw new TabServeError(
        'model-config',
        `A text handler fills "${TEXT_INPUTS.join('", "')}"; nothing fills this model's "${unfilled.map(({ name }) => name).join('", "')}". Export the model without it, or fill it in a handler of your own: override preprocess. This model's inputs are ${inputList}.`,
      );
    throw new TabServeError(
      'model-config',
      `A text handler needs a model with int64 or int32 inputs. They are "${IDS_INPUT}" [batch, length] and, if the model has them, "${OTHER_INPUTS.join('", "')}"; or tokens [tokens] and offsets [batch] of dynamic size. This model's inputs are ${inputList}. Set handler.inputName to the input for the tokens.`,
    );
  }

  /** Whether the input has rank 1: then it holds the tokens of all rows in one list. */
  get #isBag(): boolean {
    return this.#ids.dims.length === 1;
  }

  /** The number of tokens in a row that the model fixes; undefined if the length is dynamic. */
  get fixedLength(): number | undefined {
    const length = this.#ids.dims[1];
    return typeof length === 'number' ? length : undefined;
  }

  /** Returns the length of every row, given the number of tokens in the longest one. */
  paddedLength(longest: number, padding: Padding, padTo: number): number {
    return this.fixedLength ?? Math.max(padTo, paddedLength(padding, longest));
  }

  /**
   * Returns the model's inputs for rows of tokens.
   * @param padTo the number of tokens that shorter rows are padded to
   * @param firstPosition of a row's first token
   * @throws `invalid-input` if the rows differ in length, and the model would read their padding as text
   */
  tensors(rows: readonly Encoding[], padding: Padding, padTo: number, firstPosition: number): Tensors {
    if (this.#isBag) return this.#concatenated(rows);
    const lengths = new Set(rows.map(({ ids }) => this.paddedLength(ids.length, padding, padTo)));
    if (lengths.size > 1 && this.#inputs.every(({ name }) => name !== MASK_INPUT))
      throw new TabServeError(
        'invalid-input',
        `Texts of ${[...lengths].join(', ')} tokens cannot be read together: the model has no input "${MASK_INPUT}", which would tell it what is padding. Export it with this input.`,
      );
    const longest = Math.max(...rows.map(({ ids }) => ids.length));
    const inputs = padRows(rows, this.#inputs, padding, this.paddedLength(longest, padding, padTo), firstPosition);
    return { ...inputs, ...this.#emptyCaches(rows.length) };
  }

  #emptyCaches(rows: number): Tensors {
    return Object.fromEntries(
      this.#caches.map(({ name, dtype, dims: [, heads, , size] }) => [
        name,
        { dtype, dims: [rows, heads as number, 0, size as number], data: zeroData(dtype, 0) },
      ]),
    );
  }

  /** Returns the tokens of all rows in one list, and the offset of each row. */
  #concatenated(rows: readonly Encoding[]): Tensors {
    const offsets = this.#inputs.find((input) => input !== this.#ids)!;
    let end = 0;
    const starts = rows.map(({ ids }) => (end += ids.length) - ids.length);
    return {
      [this.#ids.name]: integers(
        this.#ids.dtype,
        [end],
        rows.flatMap(({ ids }) => ids),
      ),
      [offsets.name]: integers(offsets.dtype, [rows.length], starts),
    };
  }
}

/** Returns whether an input holds the keys or values of earlier tokens, [rows, heads, tokens, features]. */
function isCache({ name, dtype, dims }: TensorInfo): boolean {
  const [, heads, tokens, size] = dims;
  const isSized = dims.length === 4 && typeof heads === 'number' && typeof size === 'number';
  return name.startsWith('past_key_values.') && dtype.startsWith('float') && isSized && typeof tokens !== 'number';
}
