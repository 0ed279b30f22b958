import type { AudioInput } from '../../../contract/audio.js';
import type { Context, InputKind } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { ChatMessage } from '../../../shared/chat.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { CHAT_TEMPLATE, TOOL_TEMPLATE } from '../../generation/chat.js';
import { EMBED_TOKENS } from '../../generation/embedder.js';
import { contextLengthOf, GENERATION_CONFIG } from '../../generation/model-facts.js';
import type { AudioHandlerConfig } from '../../handlers/audio-handler.js';
import type { GenerationConfig } from '../../handlers/generation-handler.js';
import { PREPROCESSOR } from '../../handlers/speech-files.js';
import type { StateConfig } from '../../handlers/state-config.js';
import { AUDIO_ENCODER, hearingOf } from './hearing.js';
import { PROCESSOR } from './picture-readers.js';
import { AUDIO_TEXT_TO_TEXT_SCHEMA } from './schemas.js';
import { SoftTextGenerator } from './soft-text-generator.js';
import { soundReaderOf } from './sound-readers.js';
import type { TextGeneratorInput, TextGeneratorParams } from './text-generator.js';

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
 * Generates text about sound with a language model that hears, such as Voxtral, Ultravox, Granite Speech or Qwen2-Audio:
 * the next message of a conversation whose contents are texts and recordings.
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
    architectures: [
      'VoxtralForConditionalGeneration',
      'GraniteSpeechForConditionalGeneration',
      'Qwen2AudioForConditionalGeneration',
      'UltravoxModel',
    ],
    models: ['decoder_model_merged'],
    beside: { [EMBED_TOKENS]: [EMBED_TOKENS], [AUDIO_ENCODER]: [AUDIO_ENCODER] },
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

  /**
   * Opens the three models, and loads the tokenizer, the chat template and the rules for sound.
   * @throws what `text_generator` throws; `model-config` if the files do not say how sound is heard
   */
  override async initialize(context: Context): Promise<void> {
    const reader = await soundReaderOf(context.files, context.warn);
    await this.open(context, [hearingOf(reader, () => this.hearingLimits)]);
  }
}
