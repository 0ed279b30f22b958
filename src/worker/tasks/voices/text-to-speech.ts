import { asTabServeError, TabServeError } from '../../../contract/errors.js';
import type { Context, InputKind, MaybePromise, ResultKind } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Signature } from '../../../contract/task.js';
import type { Tensors } from '../../../contract/tensors.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import { nextTask } from '../../../shared/next-task.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { toWav } from '../../../shared/wav.js';
import { unwrap, type Row } from '../../handlers/row.js';
import { StagedHandler } from '../../handlers/staged-handler.js';
import type { SpokenAudio } from '../../../contract/spoken-text.js';
import { transferResult } from '../../outputs/transfer.js';
import { voiceFiles } from './kokoro.js';
import { openVoice } from './open-voice.js';
import { partsOf, textOf, type SpeechInput, type TextToSpeak } from './read-speech.js';
import { TEXT_TO_SPEECH_SCHEMA } from './schemas.js';
import { SPEAKER_FILE } from './speech-t5.js';
import { afterPause, joinParts, spokenPart } from './spoken-parts.js';
import { supertonicFiles } from './supertonic-files.js';
import type { Voice, VoiceSettings } from './voice.js';

export type { SpeechInput } from './read-speech.js';

/** The `params` of `text_to_speech`. */
export interface TextToSpeechParams {
  /**
   * Who speaks, for a model of several voices: of Kokoro and Supertonic the name of a voice in `handler.voices`, of Piper
   * the name or the number of a speaker. Default: the first one.
   */
  readonly voice?: string;
  /**
   * How fast it is spoken, for Kokoro, Piper and Supertonic.
   * @minimum 0.25
   * @maximum 4
   * @default 1
   */
  readonly speed?: number;
  /** The vector of the speaker, for SpeechT5. Default: what `speaker_embeddings.bin` of the repository has. */
  readonly speakerEmbedding?: readonly number[];
  /**
   * How much the sound varies, for Piper. With 0 here and for `durationNoise`, each answer is the same. Default: what
   * the model's file says.
   * @minimum 0
   */
  readonly noiseScale?: number;
  /**
   * How much the durations of phonemes vary, for Piper. Default: what the model's file says.
   * @minimum 0
   */
  readonly durationNoise?: number;
  /**
   * The probability of the end at which SpeechT5 ends a part; where a step makes several spectra, the sum of theirs.
   * @exclusiveMinimum 0
   * @default 0.5
   */
  readonly threshold?: number;
  /**
   * The language of the text, for Supertonic 2 and 3: its code, such as en. The first Supertonic speaks English alone.
   * @minLength 1
   */
  readonly language?: string;
  /**
   * In how many steps Supertonic makes a part's sound of noise: more take longer, and sound better. Default: 5.
   * @integer
   * @minimum 1
   * @maximum 100
   */
  readonly numInferenceSteps?: number;
  /**
   * For Supertonic: the same seed gives the same sound. Without one, each answer has another.
   * @integer
   * @minimum 0
   * @maximum 9007199254740991
   */
  readonly seed?: number;
  /**
   * The form of the result: samples with the times of the parts, or a WAV file of 16 bits, a Blob.
   * @default 'samples'
   */
  readonly result?: 'samples' | 'wav';
}

/** The keys of `handler:` that only the config sets. */
export interface TextToSpeechConfig {
  /**
   * The voices of Kokoro and Supertonic that are downloaded: the names of files in the repository's folder `voices`, or
   * `voice_styles`, without `.bin` or `.json`. Default: af_heart of Kokoro, M1 of Supertonic.
   * @minItems 1
   */
  readonly voices?: readonly string[];
  /**
   * The samples per second of the model's sound. Default: what its files say.
   * @integer
   * @minimum 1000
   * @maximum 768000
   */
  readonly sampleRate?: number;
}

/** A row that is ready for the model. */
interface Prepared {
  readonly parts: readonly TextToSpeak[];
  readonly settings: VoiceSettings;
}

/** The result of `predict` for each value of the param `result`. */
interface SpeechForms {
  readonly samples: SpokenAudio;
  readonly wav: Blob;
}

/**
 * Speaks a text, with VITS and MMS-TTS, SpeechT5, Kokoro, Piper or Supertonic. A long text is cut at its sentences, which are spoken
 * one after another: a streamed request (`client.stream`) gets each as soon as it is there. Joined, they are the whole.
 *
 * Kokoro, and most voices of Piper, read phonemes: pass `{ phonemes }`, or extend the class with a method `phonemize`.
 * Of Piper, the file `NAME.onnx.json` must lie beside the model.
 * @input a text, a Blob of UTF-8, or `{ phonemes }`
 * @sample { "input": "Hello there. How are you?" }
 * @answer `{ audio: { samples, sampleRate }, parts: [{ text, start, end }, …] }`, in seconds, and `words` like `parts`
 *   if the model tells their times; streamed, one such for each sentence before it. With `result: 'wav'`, a WAV file
 */
export class TextToSpeech extends StagedHandler<
  SpeechInput,
  readonly (Prepared | undefined)[],
  readonly (SpokenAudio | undefined)[]
