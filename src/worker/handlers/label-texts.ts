/** The labels that a request looks for in an image or a sound: their texts, and the model's inputs for them. */
import { TabServeError } from '../../contract/errors.js';
import type { Context, Params } from '../../contract/handler.js';
import type { Session, TensorInfo, Tensors } from '../../contract/tensors.js';
import { nextTask } from '../../shared/next-task.js';
import { checkScores } from '../outputs/scores.js';
import { slice } from '../tensors/tensors.js';
import { loadHuggingFace, type HuggingFaceTokenizer } from '../text/hugging-face.js';
import { IDS_INPUT, paddedLength, padRows, TEXT_INPUTS } from '../text/text-inputs.js';

/** The `params` of a handler that looks in images or sounds for labels. */
export interface LabelParams {
  /**
   * The labels to look for. Without a default in the config, each request has its own.
   * @minItems 1
   */
  readonly labels?: readonly string[];
  /** The text that the model reads for each label, with {} for the label. */
  readonly hypothesisTemplate?: string;
}

const PLACE = '{}';

/** How many tokens a text has. */
export interface TextLengths {
  /**
   * The largest number of tokens in a text, including special tokens; longer texts are truncated. Default: the
   * limit in the tokenizer's files.
   * @integer
   * @minimum 1
   */
  readonly maxLength?: number;
  /**
   * The number of tokens that shorter texts are padded to, for a model that was trained so, as SigLIP. Default:
   * the longest text.
   * @integer
   * @minimum 1
   */
  readonly padTo?: number;
}

/** SigLIP's models were trained with texts of this many tokens. */
const SIGLIP_TOKENS = 64;

/** Returns the keys of `handler:` that follow from the `config.json` of a model of images and texts. */
export function siglipLengths({ model_type: type }: Params): Params {
  return type === 'siglip' ? { padTo: SIGLIP_TOKENS } : {};
}

/** Returns the value of a parameter for a row. */
export type ParamOf = (name: string) => unknown;

/** Returns the labels of a row. @throws `invalid-input` if there are none */
export function labelsOf(param: ParamOf): readonly string[] {
  const labels = param('labels') as readonly string[] | undefined;
  if (labels) return labels;
  throw new TabServeError(
    'invalid-input',
    'labels: there are none to look for. Pass them in params, or set handler.labels in the config.',
  );
}

/** Returns the text of each label of a row. @throws `invalid-input` */
export function textsOf(param: ParamOf): readonly string[] {
  const template = param('hypothesisTemplate') as string;
  if (!template.includes(PLACE))
    throw new TabServeError('invalid-input', `hypothesisTemplate: it has no ${PLACE}, where the label stands.`);
  return labelsOf(param).map((label) => template.replaceAll(PLACE, () => label));
}

/** Fails the rows whose labels are wrong, or missing. */
export function checkLabels(context: Context, paramOf: (index: number) => ParamOf): void {
  for (let index = 0; index < context.systemProperties.batchSize; index++) {
    try {
      textsOf(paramOf(index));
    } catch (error) {
      context.fail(index, error);
    }
  }
}

/** Returns the different texts of all rows of a batch; of a row whose labels are wrong, none. */
export function differentTexts(
  { systemProperties: { batchSize } }: Context,
  paramOf: (index: number) => ParamOf,
): readonly string[] {
  const texts = Array.from({ length: batchSize }, (_, index) => {
    try {
      return textsOf(paramOf(index));
    } catch {
      // Its row has failed with this error.
      return [];
    }
  });
  return [...new Set(texts.flat())];
}

/**
 * Returns a function that returns the labels of row `index`, and the logits of their texts.
 * @param logits `[rows, texts]`, for the different texts of all rows
 */
export function labelLogits(
  logits: Float32Array,
  context: Context,
  paramOf: (index: number) => ParamOf,
): (index: number) => { readonly labels: readonly string[]; readonly logits: Float32Array } {
  const columns = new Map(differentTexts(context, paramOf).map((text, column) => [text, column]));
  return (index) => {
    const param = paramOf(index);
    const own = Float32Array.from(textsOf(param), (text) => logits[index * columns.size + columns.get(text)!]!);
    checkScores(own, 'logits', false);
    return { labels: labelsOf(param), logits: own };
  };
}

