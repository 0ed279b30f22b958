import type { Context } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import { TabServeError } from '../../../contract/errors.js';
import type { Tensors } from '../../../contract/tensors.js';
import { checkClasses, type Classification } from '../../outputs/classification.js';
import type { Labels } from '../../outputs/labels.js';
import { numbersOf } from '../../outputs/rows.js';
import { checkScores, softmax, topK } from '../../outputs/scores.js';
import { toFloats } from '../../tensors/tensors.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { readText } from '../../text/read-text.js';
import type { Encoding } from '../../text/tokenizer.js';
import { TextHandler, type TextInput, type TextParams } from '../../handlers/text-handler.js';
import { floatOutput } from '../../outputs/floats.js';
import { ZERO_SHOT_TEXT_CLASSIFIER_SCHEMA } from './schemas.js';

/** The `params` of `zero_shot_text_classifier`. */
export interface ZeroShotTextClassifierParams extends TextParams {
  /**
   * The labels to choose from. Without a default in the config, each request has its own.
   * @minItems 1
   */
  readonly labels?: readonly string[];
  /**
   * The sentence that the text must entail, with {} for the label.
   * @default 'This example is {}.'
   */
  readonly hypothesisTemplate?: string;
  /**
   * Whether each label is judged alone: a text may then have several of them, or none.
   * @default false
   */
  readonly multiLabel?: boolean;
}

const PLACE = '{}';

/**
 * Chooses among labels that a request names, by a model that was trained to tell whether a text entails a sentence, as
 * transformers' pipeline `zero-shot-classification` does. For each label the model reads the text and a sentence about
 * the label. A score is the probability of entailment: among the labels, or with `multiLabel` against contradiction. A
 * single label is always judged alone. A request without labels fails with `invalid-input`, unless `handler.labels` has
 * some.
 * @sample { "input": "The team has won in the last minute, and its fans sang in the streets all night.", "params":
 *   { "labels": ["sports", "science", "politics"] } }
 * @answer `[{ label, score }, …]`, best first
 */
export class ZeroShotTextClassifier extends TextHandler<Classification> {
  declare readonly paramsType?: ZeroShotTextClassifierParams;

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['ForSequenceClassification'],
    label: 'entail',
    processor: 'tokenizer',
    hasClasses: true,
  };

  static override readonly schema: ConfigSchema = ZERO_SHOT_TEXT_CLASSIFIER_SCHEMA;

  /** The classes of the model: which is entailment, and which contradiction. */
  #entailment!: number;
  #contradiction!: number;

  /**
   * Opens the model, and finds its class of entailment: that of the label that begins so, else the last one.
   * @throws `model-config` if the output does not hold one number for each of two classes or more
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    this.outputInfo = floatOutput(this.outputInfo, this.model.outputs, this.config);
    checkClasses(this.outputInfo, undefined);
    const labels = Object.entries(this.mapping ?? {});
    const named = labels.find(([, label]) => label.toLowerCase().startsWith('entail'));
    const size = this.outputInfo.dims.at(-1);
    const classes = typeof size === 'number' ? size : labels.length;
    if (classes < 2)
      throw new TabServeError(
        'model-config',
        `The model has ${classes} class${classes === 1 ? '' : 'es'}; one that tells whether a text entails a sentence has two or more. Use text_classifier for other models.`,
      );
    this.#entailment = named ? Number(named[0]) : classes - 1;
    this.#contradiction = this.#entailment === 0 ? classes - 1 : 0;
  }

  protected override async encodeRow(input: TextInput, index: number, context: Context): Promise<readonly Encoding[]> {
    const { text, textPair } = await readText(input);
    if (textPair !== undefined)
      throw new TabServeError('invalid-input', 'textPair: the second texts are made of the labels. Pass a text alone.');
    const template = this.param<string>('hypothesisTemplate', index, context);
    if (!template.includes(PLACE))
      throw new TabServeError('invalid-input', `hypothesisTemplate: it has no ${PLACE}, where the label stands.`);
    return this.#labels(index, context).map((label) =>
      this.encode(
        text,
        template.replaceAll(PLACE, () => label),
        index,
        context,
      ),
    );
  }

  /** Converts the model's output, `[rows, classes]`, to the labels of each text. */
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => Classification {
    const output = numbersOf(outputs, this.outputInfo.name);
    const classes = output.dims.at(-1)!;
    const logits = toFloats(output);
    return (index) => {
      const { first, encodings } = this.modelRows(index, context)!;
      const labels = this.#labels(index, context);
      const own = logits.subarray(first * classes, (first + encodings.length) * classes);
      checkScores(own, 'logits', false);
      const entails = labels.map((_, at) => own[at * classes + this.#entailment]!);
      const isAlone = labels.length === 1 || this.param<boolean>('multiLabel', index, context);
      const scores = isAlone
        ? entails.map((logit, at) => softmax([own[at * classes + this.#contradiction]!, logit])[1]!)
        : softmax(entails);
      return topK(scores, labels.length).map(({ index: at, score }) => ({ label: labels[at]!, score }));
    };
  }

  protected override emptyResult: Classification = [];

  /** Reads `handler.labels`: those to choose from, not the model's. */
  protected override async readLabels(context: Context): Promise<Labels | undefined> {
    return await super.readLabels(context, undefined);
  }

  #labels(index: number, context: Context): readonly string[] {
    const labels = this.param<readonly string[] | undefined>('labels', index, context);
    if (labels) return labels;
    throw new TabServeError('invalid-input', 'labels: there are none to choose from. Pass them in params.');
  }
}
