import { TabServeError } from '../../../contract/errors.js';
import type { Context } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Signature } from '../../../contract/task.js';
import type { Tensors } from '../../../contract/tensors.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import { nextTask } from '../../../shared/next-task.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { speechChunks } from '../../audio/speech-chunks.js';
import { numbersOf } from '../../outputs/rows.js';
import type { SpokenPart, SpokenText } from '../../outputs/spoken-text.js';
import { decodeFrames, joinText, joinWords, type TextPart } from './ctc-text.js';
import { zeroMeanUnitVariance } from '../../audio/samples.js';
import { integers, toFloats } from '../../tensors/tensors.js';
import { AudioHandler } from '../../handlers/audio-handler.js';
import { PREPROCESSOR } from '../../handlers/speech-files.js';
import { MASK, readSpeechModel, TOKENIZER_CONFIG, VOCABULARY, type SpeechModel } from './speech-model.js';
import { SPEECH_RECOGNIZER_SCHEMA } from './schemas.js';
import { floatOutput } from '../../outputs/floats.js';
import type { AudioHandlerConfig } from '../../handlers/audio-handler.js';

/** The `params` of `speech_recognizer`. */
export interface SpeechRecognizerParams {
  /** Whether the answer says when each word or each character was said. Default: neither. */
  readonly timestamps?: 'word' | 'character';
  /**
   * Seconds: longer sound is divided into chunks of this length, which overlap by a third.
   * @minimum 1
   * @default 30
   */
  readonly chunkLength?: number;
}

export type { SpokenPart, SpokenText } from '../../outputs/spoken-text.js';

/** The key of every handler of sound; the default is the repository's. */

/** What `inference` returns: the likeliest class of each frame, int32 `[rows, frames]`; −1 after a row's last one. */
const FRAMES = 'frames';

/** The keys of `handler:` that only the config sets. */
export interface SpeechRecognizerConfig extends AudioHandlerConfig {
  /**
   * The samples per second of the model. Sound of another rate is resampled. Default: that of
   * preprocessor_config.json.
   * @integer
   * @minimum 1000
   * @maximum 768000
   */
  readonly sampleRate?: number;
}

/**
 * Transcribes a recording with a CTC model such as wav2vec 2.0, HuBERT or WavLM, which returns a score for each
 * character in each frame of sound. The text is that of transformers' pipeline `automatic-speech-recognition`: the
 * likeliest characters, without a language model. Sound longer than `chunkLength` is divided into chunks, as with the
 * pipeline's `chunk_length_s`. The rows of a batch run one after the other, so that padding changes no answer.
 *
 * It reads `vocab.json`, `tokenizer_config.json`, `preprocessor_config.json` and `config.json` of the repository.
 * @sample { "params": { "timestamps": "word" } }
 * @answer `{ text }`; with `timestamps` `{ text, parts: [{ text, start, end }, …] }`, in seconds
 */