/** A model that reads images or sounds together with texts: it fills the inputs for texts, and runs the model. */
export class LabelTexts {
  readonly #model: Session;
  readonly #imageInput: TensorInfo;
  readonly #inputs: readonly TensorInfo[];
  readonly #tokenizer: HuggingFaceTokenizer;
  readonly #lengths: TextLengths;
  readonly #warn: Context['warn'];

  private constructor(
    model: Session,
    imageInput: TensorInfo,
    tokenizer: HuggingFaceTokenizer,
    lengths: TextLengths,
    warn: Context['warn'],
  ) {
    this.#model = model;
    this.#imageInput = imageInput;
    this.#inputs = model.inputs.filter(({ name }) => TEXT_INPUTS.includes(name));
    this.#tokenizer = tokenizer;
    this.#lengths = lengths;
    this.#warn = warn;
  }

  /**
   * Loads the tokenizer.
   * @throws `model-config` if the model reads no texts, or fixes the number of images or texts at more than one
   */
  static async load(
    model: Session,
    imageInput: TensorInfo,
    { files, warn }: Context,
    lengths: TextLengths = {},
    senses: 'images' | 'sounds' = 'images',
  ): Promise<LabelTexts> {
    const ids = model.inputs.find(({ name }) => name === IDS_INPUT);
    if (!ids || imageInput.dims.length !== 4)
      throw new TabServeError(
        'model-config',
        `A handler that looks in ${senses} for labels needs a model with inputs for ${senses} and for texts ("${IDS_INPUT}"), but this model's inputs are ${model.inputs.map(({ name }) => `"${name}"`).join(', ')}. Export both parts of the model as one file.`,
      );
    for (const { name, dims } of [ids, imageInput])
      if (typeof dims[0] === 'number' && dims[0] > 1)
        throw new TabServeError(
          'model-config',
          `The model's input "${name}" has a batch of ${dims[0]}. Export the model with a batch of any size, or of 1.`,
        );
    return new LabelTexts(model, imageInput, await loadHuggingFace(files), lengths, warn);
  }

  /**
   * Returns the model's inputs for texts, `[texts, tokens]`. A text that is too long is truncated, with a warning.
   * @param padTo shorter texts are padded to this many tokens
   */
  feeds(texts: readonly string[], padTo = this.#lengths.padTo ?? 0): Tensors {
    const { padding } = this.#tokenizer;
    const { maxLength = this.#tokenizer.maxLength ?? Infinity } = this.#lengths;
    const size = this.#inputs[0]!.dims[1];
    const fixed = typeof size === 'number' ? size : undefined;
    const limit = Math.min(maxLength, fixed ?? Infinity);
    const rows = texts.map((text) => this.#tokenizer.encode(text, undefined, limit));
    if (rows.some(({ isTruncated }) => isTruncated))
      this.#warn(
        `The text of a label has more tokens than the limit of ${limit}, and was truncated: labels that begin alike may be the same to the model. Pass shorter labels.`,
      );
    const longest = paddedLength(padding, Math.max(...rows.map(({ ids }) => ids.length)));
    return padRows(rows, this.#inputs, padding, fixed ?? Math.max(longest, padTo));
  }

  /**
   * Runs the model on the images of a batch with texts; on one image after the other, if it takes one at a time.
   * @param texts the model's inputs for texts
   * @returns the outputs of each run
   */
  async run(images: Tensors, texts: Tensors, { signal, heartbeat }: Context): Promise<readonly Tensors[]> {
    const rows = images[this.#imageInput.name]!.dims[0]!;
    const step = typeof this.#imageInput.dims[0] === 'number' ? 1 : rows;
    const runs: Tensors[] = [];
    for (let row = 0; row < rows; row += step) {
      const own = Object.entries(images).map(([name, tensor]) => [name, slice(tensor, row, row + step)] as const);
      runs.push(await this.#model.run({ ...Object.fromEntries(own), ...texts }, { signal }));
      heartbeat();
      await nextTask();
    }
    return runs;
  }

  /** Returns the model's inputs for images, with those for a text of one letter. */
  withText(images: Tensors): Tensors {
    return { ...images, ...this.feeds(['a']) };
  }

  /** Whether the model takes one text at a time. */
  get takesOneText(): boolean {
    return typeof this.#inputs[0]!.dims[0] === 'number';
  }
}
