import type { AudioInput } from '../../../contract/audio.js';
import { TabServeError } from '../../../contract/errors.js';
import type { Context } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Signature } from '../../../contract/task.js';
import type { Tensors } from '../../../contract/tensors.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import type { AudioHandlerConfig } from '../../handlers/audio-handler.js';
import {
  checkLabels,
  differentTexts,
  LabelTexts,
  type LabelParams,
  type ParamOf,
  type TextLengths,
  labelLogits,
} from '../../handlers/label-texts.js';
import type { Row } from '../../handlers/row.js';
import { PREPROCESSOR } from '../../handlers/speech-files.js';
import type { Classification } from '../../outputs/classification.js';
import { floatOutput } from '../../outputs/floats.js';
import { numbersOf } from '../../outputs/rows.js';
import { softmax, topK } from '../../outputs/scores.js';
import { toFloats } from '../../tensors/tensors.js';
import { TEXT_INPUTS } from '../../text/text-inputs.js';
import { ZERO_SHOT_AUDIO_CLASSIFIER_SCHEMA } from './schemas.js';
import { SoundHandler } from './sound-handler.js';

/** The `params` of `zero_shot_audio_classifier`. */
export interface ZeroShotAudioClassifierParams extends LabelParams {
  /**
   * The text that the model reads for each label, with {} for the label.
   * @default 'This is a sound of {}.'
   */
  readonly hypothesisTemplate?: string;
}

/** The keys of `handler:` that only the config sets. */
export interface ZeroShotAudioClassifierConfig extends AudioHandlerConfig, TextLengths {}

/** The model's output `[sounds, texts]`. */
const LOGITS = 'logits_per_audio';

/**
 * Chooses among labels that a request names, by a model that compares sounds with texts, CLAP, as transformers' pipeline
 * `zero-shot-audio-classification` does. The model hears the sound, and reads a text about each label. Its output
 * `logits_per_audio`, `[sounds, texts]`, becomes probabilities among the labels by softmax. Of a sound that is longer
 * than ten seconds, the beginning is heard, where transformers hears a part at random; a shorter one is repeated. A
 * request without labels fails with `invalid-input`, unless `handler.labels` has some.
 *
 * The model is one file with inputs for both, `model.onnx`. `audio_text_embedder` reads its two parts. The rows of a
 * batch run one after the other.
 * @sample { "params": { "labels": ["a dog", "rain", "speech"] } }
 * @answer `[{ label, score }, …]`, best first
 */
export class ZeroShotAudioClassifier extends SoundHandler<Classification> {
  declare readonly paramsType?: ZeroShotAudioClassifierParams;

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['ClapModel'],
    processor: 'tokenizer',
    files: [PREPROCESSOR, HF_CONFIG],
  };

  static override readonly nearest: readonly Signature[] = [{ order: 9, reads: 'images-and-texts', outputs: [LOGITS] }];

  declare readonly configType?: ZeroShotAudioClassifierConfig;
  static override readonly schema: ConfigSchema = ZERO_SHOT_AUDIO_CLASSIFIER_SCHEMA;

  protected readonly handlerName = 'zero_shot_audio_classifier';

  #texts!: LabelTexts;

  /**
   * Opens the model and loads the tokenizer.
   * @throws `model-config` if the model does not read sounds and texts together
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    const name = this.config['outputName'] ?? LOGITS;
    const output = this.model.outputs.find((one) => one.name === name);
    if (!output)
      throw new TabServeError(
        'model-config',
        `handler.outputName: the model has no output "${LOGITS}", [sounds, texts]; it has ${this.model.outputs.map((one) => `"${one.name}"`).join(', ')}. Name the output, or use audio_text_embedder for a model that returns vectors.`,
      );
    this.outputInfo = floatOutput(output, [], this.config);
    this.#texts = await LabelTexts.load(this.model, this.inputInfo, context, this.config, 'sounds');
  }

  /** Reads no labels of the model: `handler.labels` are those to choose from. */
  protected override readLabels(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  protected override get otherInputs(): readonly string[] {
    return TEXT_INPUTS;
  }

  override example(context: Context): Tensors {
    return this.#texts.withText(super.example(context));
  }

  /** Reads the sounds. A row without labels fails. */
  override async preprocess(data: readonly Row<AudioInput>[], context: Context): Promise<Tensors> {
    checkLabels(context, (index) => this.#paramOf(index, context));
    return await super.preprocess(data, context);
  }

  /** Runs the model on a sound, with the texts of all rows. */
  protected override async runRow(sound: Tensors, context: Context): Promise<Tensors> {
    return await super.runRow({ ...sound, ...this.#texts.feeds(this.#allTexts(context)) }, context);
  }

  /** Converts the model's output, `[sounds, texts]`, to the labels of each sound. */
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => Classification {
    const logits = toFloats(numbersOf(outputs, this.outputInfo.name));
    const own = labelLogits(logits, context, (index) => this.#paramOf(index, context));
    return (index) => {
      const { labels, logits } = own(index);
      return topK(softmax(logits), labels.length).map(({ index: at, score }) => ({ label: labels[at]!, score }));
    };
  }

  protected override emptyResult: Classification = [];

  /** Returns the different texts of all rows. */
  #allTexts(context: Context): readonly string[] {
    return differentTexts(context, (index) => this.#paramOf(index, context));
  }

  #paramOf(index: number, context: Context): ParamOf {
    return (name) => this.param(name, index, context);
  }
}
