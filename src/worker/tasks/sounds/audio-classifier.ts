import type { Context } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Signature } from '../../../contract/task.js';
import type { Tensors } from '../../../contract/tensors.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import type { AudioHandlerConfig } from '../../handlers/audio-handler.js';
import {
  activationOf,
  thresholdOf,
  type SeveralLabelsConfig,
  type SeveralLabelsParams,
} from '../../handlers/several-labels.js';
import { PREPROCESSOR } from '../../handlers/speech-files.js';
import { activationFault } from '../../outputs/activation.js';
import {
  checkClasses,
  classify,
  rowScores,
  type Classification,
  type ClassScoreKind,
} from '../../outputs/classification.js';
import { checkFilled, numbersOf } from '../../outputs/rows.js';
import { toFloats } from '../../tensors/tensors.js';
import { AUDIO_CLASSIFIER_SCHEMA } from './schemas.js';
import { SoundHandler } from './sound-handler.js';

/** The `params` of an audio classifier. */
export interface AudioClassifierParams extends SeveralLabelsParams {
  /**
   * The number of classes in a result, likeliest first. If the model has fewer classes, a result has all of them.
   * @integer
   * @minimum 1
   * @default 5
   */
  readonly topK?: number;
  /**
   * What the model's output holds: logits, which softmax (with multiLabel: sigmoid) converts to probabilities;
   * probabilities; or values, which are the scores, as of a regression.
   * @default 'logits'
   */
  readonly output?: ClassScoreKind;
}

/**
 * Returns the likeliest classes of each recording: which word was said, by whom, in which language or mood, or what else
 * is heard. The labels and scores are those of transformers' pipeline `audio-classification`, for heads of wav2vec 2.0,
 * HuBERT, WavLM, UniSpeech and their like, of Whisper's encoder, and for the Audio Spectrogram Transformer. Of a
 * recording that is longer than the window of a spectrogram, its beginning is heard: 30 seconds for Whisper, 10 for the
 * Audio Spectrogram Transformer. The rows of a batch run one after the other, so that padding changes no answer.
 *
 * A model without an axis of rows, `[samples]` → `[frames, classes]`, such as YAMNet, is heard whole: the scores are the
 * means over the frames.
 *
 * It reads `preprocessor_config.json` and `config.json` of the repository; without the first one, the model's input is
 * the samples.
 * @answer `[{ label, score }, …]`, best first
 */
export class AudioClassifier extends SoundHandler<Classification> {
  declare readonly paramsType?: AudioClassifierParams;
  declare readonly configType?: AudioHandlerConfig & SeveralLabelsConfig;

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['ForAudioClassification'],
    hasClasses: true,
    files: [PREPROCESSOR, HF_CONFIG],
    /** Applies the rules of transformers' pipeline, which has no threshold. */
    handlerConfig(config, own) {
      if (config['problem_type'] === 'regression') return own['output'] === undefined ? { output: 'values' } : {};
      return config['problem_type'] === 'multi_label_classification' ? { multiLabel: true, threshold: 0 } : {};
    },
  };

  static override readonly nearest: readonly Signature[] = [
    { order: 35, reads: 'sound', main: { rank: 2, isLogits: true } },
  ];

  static override readonly schema: ConfigSchema = AUDIO_CLASSIFIER_SCHEMA;

  protected readonly handlerName = 'audio_classifier';

  /**
   * Opens the model and checks its output.
   * @throws `model-config` if the output does not hold one number for each class, if the labels do not fit the classes,
   *   or if the config has a `threshold` without `multiLabel`
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    checkClasses(this.outputInfo, this.mapping);
    const kind = this.param<ClassScoreKind>('output', 0, context);
    const fault = kind === 'values' ? undefined : activationFault(this.outputInfo, kind);
    if (fault !== undefined) context.warn(fault);
    thresholdOf(this.config, this.param('threshold', 0, context), 'model-config');
  }

  /** Runs the model on one recording. Scores of frames become one row, their means. */
  protected override async runRow(sound: Tensors, context: Context): Promise<Tensors> {
    const outputs = await super.runRow(sound, context);
    const { name } = this.outputInfo;
    if (this.inputInfo.dims.length !== 1) return outputs;
    const scores = numbersOf(outputs, name);
    const [frames = 0, classes = 1] = scores.dims.length === 2 ? scores.dims : [1, scores.dims[0]];
    checkFilled(name, scores);
    const data = new Float32Array(classes);
    const all = toFloats(scores);
    for (let at = 0; at < all.length; at++) data[at % classes]! += all[at]! / frames;
    return { [name]: { dtype: 'float32', dims: [1, classes], data } };
  }

  /** Converts the model's output, `[rows, classes]`, to the likeliest classes of each row. */
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => Classification {
    const info = this.outputInfo;
    const output = numbersOf(outputs, info.name);
    const scores = rowScores({ info, output, labels: this.mapping }, context.systemProperties.batchSize);
    return (index) =>
      classify(scores[index]!, this.mapping, {
        output: this.param('output', index, context),
        activation: activationOf(this.config),
        topK: this.param('topK', index, context),
        threshold: thresholdOf(this.config, this.param('threshold', index, context), 'invalid-input'),
        result: 'typed',
        recordOrder: 'score',
      }) as Classification;
  }

  protected override emptyResult: Classification = [];
}