export class SpeechRecognizer extends AudioHandler<SpokenText> {
  declare readonly paramsType?: SpeechRecognizerParams;

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['ForCTC'],
    files: [VOCABULARY, TOKENIZER_CONFIG, PREPROCESSOR, HF_CONFIG],
  };

  static override readonly nearest: readonly Signature[] = [
    { order: 30, reads: 'sound', main: { rank: 3, isLogits: true } },
  ];

  declare readonly configType?: SpeechRecognizerConfig;
  static override readonly schema: ConfigSchema = SPEECH_RECOGNIZER_SCHEMA;

  /** The example is for the model: `inference` divides the sound of its rows. */
  readonly exampleIsForModel = true;

  #speech!: SpeechModel;

  /**
   * Opens the model and reads its vocabulary.
   * @throws `model-config` if the files say what this handler cannot do, or what the model is not
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    const { sampleRate } = this.config as { readonly sampleRate?: number };
    this.outputInfo = floatOutput(this.outputInfo, this.model.outputs, this.config);
    this.#speech = await readSpeechModel(context.files, this.model, this.inputInfo, this.outputInfo, sampleRate);
  }

  protected override get sampleRate(): number {
    return this.#speech.sampleRate;
  }

  override example(_context: Context): Tensors {
    return this.#feeds(new Float32Array(this.sampleRate));
  }

  /** Those of the model's first frame. */
  protected override get leastSamples(): number {
    return this.#speech.leastSamples;
  }

  /** Runs the model on each row alone, chunk by chunk. */
  override async inference(inputs: Tensors, context: Context): Promise<Tensors> {
    const { data, dims } = inputs[this.inputInfo.name]!;
    const [rows, length] = dims as readonly [number, number];
    const classes: number[][] = Array.from({ length: rows }, () => []);
    for (const [index, own] of classes.entries()) {
      if (context.failures.has(index)) continue;
      const row = (data as Float32Array).subarray(index * length, index * length + this.sampleCount(index, context));
      const seconds = this.param<number>('chunkLength', index, context);
      for (const { start, end, from, to } of speechChunks(row.length, seconds * this.sampleRate, this.#speech.ratio)) {
        const outputs = await this.model.run(this.#feeds(row.subarray(start, end)), { signal: context.signal });
        for (const likeliest of this.#likeliest(outputs).slice(from, to)) own.push(likeliest);
        context.heartbeat();
        await nextTask();
      }
    }
    const most = Math.max(...classes.map((row) => row.length));
    const frames = new Int32Array(rows * most).fill(-1);
    for (const [index, own] of classes.entries()) frames.set(own, index * most);
    return { [FRAMES]: { dtype: 'int32', dims: [rows, most], data: frames } };
  }

  protected override rowResults(outputs: Tensors, context: Context): (index: number) => SpokenText {
    const { data, dims } = numbersOf(outputs, FRAMES);
    const { vocabulary, ratio, clean } = this.#speech;
    const most = dims[1]!;
    return (index) => {
      const row = (data as Int32Array).subarray(index * most, (index + 1) * most);
      const end = row.indexOf(-1);
      const parts = decodeFrames(end < 0 ? row : row.subarray(0, end), vocabulary);
      const text = clean(joinText(parts, vocabulary));
      const seconds = (part: TextPart): SpokenPart => ({
        text: part.text,
        start: (part.start * ratio) / this.sampleRate,
        end: (part.end * ratio) / this.sampleRate,
      });
      const timestamps = this.param<SpeechRecognizerParams['timestamps']>('timestamps', index, context);
      if (timestamps === undefined) return { text };
      return { text, parts: (timestamps === 'word' ? joinWords(parts, vocabulary) : parts).map(seconds) };
    };
  }

  protected override emptyResult: SpokenText = { text: '' };

  /** Returns the model's inputs for a chunk of sound. */
  #feeds(samples: Float32Array): Tensors {
    const dims = [1, samples.length];
    const { isNormalized, mask } = this.#speech;
    return {
      [this.inputInfo.name]: { dtype: 'float32', dims, data: isNormalized ? zeroMeanUnitVariance(samples) : samples },
      ...(mask && {
        [MASK]: integers(
          mask,
          dims,
          Array.from(samples, () => 1),
        ),
      }),
    };
  }

  /** Returns the likeliest class of each frame. @throws `inference-failed` if a frame has a score that is no number */
  #likeliest(outputs: Tensors): Int32Array {
    const output = numbersOf(outputs, this.outputInfo.name);
    const scores = toFloats(output);
    const classes = output.dims.at(-1)!;
    return Int32Array.from({ length: scores.length / classes }, (_, frame) => {
      let best = 0;
      for (let index = 0; index < classes; index++) {
        const score = scores[frame * classes + index]!;
        if (Number.isNaN(score))
          throw new TabServeError('inference-failed', `The model's output has NaN in frame ${frame}.`);
        if (score > scores[frame * classes + best]!) best = index;
      }
      return best;
    });
  }
}
