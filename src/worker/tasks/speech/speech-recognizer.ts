import type { AudioInput } from '../../../contract/audio.js';
import type { Context, ResultKind } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Signature } from '../../../contract/task.js';
import type { Tensors } from '../../../contract/tensors.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { LivePiece, type LiveText } from '../../handlers/live-speech.js';
import { rowsOf } from '../../audio/live-samples.js';
import { recordingOf, type Recording } from '../../audio/read-audio.js';
import { speechChunks } from '../../audio/speech-chunks.js';
import type { AudioHandlerConfig } from '../../handlers/audio-handler.js';
import { RecordingHandler } from '../../handlers/recording-handler.js';
import { report } from '../../handlers/recordings.js';
import { PREPROCESSOR, readJson } from '../../handlers/speech-files.js';
import { floatOutput } from '../../outputs/floats.js';
import { numbersOf } from '../../outputs/rows.js';
import type { SpokenPart, SpokenText } from '../../../contract/spoken-text.js';
import type { TextPart } from './ctc-text.js';
import { TOKENIZER_CONFIG, TOKENIZER, VOCABULARY } from './ctc-vocabulary.js';
import { NEMO_TYPES, NEMO_VOCABULARY, openNemo } from './nemo.js';
import { fromTensor, HeardChunks, toTensor, type Heard, type Recognizer } from './recognizer.js';
import { SPEECH_RECOGNIZER_SCHEMA } from './schemas.js';
import { openTransformersCtc } from './transformers-ctc.js';

/** The `params` of `speech_recognizer`. */
export interface SpeechRecognizerParams {
  /**
   * Whether the answer says when each word or each character was said; of a model of word pieces, each piece. Default:
   * neither.
   */
  readonly timestamps?: 'word' | 'character';
  /**
   * Seconds: longer sound is divided into chunks of this length, which overlap by a third.
   * @minimum 1
   * @default 30
   */
  readonly chunkLength?: number;
  /**
   * For a piece of a sequence: whether all words become final, as at the end of the recording.
   * @default false
   */
  readonly finalize?: boolean;
}

export type { LiveText } from '../../handlers/live-speech.js';
export type { SpokenPart, SpokenText } from '../../../contract/spoken-text.js';

/** What `inference` returns: what was heard in each row (`recognizer.ts`). */
const HEARD = 'heard';

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
 * Transcribes a recording with a CTC model such as wav2vec 2.0, HuBERT, WavLM or Wav2Vec2-BERT, which returns a score
 * for each character in each frame of sound; or with NeMo's Parakeet, TDT, RNN-T or CTC, which writes pieces of words.
 * The text of a CTC model is that of transformers' pipeline `automatic-speech-recognition`: the likeliest characters,
 * without a language model. That of Parakeet is onnx-asr's greedy decoding; with TDT, a piece lasts as long as the model
 * says, with RNN-T one frame. Sound longer than `chunkLength` is divided into chunks, as with the pipeline's
 * `chunk_length_s`; of a transducer, they are joined in the longest pause that both have heard. The rows of a batch run
 * one after the other, so that padding changes no answer.
 *
 * `client.stream` yields `{ done, total }` after each chunk.
 *
 * A request of a sequence is a piece of a live recording, of any length, and its answer says which words are final.
 *
 * It reads `vocab.json` (or `tokenizer.json`), `tokenizer_config.json`, `preprocessor_config.json` and `config.json` of
 * the repository. Of Parakeet, it reads the files of onnx-asr: `config.json`, `vocab.txt`, and `model.onnx` or the
 * nodes `encoder` (`encoder-model.onnx`) and `decoder` (`decoder_joint-model.onnx`).
 * @sample { "params": { "timestamps": "word" } }
 * @answer `{ text }`; with `timestamps` `{ text, parts: [{ text, start, end }, …] }`, in seconds; in a
 *   sequence `{ final: { text, parts }, interim: { text, parts } }`
 */
export class SpeechRecognizer extends RecordingHandler<SpokenText> {
  declare readonly paramsType?: SpeechRecognizerParams;
  declare readonly sequenceResultType?: LiveText;

