import type { Context, InputKind } from '../../contract/handler.js';
import type { HuggingFaceTask } from '../../contract/hugging-face-task.js';
import type { TensorInfo, Tensors } from '../../contract/tensors.js';
import { asTabServeError, TabServeError } from '../../contract/errors.js';
import { loadHuggingFace, type HuggingFaceTokenizer } from '../text/hugging-face.js';
import { concat, slice } from '../tensors/tensors.js';
import { IDS_INPUT } from '../text/text-inputs.js';
import { readText } from '../text/read-text.js';
import { loadTorchServe } from '../text/torchserve.js';
import type { Encoding, TextTokenizer } from '../text/tokenizer.js';
import { nextTask } from '../../shared/next-task.js';
import type { ConfigSchema } from '../../shared/schema.js';
import { BaseHandler } from './base-handler.js';
import { declareStandard, isStandard } from './handler-contract.js';
import { unwrap, type Row } from './row.js';
import { TextTensorInput } from './text-input.js';
import { TEXT_HANDLER_SCHEMA } from './schemas.js';
import type { BaseHandlerConfig } from './base-handler.js';

/** The input of one row: a text, a Blob of UTF-8, or a pair of texts, such as a question and a passage. */
export type TextInput = string | Blob | { readonly text: string; readonly textPair?: string };

/** What the model runs on for one row of a batch. */
export interface ModelRows {
  /** The first row of the model's inputs and outputs. */
  readonly first: number;
  readonly encodings: readonly Encoding[];
}

/** The maximum number of rows of one run of the model, where a row of a batch is several of the model's. */
const MAX_ROWS = 16;

/** The `params` of every text handler. */
export interface TextParams {
  /**
   * The largest number of tokens in a row, including special tokens; longer texts are truncated. A pair has more
   * special tokens than a text; if they leave no room for the texts, the row fails. Default: the limit in the
   * tokenizer's files.
   * @integer
   * @minimum 1
   */
  readonly maxLength?: number;
}

/** The keys of `handler:` that only the config sets. */
export interface TextHandlerConfig extends BaseHandlerConfig {
  /**
   * The tokenizer: the archive's tokenizer.json (huggingface), or TorchServe's pipeline with source_vocab.json
   * (torchserve).
   * @default 'huggingface'
   */
  readonly tokenizer?: 'huggingface' | 'torchserve';
  /**
   * The number of tokens that shorter rows are padded to, for a model that was trained so, as SigLIP. Default: the
   * longest row of the batch.
   * @integer
   * @minimum 1
   */
  readonly padTo?: number;
  /**
   * What a model's input `position_ids` counts from: of models such as RoBERTa, one more than the id of the padding.
   * @integer
   * @minimum 0
   * @default 0
   */
  readonly firstPosition?: number;
  /**
   * For TorchServe's pipeline: the number of words in the longest n-grams that it looks up.
   * @integer
   * @minimum 1
   * @maximum 10
   * @default 2
   */
  readonly ngrams?: number;
}

/**
 * Tokenizes texts and creates the model's tensors. The rows of a batch may differ in length.
 *
 * If the model's inputs have rank 2, they are `input_ids` and, if the model has them, `attention_mask`,
 * `token_type_ids` and `position_ids` (they count the tokens that are no padding, from `firstPosition` on); the cache
 * of a language model, `past_key_values`, is empty. Rows are padded to the longest row of the batch, or to the length that the model fixes; without an input `attention_mask`, rows of
 * different lengths run one by one. If the inputs have rank 1, the first input holds the tokens of all rows, and the
 * second input holds the offset of each row, as for PyTorch's EmbeddingBag. If a text cannot be read or has no
 * tokens, only its row fails.
 * @answer the model's outputs: tensors by name
 */
export class TextHandler<Result = Tensors, Explanation = unknown, Input = TextInput> extends BaseHandler<
  Input,
  Result,
  Explanation
