import type { Context } from '../contract/handler.js';
import type { DType, Tensor, TensorInfo, Tensors } from '../contract/tensors.js';
import { asTabServeError, TabServeError } from '../contract/errors.js';
import { loadHuggingFace } from '../text/hugging-face.js';
import { loadTorchServe } from '../text/torchserve.js';
import type { Encoding, TextTokenizer } from '../text/tokenizer.js';
import type { ConfigSchema } from '../shared/schema.js';
import { BaseHandler } from './base-handler.js';
import { unwrap, type Row } from './row.js';

/** What a text handler takes: a text, a Blob of UTF-8, or a text and the one that it is paired with, as a question with its passage. */
export type TextInput = string | Blob | { readonly text: string; readonly textPair?: string };

/** The names by which models know their inputs, as Hugging Face's exporters write them. */
const IDS = 'input_ids';
const MASK = 'attention_mask';
const TYPES = 'token_type_ids';

/** The `params` of every handler of texts. */
export interface TextParams {
  /** Tokens of a row, special ones included; more are cut. */
  readonly maxLength?: number;
}

/**
 * Texts in: tokenizes each row, and makes the model's tensors of a batch whose rows are of any length.
 *
 * With inputs of rank 2, rows are padded to the longest of their batch, or to the length that the model has fixed: `input_ids`, and `attention_mask`
 * and `token_type_ids` where the model takes them. With inputs of rank 1, tokens follow one another, and a second input says where each row begins, as
 * PyTorch's EmbeddingBag takes them. A row that cannot be read, or has no tokens, fails alone.
 */
export class TextHandler extends BaseHandler<TextInput> {
  declare readonly paramsType?: TextParams;

  static override readonly schema: ConfigSchema = {
    tokenizer: {
      enum: ['huggingface', 'torchserve'],
      readOnly: true,
      description:
        "What makes tokens of a text: the archive's tokenizer.json, or TorchServe's pipeline with source_vocab.json.",
      default: 'huggingface',
    },
    maxLength: {
      type: 'integer',
      minimum: 1,
      description:
        "Tokens of a row, special ones included; more are cut. A pair has more special ones than a text, and fails alone where they leave no room. By default what the tokenizer's files say.",
    },
    ngrams: {
      type: 'integer',
      minimum: 1,
      readOnly: true,
      description: "With TorchServe's pipeline: the longest n-grams that are looked up, in words.",
      default: 2,
    },
  };

  #tokenizer!: TextTokenizer;

