import type { AudioInput } from '../../../contract/audio.js';
import { invalidInput } from '../../../contract/errors.js';
import type { Context, InputKind } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Tensor, Tensors } from '../../../contract/tensors.js';
import type { ChatMessage } from '../../../shared/chat.js';
import { hashOf } from '../../../shared/hash.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import type { LogMel } from '../../audio/log-mel.js';
import { openAudio, readAudio } from '../../audio/read-audio.js';
import { CHAT_TEMPLATE, TOOL_TEMPLATE } from '../../generation/chat.js';
import { EMBED_TOKENS } from '../../generation/embedder.js';
import { contextLengthOf, GENERATION_CONFIG } from '../../generation/model-facts.js';
import type { AudioHandlerConfig } from '../../handlers/audio-handler.js';
import type { GenerationConfig } from '../../handlers/generation-handler.js';
import { readLogMel, wrong } from '../../handlers/log-mel-config.js';
import { isSampleRate, PREPROCESSOR, readJson } from '../../handlers/speech-files.js';
import type { StateConfig } from '../../handlers/state-config.js';
import { AUDIO_TEXT_TO_TEXT_SCHEMA } from './schemas.js';
import { SoftTextGenerator, type SoftPart } from './soft-text-generator.js';
import type { TextGeneratorInput, TextGeneratorParams } from './text-generator.js';

const ENCODER = 'audio_encoder';
const [BEGIN, AUDIO] = ['[BEGIN_AUDIO]', '[AUDIO]'] as const;
/** The encoder makes a position of two frames, and a token of four positions. */
const FRAMES_PER_TOKEN = 8;

/** A part of a message: a text, or sound. */
export type AudioTextPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'audio'; readonly audio: AudioInput };

/** A message whose content may have sound. */
export interface AudioTextMessage extends ChatMessage {
  readonly content: string | readonly AudioTextPart[];
}

/** The input of one row: a conversation with sound, or what `text_generator` takes. */
export type AudioTextToTextInput =
  | TextGeneratorInput
  | { readonly messages: readonly AudioTextMessage[]; readonly tools?: readonly unknown[] };

/**
 * Generates text about sound with a language model that hears, such as Voxtral: the next message of a conversation whose
 * contents are texts and recordings.
 *
 * The model is three files: `embed_tokens` makes vectors of tokens, `audio_encoder` makes vectors of windows of sound, and
 * the decoder reads both. What the encoder has made of a recording stays in the worker for the next question. Everything
 * else is as in `text_generator`, which runs the same repositories without the encoder: pass `handler: 'text_generator'`,
 * and no weights of sound are downloaded.
 * @sample { "params": { "maxNewTokens": 40 } }
 * @input a conversation `{ messages }`, whose contents may have parts `{ type: 'audio', audio }`; or a text
 * @answer `{ text, finishReason, usage }`; streamed, the text in parts before it
 */
export class AudioTextToText extends SoftTextGenerator {
  declare readonly paramsType?: TextGeneratorParams;
  declare readonly configType?: GenerationConfig & StateConfig & Pick<AudioHandlerConfig, 'maxDuration'>;

  static override readonly takes: InputKind = 'audio-or-text';

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['VoxtralForConditionalGeneration'],
    models: ['decoder_model_merged'],
    beside: { [EMBED_TOKENS]: [EMBED_TOKENS], [ENCODER]: [ENCODER] },
    processor: 'tokenizer',
    generates: true,
    files: [GENERATION_CONFIG, CHAT_TEMPLATE, TOOL_TEMPLATE, HF_CONFIG, PREPROCESSOR],
    handlerConfig(config) {
      const contextLength = contextLengthOf(config);
      return contextLength === undefined ? {} : { contextLength };
    },
  };

  static override readonly nearest = [];

  static override readonly schema: ConfigSchema = AUDIO_TEXT_TO_TEXT_SCHEMA;

  #logMel!: LogMel;

  /**
   * Opens the three models, and loads the tokenizer, the chat template and the rules for sound.
   * @throws what `text_generator` throws; `model-config` if `preprocessor_config.json` is no spectrogram of Whisper's
   */
  override async initialize(context: Context): Promise<void> {
    const extractor = await readJson(context.files, PREPROCESSOR, 'audio_text_to_text');
    const { feature_extractor_type: type, sampling_rate: rate = 16_000 } = extractor;
    if (type !== 'WhisperFeatureExtractor')
      throw wrong('feature_extractor_type', type, '"WhisperFeatureExtractor", as of Voxtral');
    if (!isSampleRate(rate)) throw wrong('sampling_rate', rate, 'samples per second');
    this.#logMel = readLogMel(extractor, rate, context.warn);
    const inputs = ['audio_values', 'input_features'];
    const words = { medium: 'audio', one: 'a recording', many: 'recordings' } as const;
    await this.open(context, { ...words, node: ENCODER, inputs, placeholder: AUDIO });
  }

  /** Returns the inputs for one token, or for a window of silence. */
  override example(context: Context, node?: string): Tensors | undefined {
    if (node !== ENCODER) return super.example(context, node);
    return this.encoderFeeds(feedsOf([this.#logMel.spectrogram(new Float32Array())], this.#logMel));
  }

  protected override async read(audio: unknown, _index: number, context: Context): Promise<SoftPart> {
    const { sampleRate, windowLength } = this.#logMel.options;
    const { maxDuration } = { ...this.defaults, ...this.config } as { readonly maxDuration: number };
    const samples = await readAudio(await openAudio(audio as AudioInput), sampleRate, maxDuration);
    const windows = Math.ceil(samples.length / windowLength);
    const count = (windows * this.#logMel.frames) / FRAMES_PER_TOKEN;
    if (windows === 0) throw invalidInput('The recording is empty: it has no samples. Leave it out.');
    if (count >= this.contextLength)
      throw invalidInput(
        `The recording has ${count} tokens, and the model's context has ${this.contextLength}, for prompt and answer together. Pass a part of it.`,
      );
    const found: Float32Array[] = [];
    for (let at = 0; at < windows; at++) {
      found.push(this.#logMel.spectrogram(samples.subarray(at * windowLength, (at + 1) * windowLength)));
      context.heartbeat();
    }
    const key = await hashOf([new Blob([samples as Float32Array<ArrayBuffer>])]);
    return { text: BEGIN + AUDIO.repeat(count), count, feeds: feedsOf(found, this.#logMel), key };
  }
}

/** Returns the encoder's input for windows, by both of its names. */
function feedsOf(windows: readonly Float32Array[], { frames, options: { mels } }: LogMel): Tensors {
  const data = new Float32Array(windows.length * mels * frames);
  for (const [at, values] of windows.entries()) data.set(values, at * mels * frames);
  const values: Tensor = { dtype: 'float32', dims: [windows.length, mels, frames], data };
  return { audio_values: values, input_features: values };
}
