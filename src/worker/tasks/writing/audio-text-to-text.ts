import type { AudioInput } from '../../../contract/audio.js';
import { invalidInput } from '../../../contract/errors.js';
import type { Context, InputKind } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Tensors } from '../../../contract/tensors.js';
import { readChat, type Chat, type ChatMessage } from '../../../shared/chat.js';
import { hashOf } from '../../../shared/hash.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { openAudio, readAudio } from '../../audio/read-audio.js';
import { CHAT_TEMPLATE, TOOL_TEMPLATE } from '../../generation/chat.js';
import { EMBED_TOKENS } from '../../generation/embedder.js';
import { contextLengthOf, GENERATION_CONFIG } from '../../generation/model-facts.js';
import type { AudioHandlerConfig } from '../../handlers/audio-handler.js';
import type { GenerationConfig } from '../../handlers/generation-handler.js';
import { PREPROCESSOR } from '../../handlers/speech-files.js';
import type { StateConfig } from '../../handlers/state-config.js';
import { PROCESSOR } from './picture-readers.js';
import { AUDIO_TEXT_TO_TEXT_SCHEMA } from './schemas.js';
import { SoftTextGenerator, type SoftPart } from './soft-text-generator.js';
import type { SoundReader } from './sound-reader.js';
import { soundReaderOf } from './sound-readers.js';
import type { Rendered, TextGeneratorInput, TextGeneratorParams } from './text-generator.js';

const ENCODER = 'audio_encoder';

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
 * Generates text about sound with a language model that hears, such as Voxtral, Ultravox or Granite Speech: the next
 * message of a conversation whose contents are texts and recordings.
 *
 * The model is three files: `embed_tokens` makes vectors of tokens, `audio_encoder` makes vectors of sound, and
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
    architectures: ['VoxtralForConditionalGeneration', 'GraniteSpeechForConditionalGeneration', 'UltravoxModel'],
    models: ['decoder_model_merged'],
    beside: { [EMBED_TOKENS]: [EMBED_TOKENS], [ENCODER]: [ENCODER] },
    processor: 'tokenizer',
    generates: true,
    files: [GENERATION_CONFIG, CHAT_TEMPLATE, TOOL_TEMPLATE, HF_CONFIG, PREPROCESSOR, PROCESSOR],
    handlerConfig(config) {
      const contextLength = contextLengthOf(config);
      return contextLength === undefined ? {} : { contextLength };
    },
  };

  static override readonly nearest = [];

  static override readonly schema: ConfigSchema = AUDIO_TEXT_TO_TEXT_SCHEMA;

  #reader!: SoundReader;

  /**
   * Opens the three models, and loads the tokenizer, the chat template and the rules for sound.
   * @throws what `text_generator` throws; `model-config` if `preprocessor_config.json` is no spectrogram that is known
   */
  override async initialize(context: Context): Promise<void> {
    this.#reader = await soundReaderOf(context.files, context.warn);
    const words = { medium: 'audio', one: 'a recording', many: 'recordings' } as const;
    await this.open(context, { ...this.#reader, ...words, node: ENCODER });
  }

  /** Returns the inputs for one token, or for a second of silence. */
  override example(context: Context, node?: string): Tensors | undefined {
    if (node !== ENCODER) return super.example(context, node);
    const { feeds } = this.#reader.read(new Float32Array(this.#reader.sampleRate));
    return this.encoderFeeds(feeds(() => {}));
  }

  protected override async render(given: Chat, param: (name: string) => never, read = readTexts): Promise<Rendered> {
    const { placeholder, isInTexts } = this.#reader;
    return await super.render(given, param, (chat) => (isInTexts ? withTexts(read(chat), placeholder) : read(chat)));
  }

  protected override async read(audio: unknown, _index: number, context: Context): Promise<SoftPart> {
    const { maxDuration } = { ...this.defaults, ...this.config } as { readonly maxDuration: number };
    const samples = await readAudio(await openAudio(audio as AudioInput), this.#reader.sampleRate, maxDuration);
    if (samples.length === 0) throw invalidInput('The recording is empty: it has no samples. Leave it out.');
    const { text, count, feeds } = this.#reader.read(samples);
    if (count >= this.contextLength)
      throw invalidInput(
        `The recording has ${count} tokens, and the model's context has ${this.contextLength}, for prompt and answer together. Pass a part of it.`,
      );
    const key = await hashOf([new Blob([samples as Float32Array<ArrayBuffer>])]);
    return { text, count, key, feeds: feeds(() => context.heartbeat()) };
  }
}

const readTexts = (chat: Chat): Chat => readChat(chat);

/** Returns a conversation whose recordings have a text, which stands where a template takes texts alone. */
function withTexts(chat: Chat, text: string): Chat {
  const messages = chat.messages.map((message) => {
    if (!Array.isArray(message.content)) return message;
    const content = (message.content as readonly { readonly type: string }[]).map((part) =>
      part.type === 'audio' ? { ...part, text } : part,
    );
    return { ...message, content };
  });
  return { ...chat, messages };
}