> {
  declare readonly paramsType?: TextParams;

  static override readonly takes: InputKind = 'text';
  static override readonly huggingFace: HuggingFaceTask = { processor: 'tokenizer' };
  declare readonly configType?: TextHandlerConfig;
  static override readonly schema: ConfigSchema = TEXT_HANDLER_SCHEMA;

  #input!: TextTensorInput;
  #tokenizer!: TextTokenizer;
  /** The rows of a batch. */
  readonly #rows = new WeakMap<Context, readonly ModelRows[]>();

  /**
   * Opens the model and loads the tokenizer.
   * @throws `model-config` if the vocabulary is missing, if the config has `ngrams` without TorchServe's pipeline, or
   *   if the model has an input that a tokenizer cannot fill
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    this.inputInfo = this.#idsInput();
    this.#input = new TextTensorInput(this.model.inputs, this.inputInfo);
    this.#tokenizer = await this.#loadTokenizer(context);
    this.#checkLength();
  }

  async #loadTokenizer({ files }: Context): Promise<TextTokenizer> {
    const { tokenizer, ngrams } = this.config;
    if (tokenizer === 'torchserve') return await loadTorchServe(files, (ngrams ?? this.defaults['ngrams']) as number);
    if (ngrams !== undefined)
      throw new TabServeError(
        'model-config',
        'handler.ngrams: it is only for tokenizer: torchserve. A tokenizer.json defines its own tokens. Remove handler.ngrams.',
      );
    return await loadHuggingFace(files);
  }

  #idsInput(): TensorInfo {
    return (
      (this.config['inputName'] === undefined && this.model.inputs.find(({ name }) => name === IDS_INPUT)) ||
      this.inputInfo
    );
  }

  #checkLength(): void {
    const { maxLength } = this.config;
    if (maxLength !== undefined && (maxLength as number) > (this.#input.fixedLength ?? Infinity)) {
      throw new TabServeError(
        'model-config',
        `handler.maxLength: the model takes ${this.#input.fixedLength} tokens, got ${String(maxLength)}. Use at most ${this.#input.fixedLength}.`,
      );
    }
    const { single } = this.#tokenizer.addedTokens;
    const limit = this.#tokenLimit(maxLength as number | undefined);
    if (limit <= single)
      throw new TabServeError(
        'model-config',
        `handler.maxLength: the limit is ${limit} tokens, but the tokenizer adds ${single} special tokens to each text. Use more than ${single}.`,
      );
  }

  /** Returns the largest number of tokens in a row. */
  #tokenLimit(maxLength: number | undefined): number {
    return Math.min(maxLength ?? this.#tokenizer.maxLength ?? Infinity, this.#input.fixedLength ?? Infinity);
  }

  /** Returns the model's inputs for a text of one letter. Unlike zeros, they fit models with dynamic dims. */
  override example(context: Context): Tensors | Promise<Tensors | undefined> {
    if (!isStandard(this.preprocess)) return Promise.resolve(super.example(context));
    const { ids, typeIds } = this.#tokenizer.encode('a', undefined, this.#tokenLimit(undefined));
    return this.#toInputs([ids.length > 0 ? { ids, typeIds } : { ids: [0], typeIds: [0] }]);
  }

  /** Converts texts to the model's inputs. */
  override async preprocess(data: readonly Row<Input>[], context: Context): Promise<Tensors> {
    const read = await Promise.all(data.map((item, index) => this.#read(unwrap(item), index, context)));
    // A row that has failed runs as this one: its output is not read.
    const filler = read.find((one) => one !== undefined)?.[0];
    if (!filler) return {};
    let first = 0;
    const rows = read.map((encodings = [filler]): ModelRows => {
      first += encodings.length;
      return { first: first - encodings.length, encodings };
    });
    this.#rows.set(context, rows);
    return this.inputsOf(rows.flatMap(({ encodings }) => encodings));
  }

  /**
   * Runs the model, on at most 16 rows at once if a row of the batch is several of the model's.
   */
  override async inference(inputs: Tensors, context: Context): Promise<Tensors> {
    const count = this.#rows.get(context)?.reduce((sum, { encodings }) => sum + encodings.length, 0) ?? 0;
    if (count === context.systemProperties.batchSize || count <= MAX_ROWS)
      return await super.inference(inputs, context);
    const runs: Tensors[] = [];
    for (let from = 0; from < count; from += MAX_ROWS) {
      const part = Object.entries(inputs).map(([name, tensor]) => [
        name,
        slice(tensor, from, Math.min(from + MAX_ROWS, count)),
      ]);
      runs.push(await super.inference(Object.fromEntries(part) as Tensors, context));
      context.heartbeat();
      await nextTask();
    }
    return Object.fromEntries(
      Object.keys(runs[0]!).map((name) => [name, concat(runs.map((outputs) => outputs[name]!))]),
    );
  }

  static {
    declareStandard(this.prototype.preprocess, this.prototype.inference);
  }

  /**
   * Returns what the model runs on for row `index`. Returns undefined if an overriding `preprocess` did not call this
   * class's.
   */
  protected modelRows(index: number, context: Context): ModelRows | undefined {
    return this.#rows.get(context)?.[index];
  }

  /**
   * Returns the positions that hold tokens of row `index`, special tokens included; the others are padding. Returns
   * undefined if an overriding `preprocess` did not call this class's.
   * @param part which of the row's model rows it is
   */
  protected tokenSpan(
    index: number,
    context: Context,
    part = 0,
  ): { readonly start: number; readonly end: number } | undefined {
    const rows = this.#rows.get(context);
    if (!rows) return undefined;
    const { length } = rows[index]!.encodings[part]!.ids;
    const longest = Math.max(...rows.flatMap(({ encodings }) => encodings.map(({ ids }) => ids.length)));
    const start =
      this.#tokenizer.padding.side === 'right'
        ? 0
        : this.#input.paddedLength(longest, this.#tokenizer.padding, this.#padTo) - length;
    return { start, end: start + length };
  }

  /** The tokenizer of `tokenizer.json`. @throws `model-config` if the config chooses TorchServe's pipeline */
  protected get tokenizer(): HuggingFaceTokenizer {
    if ('detokenizer' in this.#tokenizer) return this.#tokenizer as HuggingFaceTokenizer;
    throw new TabServeError(
      'model-config',
      'handler.tokenizer: this handler needs a tokenizer.json. Remove tokenizer: torchserve.',
    );
  }

  /** Returns what stands before the text of row `index`. This implementation returns nothing. */
  protected prefix(_index: number, _context: Context): string {
    return '';
  }

  async #read(input: Input, index: number, context: Context): Promise<readonly Encoding[] | undefined> {
    try {
      return await this.encodeRow(input, index, context);
    } catch (error) {
      context.fail(index, asTabServeError(error, 'preprocess'));
      return undefined;
    }
  }

  /**
   * Returns what the model runs on for row `index`: one row for a text or a pair. An override may return several, whose
   * outputs `rowResults` finds with `modelRows`. What it throws fails the row.
   * @throws `invalid-input`
   */
  protected async encodeRow(input: Input, index: number, context: Context): Promise<readonly Encoding[]> {
    const { text, textPair } = await readText(input);
    return [this.encode(this.prefix(index, context) + text, textPair, index, context)];
  }

  /** Returns the tokens of a text or a pair, in at most as many as row `index` may have. @throws `invalid-input` */
  protected encode(text: string, textPair: string | undefined, index: number, context: Context): Encoding {
    const limit = this.tokenLimit(index, context);
    return this.checked(this.#tokenizer.encode(text, textPair, limit), limit, context);
  }

  /** Returns an encoding, and warns if it was truncated to `limit` tokens. @throws `invalid-input` if it has no tokens */
  protected checked<Own extends Encoding>(encoding: Own, limit: number, context: Context): Own {
    if (encoding.isTruncated)
      context.warn(
        `A text has more tokens than the limit of ${limit}, and was truncated. Pass its parts one by one if all of it counts.`,
      );
    return this.filled(encoding);
  }

  /** Returns the largest number of tokens that the model may get at once for row `index`. */
  protected tokenLimit(index: number, context: Context): number {
    return this.#tokenLimit(this.param<number | undefined>('maxLength', index, context));
  }

  /** Returns an encoding. @throws `invalid-input` if it has no tokens */
  protected filled<Own extends Encoding>(encoding: Own): Own {
    if (encoding.ids.length > 0) return encoding;
    throw new TabServeError(
      'invalid-input',
      'The tokenizer found no tokens in this text. Pass a text with at least one word of the vocabulary.',
    );
  }

  /** Returns the model's inputs for all rows at once. A handler that runs them one by one needs none. */
  protected inputsOf(rows: readonly Encoding[]): Tensors {
    return this.#toInputs(rows);
  }

  #toInputs(rows: readonly Encoding[]): Tensors {
    const firstPosition = this.config['firstPosition'] ?? this.defaults['firstPosition'];
    return this.#input.tensors(rows, this.#tokenizer.padding, this.#padTo, firstPosition as number);
  }

  get #padTo(): number {
    return (this.config['padTo'] as number | undefined) ?? 0;
  }
}