> {
  declare readonly paramsType?: TextToSpeechParams;
  declare readonly configType?: TextToSpeechConfig;
  declare readonly resultForms?: SpeechForms;
  declare readonly partType?: SpokenAudio;

  static override readonly takes: InputKind = 'text';
  static override readonly makes: ResultKind = 'speech';

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: [
      'VitsModel',
      'SpeechT5ForTextToSpeech',
      'StyleTextToSpeech2Model',
      'SupertonicForConditionalGeneration',
    ],
    modelTypes: ['vits', 'style_text_to_speech_2', 'supertonic'],
    models: ['model', 'decoder_model_merged', 'latent_denoiser', 'vector_estimator'],
    beside: {
      encoder: ['encoder_model', 'text_encoder'],
      vocoder: ['decoder_postnet_and_vocoder', 'voice_decoder', 'vocoder'],
      duration: ['duration_predictor'],
    },
    besideTypes: { duration: ['onnx'] },
    // Supertone's own repositories have the type onnx.
    divided: ['SpeechT5ForTextToSpeech', 'supertonic', 'onnx'],
    besideModel: ['.json'],
    files: [
      HF_CONFIG,
      'vocab.json',
      'tokenizer.json',
      'tokenizer_config.json',
      'special_tokens_map.json',
      'added_tokens.json',
      SPEAKER_FILE,
    ],
    filesOf: (config, { voices }) =>
      config['model_type'] === 'style_text_to_speech_2' ? voiceFiles(voices) : supertonicFiles(config, voices),
  };

  static override readonly nearest: readonly Signature[] = [
    { order: 36, reads: 'texts', outputs: ['waveform'] },
    { order: 37, reads: 'texts', input: 'scales' },
    { order: 38, reads: 'texts', input: 'noisy_latent' },
  ];

  static override readonly schema: ConfigSchema = TEXT_TO_SPEECH_SCHEMA;

  /** The example is for the model: `inference` takes parts. */
  readonly exampleIsForModel = true;

  readonly runsRowsAlone = true;

  #voice!: Voice;

  /**
   * Opens the model, and finds out by its inputs which kind it is.
   * @throws `model-config` if it is none that speaks, or a file that it needs is missing; `model-format`
   */
  override async initialize(context: Context): Promise<void> {
    this.configure(context);
    this.#voice = await openVoice(await context.open(), context, this.config);
    this.initialized = true;
  }

  example(_context: Context, node?: string): Tensors | undefined {
    return this.#voice.example(node);
  }

  /**
   * Returns the phonemes of a text, for a model that reads phonemes. This implementation throws: which library makes
   * them is the app's choice.
   * @throws `unsupported`
   */
  protected phonemize(_text: string, _context: Context): MaybePromise<string> {
    throw new TabServeError(
      'unsupported',
      'The model reads phonemes, and nothing makes them of a text. Pass { phonemes }, or extend TextToSpeech with a method phonemize (docs/voices.md).',
    );
  }

  /** Cuts the rows' texts into parts, and reads the rows' settings. A row that cannot be read fails alone. */
  override async preprocess(
    data: readonly Row<SpeechInput>[],
    context: Context,
  ): Promise<readonly (Prepared | undefined)[]> {
    return await Promise.all(
      data.map(async (row, index) => {
        try {
          const settings = this.#settingsOf(index, context);
          this.#voice.check(settings);
          const text = await textOf(unwrap(row), this.#voice, (given) => this.phonemize(given, context));
          return { settings, parts: partsOf(text, this.#voice) };
        } catch (error) {
          context.fail(index, asTabServeError(error, 'preprocess'));
          return undefined;
        }
      }),
    );
  }

  #settingsOf(index: number, context: Context): VoiceSettings {
    const param = <T>(name: keyof TextToSpeechParams): T => this.param<T>(name, index, context);
    const speaker = param<readonly number[] | undefined>('speakerEmbedding');
    return {
      voice: param('voice'),
      speed: param('speed'),
      speaker: speaker && Float32Array.from(speaker),
      noiseScale: param('noiseScale'),
      durationNoise: param('durationNoise'),
      threshold: param('threshold'),
      language: param('language'),
      steps: param('numInferenceSteps'),
      seed: param('seed'),
    };
  }

  /** Speaks the parts of each row, and sends each part to a streamed request. */
  override async inference(
    inputs: readonly (Prepared | undefined)[],
    context: Context,
  ): Promise<readonly (SpokenAudio | undefined)[]> {
    const spoken: (SpokenAudio | undefined)[] = [];
    for (const [index, row] of inputs.entries()) {
      spoken.push(undefined);
      if (!row) continue;
      try {
        spoken[index] = await this.#speak(row, index, context);
      } catch (error) {
        if (context.signal.aborted || inputs.length === 1) throw error;
        context.fail(index, asTabServeError(error, 'inference'));
      }
    }
    return spoken;
  }

  async #speak({ parts, settings }: Prepared, index: number, context: Context): Promise<SpokenAudio> {
    const { sampleRate, pause = 0 } = this.#voice;
    const sounds: SpokenAudio[] = [];
    let count = 0;
    for (const { text, tokens } of parts) {
      const spoken = await this.#voice.speak(tokens, settings, context);
      const sound = count === 0 ? spoken : afterPause(spoken, Math.trunc(pause * sampleRate));
      const part = spokenPart(text, tokens, sound, count / sampleRate, sampleRate);
      count += sound.samples.length;
      sounds.push(part);
      context.heartbeat();
      await context.send(index, part);
      await nextTask();
    }
    return joinParts(sounds, count, sampleRate);
  }

  /** Makes each row's result. */
  override postprocess(outputs: readonly (SpokenAudio | undefined)[], context: Context): readonly SpokenAudio[] {
    return outputs.map((spoken, index) => {
      if (!spoken) return undefined as never;
      // It is another form then: see `resultForms`.
      if (this.param('result', index, context) === 'wav')
        return new Blob([toWav(spoken.audio)], { type: 'audio/wav' }) as never;
      return transferResult(spoken, [spoken.audio.samples.buffer as ArrayBuffer]);
    });
  }
}