  /** @throws `model-config` if the vocabulary is missing, `ngrams` is given without TorchServe's pipeline, or the model takes other inputs than a tokenizer makes */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    this.inputInfo = this.#idsInput();
    this.#checkInputs();
    this.#tokenizer = await this.#loadTokenizer(context);
    this.#checkLength();
  }

  async #loadTokenizer({ files }: Context): Promise<TextTokenizer> {
    const { tokenizer, ngrams } = this.config;
    if (tokenizer === 'torchserve') return await loadTorchServe(files, (ngrams ?? this.defaults['ngrams']) as number);
    if (ngrams !== undefined)
      throw new TabServeError(
        'model-config',
        'handler.ngrams: it is for tokenizer: torchserve; tokenizer.json says itself what its tokens are.',
      );
    return await loadHuggingFace(files);
  }

  #idsInput(): TensorInfo {
    return (
      (this.config['inputName'] === undefined && this.model.inputs.find(({ name }) => name === IDS)) || this.inputInfo
    );
  }

  #checkInputs(): void {
    const { inputs } = this.model;
    const known = this.#isBag
      ? 2
      : inputs.filter((input) => input === this.inputInfo || input.name === MASK || input.name === TYPES).length;
    const alike = inputs.every(
      ({ dtype, dims }) => (dtype === 'int64' || dtype === 'int32') && dims.length === this.inputInfo.dims.length,
    );
    const dynamic = !this.#isBag || inputs.every(({ dims }) => typeof dims[0] !== 'number');
    if (alike && dynamic && known === inputs.length) return;
    const has = inputs
      .map(({ name, dtype, dims }) => `"${name}" ${dtype} [${dims.map((size) => size ?? '?').join(', ')}]`)
      .join(', ');
    throw new TabServeError(
      'model-config',
      `A text handler feeds int64 or int32 "${IDS}" [batch, length], and "${MASK}" and "${TYPES}" where the model has them, or tokens [tokens] and offsets [batch] of dynamic size; the model takes ${has}. handler.inputName says which are the tokens.`,
    );
  }

  /** Of rank 1: all rows' tokens in one list. */
  get #isBag(): boolean {
    return this.inputInfo.dims.length === 1;
  }

  /** The length that the model has fixed. */
  get #fixedLength(): number | undefined {
    const length = this.inputInfo.dims[1];
    return typeof length === 'number' ? length : undefined;
  }

  #checkLength(): void {
    const { maxLength } = this.config;
    if (maxLength !== undefined && (maxLength as number) > (this.#fixedLength ?? Infinity)) {
      throw new TabServeError(
        'model-config',
        `handler.maxLength: the model takes ${this.#fixedLength} tokens, got ${String(maxLength)}.`,
      );
    }
    const { single } = this.#tokenizer.addedTokens;
    const limit = this.#limit(maxLength as number | undefined);
    if (limit <= single)
      throw new TabServeError(
        'model-config',
        `handler.maxLength: the tokenizer adds ${single} tokens, so a row needs more than ${limit}.`,
      );
  }

  /** Tokens of a row, at most. */
  #limit(maxLength: number | undefined): number {
    return Math.min(maxLength ?? this.#tokenizer.maxLength ?? Infinity, this.#fixedLength ?? Infinity);
  }

  /** A letter, through the tokenizer: it suits models whose dims are dynamic. */
  override example(context: Context): Tensors | Promise<Tensors | undefined> {
    const overridden =
      (this.constructor as typeof TextHandler).prototype.preprocess !== TextHandler.prototype.preprocess;
    if (overridden) return Promise.resolve(super.example(context));
    const { ids, typeIds } = this.#tokenizer.encode('a', undefined, this.#limit(undefined));
    return this.#feeds([ids.length > 0 ? { ids, typeIds } : { ids: [0], typeIds: [0] }]);
  }

  /** Texts → the model's inputs. */
  override async preprocess(data: readonly Row<TextInput>[], context: Context): Promise<Tensors> {
    const rows = await Promise.all(data.map((item, index) => this.#encode(unwrap(item), index, context)));
    const good = rows.find((row) => row !== undefined);
    return good ? this.#feeds(rows.map((row) => row ?? good)) : {};
  }

  async #encode(input: TextInput, index: number, context: Context): Promise<Encoding | undefined> {
    try {
      const { text, textPair } = await readText(input);
      const limit = this.#limit(this.param<number | undefined>('maxLength', index, context));
      const row = this.#tokenizer.encode(text, textPair, limit);
      if (row.ids.length === 0) throw new TabServeError('invalid-input', 'This text has no tokens.');
      return row;
    } catch (error) {
      context.fail(index, asTabServeError(error, 'preprocess'));
      return undefined;
    }
  }

  #feeds(rows: readonly Encoding[]): Tensors {
    return this.#isBag ? this.#bag(rows) : this.#padded(rows);
  }

  /** The rows' tokens, one row after the other, and where each begins. */
  #bag(rows: readonly Encoding[]): Tensors {
    const offsets = this.model.inputs.find((input) => input !== this.inputInfo)!;
    let at = 0;
    const starts = rows.map(({ ids }) => (at += ids.length) - ids.length);
    return { [this.inputInfo.name]: integers(this.inputInfo.dtype, [at], rows.flatMap(({ ids }) => ids)), [offsets.name]: integers(offsets.dtype, [rows.length], starts) }; // prettier-ignore
  }

  #padded(rows: readonly Encoding[]): Tensors {
    const { id, typeId, side, length: wanted = 0, multipleOf } = this.#tokenizer.padding;
    const longest = Math.max(...rows.map(({ ids }) => ids.length));
    const length = this.#fixedLength ?? Math.max(wanted, Math.ceil(longest / multipleOf) * multipleOf);
    const lines = {
      [this.inputInfo.name]: rows.map(({ ids }) => pad(ids, length, id, side)),
      [MASK]: rows.map(({ ids }) => pad(ids.map(() => 1), length, 0, side)), // prettier-ignore
      [TYPES]: rows.map(({ typeIds }) => pad(typeIds, length, typeId, side)),
    };
    return Object.fromEntries(
      this.model.inputs.map(({ name, dtype }) => [name, integers(dtype, [rows.length, length], lines[name]!.flat())]),
    );
  }
}

/** A text as Unicode: half of a surrogate pair, which is none, becomes U+FFFD, as it does in UTF-8. */
async function readText(input: TextInput): Promise<{ text: string; textPair: string | undefined }> {
  const { text, textPair } =
    input instanceof Blob
      ? { text: await input.text() }
      : typeof input === 'string'
        ? { text: input }
        : ((input ?? {}) as { text?: string; textPair?: string });
  if (typeof text !== 'string' || (textPair !== undefined && typeof textPair !== 'string')) {
    throw new TabServeError(
      'invalid-input',
      `Expected a text, a Blob of UTF-8, or { text, textPair }, got ${input === null ? 'null' : Array.isArray(input) ? 'a list' : typeof input}.`,
    );
  }
  return { text: wellFormed(text), textPair: textPair === undefined ? undefined : wellFormed(textPair) };
}

function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD');
}

function pad(values: readonly number[], length: number, filler: number, side: 'left' | 'right'): readonly number[] {
  const padding = Array.from({ length: length - values.length }, () => filler);
  return side === 'right' ? [...values, ...padding] : [...padding, ...values];
}

function integers(dtype: DType, dims: readonly number[], values: readonly number[]): Tensor {
  return { dtype, dims, data: dtype === 'int64' ? BigInt64Array.from(values, BigInt) : Int32Array.from(values) };
}