  static override readonly makes: ResultKind = 'transcript';
  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['ForCTC'],
    modelTypes: NEMO_TYPES,
    models: ['model', 'encoder-model'],
    main: 'encoder',
    beside: { decoder: ['decoder_joint-model'] },
    divided: NEMO_TYPES.filter((type) => !type.endsWith('ctc')),
    files: [VOCABULARY, TOKENIZER_CONFIG, PREPROCESSOR, HF_CONFIG],
    filesOf({ model_type: type }) {
      if (NEMO_TYPES.includes(type as string)) return [NEMO_VOCABULARY];
      return type === 'parakeet_ctc' ? [TOKENIZER] : [];
    },
  };

  static override readonly nearest: readonly Signature[] = [
    { order: 30, reads: 'sound', main: { rank: 3, isLogits: true } },
  ];

  declare readonly configType?: SpeechRecognizerConfig;
  static override readonly schema: ConfigSchema = SPEECH_RECOGNIZER_SCHEMA;

  #speech!: Recognizer;
  /** The pieces of sequences, by their rows. */
  readonly #pieces = new WeakMap<Context, Map<number, LivePiece>>();

  /**
   * Opens the model and reads its vocabulary.
   * @throws `model-config` if the files say what this handler cannot do, or what the model is not
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    const { sampleRate } = this.config as { readonly sampleRate?: number };
    const config = await readJson(context.files, HF_CONFIG, 'speech_recognizer');
    if (NEMO_TYPES.includes(config['model_type'] as string)) {
      this.#speech = await openNemo(this.model, context, config);
      return;
    }
    this.outputInfo = floatOutput(this.outputInfo, this.model.outputs, this.config);
    const opened = { model: this.model, input: this.inputInfo, output: this.outputInfo, sampleRate };
    this.#speech = await openTransformersCtc(opened, context, config);
  }

  protected override get sampleRate(): number {
    return this.#speech.sampleRate;
  }

  /** A model of spectrograms takes rows of any length. */
  protected override get fixedLength(): number | undefined {
    return this.inputInfo.dims.length === 2 ? super.fixedLength : undefined;
  }

  override example(_context: Context, node?: string): Tensors | undefined {
    return this.#speech.example(node);
  }

  /** Those of the model's first frame. */
  protected override get leastSamples(): number {
    return this.#speech.leastSamples;
  }

  /** Opens a recording or, for a piece of a sequence, what is heard with it: it may be none. */
  protected override async openRow(input: AudioInput, index: number, context: Context): Promise<Recording> {
    if (context.sequenceId(index) === undefined) {
      const recording = await super.openRow(input, index, context);
      this.checkLength(Math.ceil((recording.length * this.sampleRate) / recording.sampleRate));
      return recording;
    }
    const { sampleRate, leastSamples: least, maxDuration } = this;
    const piece = await LivePiece.read(input, context.state(index), {
      sampleRate,
      most: this.param<number>('chunkLength', index, context) * sampleRate,
      least,
      maxDuration,
      finalize: this.param('finalize', index, context),
    });
    rowsOf(this.#pieces, context).set(index, piece);
    return recordingOf(piece.samples, sampleRate);
  }

  /** Runs the model on each row alone, chunk by chunk. */
  override async inference(_inputs: Tensors, context: Context): Promise<Tensors> {
    const { ratio } = this.#speech;
    const heard = Array.from({ length: context.systemProperties.batchSize }, (): readonly Heard[] => []);
    await this.hearRows(context, async (reader, index) => {
      if (this.#pieces.get(context)?.get(index)?.samples.length === 0) return;
      const seconds = this.param<number>('chunkLength', index, context);
      const chunks = new HeardChunks(ratio);
      for await (const chunk of speechChunks(reader, seconds * this.sampleRate, ratio)) {
        chunks.add(chunk, await this.#speech.hear(chunk.samples, context));
        await report(chunk.progress, index, context);
      }
      heard[index] = chunks.end();
    });
    return { [HEARD]: toTensor(heard) };
  }

  protected override rowResults(outputs: Tensors, context: Context): (index: number) => SpokenText {
    const heard = numbersOf(outputs, HEARD);
    const speech = this.#speech;
    return (index) => {
      const parts = speech.partsOf(fromTensor(heard, index));
      const seconds = (part: TextPart): SpokenPart => ({
        text: part.text,
        start: (part.start * speech.ratio) / this.sampleRate,
        end: (part.end * speech.ratio) / this.sampleRate,
      });
      const piece = this.#pieces.get(context)?.get(index);
      if (piece) {
        const words = speech.wordsOf(parts).map((word) => ({
          ...seconds(word),
          text: ` ${speech.textOf([word])}`,
          endsSegment: true,
        }));
        const { result, state } = piece.answer(piece.samples.length > 0 ? words : undefined);
        context.setState(index, state);
        // For a sequence, it is of another type: see `sequenceResultType`.
        return result as never;
      }
      const text = speech.textOf(parts);
      const timestamps = this.param<SpeechRecognizerParams['timestamps']>('timestamps', index, context);
      if (timestamps === undefined) return { text };
      return { text, parts: (timestamps === 'word' ? speech.wordsOf(parts) : parts).map(seconds) };
    };
  }

  protected override emptyResult: SpokenText = { text: '' };
}
