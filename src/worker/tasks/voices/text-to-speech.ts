import { asTabServeError, TabServeError } from '../../../contract/errors.js';
import type { Context, InputKind, MaybePromise } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Signature } from '../../../contract/task.js';
import type { Tensors } from '../../../contract/tensors.js';
import { checkKeys } from '../../../shared/check-keys.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import { nextTask } from '../../../shared/next-task.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { toWav } from '../../../shared/wav.js';
import { unwrap, type Row } from '../../handlers/row.js';
import { StagedHandler } from '../../handlers/staged-handler.js';
import type { SpokenAudio } from '../../../contract/spoken-text.js';
import { transferResult } from '../../outputs/transfer.js';
import { readText } from '../../text/read-text.js';
import { cutText } from './cut-text.js';
import { voiceFiles } from './kokoro.js';
import { openVoice } from './open-voice.js';
import { TEXT_TO_SPEECH_SCHEMA } from './schemas.js';
import { SPEAKER_FILE } from './speech-t5.js';
import { joinParts, spokenPart } from './spoken-parts.js';
import type { Voice, VoiceSettings, VoiceToken } from './voice.js';

/** A text to be spoken, or its phonemes, as espeak-ng and its like write them. */
export type SpeechInput = string | Blob | { readonly text: string } | { readonly phonemes: string };

/** The `params` of `text_to_speech`. */
export interface TextToSpeechParams {
  /**
   * Who speaks, for a model of several voices: of Kokoro the name of a voice in `handler.voices`, of Piper the name or
   * the number of a speaker. Default: the first one.
   */
  readonly voice?: string;
  /**
   * How fast it is spoken, for Kokoro and Piper.
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
   * The form of the result: samples with the times of the parts, or a WAV file of 16 bits, a Blob.
   * @default 'samples'
   */
  readonly result?: 'samples' | 'wav';
}

/** The keys of `handler:` that only the config sets. */
export interface TextToSpeechConfig {
  /**
   * The voices of Kokoro that are downloaded, half a megabyte each: the names of files in the repository's folder
   * `voices`, without `.bin`. Default: af_heart.
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
  readonly parts: readonly { readonly text: string; readonly tokens: readonly VoiceToken[] }[];
  readonly settings: VoiceSettings;
}

/** The result of `predict` for each value of the param `result`. */
interface SpeechForms {
  readonly samples: SpokenAudio;
  readonly wav: Blob;
}

/** The largest number of UTF-16 units in a text: about ten minutes of sound. */
const MAX_LENGTH = 10_000;

/**
 * Speaks a text, with VITS and MMS-TTS, SpeechT5, Kokoro or Piper. A long text is cut at its sentences, which are spoken
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

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['VitsModel', 'SpeechT5ForTextToSpeech', 'StyleTextToSpeech2Model'],
    modelTypes: ['vits', 'style_text_to_speech_2'],
    models: ['model', 'decoder_model_merged'],
    beside: { encoder: ['encoder_model'], vocoder: ['decoder_postnet_and_vocoder'] },
    divided: ['SpeechT5ForTextToSpeech'],
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
    filesOf: ({ model_type: type }, { voices }) => (type === 'style_text_to_speech_2' ? voiceFiles(voices) : []),
  };

  static override readonly nearest: readonly Signature[] = [
    { order: 36, reads: 'texts', outputs: ['waveform'] },
    { order: 37, reads: 'texts', input: 'scales' },
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
          return { settings, parts: this.#partsOf(await this.#textOf(unwrap(row), context)) };
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
    };
  }

  /** Returns what the model reads: a text, or phonemes. @throws `invalid-input` */
  async #textOf(input: SpeechInput, context: Context): Promise<string> {
    const isPhonemes = typeof input === 'object' && input !== null && 'phonemes' in input;
    if (isPhonemes) checkKeys(input, ['phonemes']);
    const given = isPhonemes ? { text: input.phonemes } : input;
    const { text, textPair } = await readText(given);
    if (textPair !== undefined)
      throw new TabServeError('invalid-input', 'Expected one text to speak, got a pair. Pass its texts one by one.');
    if (text.length > MAX_LENGTH)
      throw new TabServeError(
        'invalid-input',
        `The text has a length of ${text.length}, and the limit is ${MAX_LENGTH}. Pass it in parts, such as its paragraphs.`,
      );
    if (text.trim() === '')
      throw new TabServeError('invalid-input', 'The text is empty. Pass a text with at least one letter.');
    if (!isPhonemes) return this.#voice.reads === 'text' ? text : await this.phonemize(text, context);
    if (this.#voice.reads === 'phonemes') return text;
    throw new TabServeError('invalid-input', 'The model reads letters, not phonemes. Pass the text itself.');
  }

  /** @throws `invalid-input` if the model knows no character of the text */
  #partsOf(text: string): Prepared['parts'] {
    const { encode, maxTokens, reads } = this.#voice;
    const parts = cutText(text, (part) => encode(part).length <= maxTokens);
    const spoken = parts
      .map((part) => ({ text: part, tokens: encode(part) }))
      .filter(({ tokens }) => tokens.length > 0);
    if (spoken.length > 0) return spoken;
    throw new TabServeError(
      'invalid-input',
      `The model knows no ${reads === 'text' ? 'letter' : 'phoneme'} of "${text.trim().slice(0, 40)}". Pass a text in its language${reads === 'text' ? ', with numbers written as words' : ', as phonemes of the alphabet that it was trained with'}.`,
    );
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
    const { sampleRate } = this.#voice;
    const sounds: SpokenAudio[] = [];
    let count = 0;
    for (const { text, tokens } of parts) {
      const sound = await this.#voice.speak(tokens, settings, context);
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
