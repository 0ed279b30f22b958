import type { Files } from '../../../contract/archive.js';
import type { AudioInput } from '../../../contract/audio.js';
import type { Context, InputKind } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { DecodedImage, ImageInput } from '../../../contract/images.js';
import { isRecord, type ConfigSchema } from '../../../shared/schema.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import type { ChatMessage } from '../../../shared/chat.js';
import { CHAT_TEMPLATE, TOOL_TEMPLATE } from '../../generation/chat.js';
import { EMBED_TOKENS } from '../../generation/embedder.js';
import { contextLengthOf, GENERATION_CONFIG } from '../../generation/model-facts.js';
import { specialTokensOf } from '../../generation/special-tokens.js';
import type { AudioHandlerConfig } from '../../handlers/audio-handler.js';
import type { GenerationConfig } from '../../handlers/generation-handler.js';
import type { StateConfig } from '../../handlers/state-config.js';
import type { VisionConfig, VisionParams } from '../../handlers/vision-params.js';
import { AUDIO_ENCODER, hearingOf } from './hearing.js';
import { PREPROCESSOR, PROCESSOR, readerOf } from './picture-readers.js';
import { IMAGE_TEXT_TO_TEXT_SCHEMA } from './schemas.js';
import type { Sense } from './sense.js';
import { sightOf, VISION_ENCODER } from './sight.js';
import { SoftTextGenerator } from './soft-text-generator.js';
import { soundReaderOf } from './sound-readers.js';
import type { Rendered, TextGeneratorInput, TextGeneratorParams } from './text-generator.js';

/** The key of `config.json` that a model has that also hears. */
const AUDIO_CONFIG = 'audio_config';
/** Begins a page that Docling reads, as granite-docling writes it. */
const DOCTAG = '<doctag>';

/** A part of a message: a text, a picture, or sound for a model that hears. */
export type ImageTextPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly image: ImageInput }
  | { readonly type: 'audio'; readonly audio: AudioInput };

/** A message whose content may have pictures, and sound for a model that hears. */
export interface ImageTextMessage extends ChatMessage {
  readonly content: string | readonly ImageTextPart[];
}

/** The input of one row: a conversation with pictures, or what `text_generator` takes. */
export type ImageTextToTextInput =
  | TextGeneratorInput
  | { readonly messages: readonly ImageTextMessage[]; readonly tools?: readonly unknown[] };

/** The `params` of `image_text_to_text`. */
export interface ImageTextToTextParams extends TextGeneratorParams, VisionParams {}

/**
 * Generates text about pictures with a language model that reads them, such as SmolVLM, Qwen3.5, LFM2-VL, Gemma 3 and 4,
 * Llava, PaliGemma, Mistral 3 or FastVLM: the next message of a conversation whose contents are texts and pictures, and
 * sound for a Gemma 4 that hears.
 *
 * The model is three files, or four: `embed_tokens` makes vectors of tokens, the encoder of pictures makes vectors of their
 * tiles or patches, that of sound those of recordings, and the decoder reads them. What an encoder has made stays in the
 * worker for the next question.
 * Everything else is as in `text_generator`, which runs the same repositories without the encoder: pass
 * `handler: 'text_generator'`, and no encoder's weights are downloaded.
 * @sample { "params": { "maxNewTokens": 40 } }
 * @input a conversation `{ messages }`, whose contents may have parts `{ type: 'image', image }`, and `{ type: 'audio', audio }` for a model that hears; or a text
 * @answer `{ text, finishReason, usage }`; streamed, the text in parts before it
 */
export class ImageTextToText extends SoftTextGenerator {
  declare readonly paramsType?: ImageTextToTextParams;
  declare readonly configType?: GenerationConfig &
    StateConfig &
    Pick<VisionConfig, 'maxImagePixels'> &
    Pick<AudioHandlerConfig, 'maxDuration'>;

  static override readonly takes: InputKind = 'image-or-text';

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: [
      'Idefics3ForConditionalGeneration',
      'SmolVLMForConditionalGeneration',
      'Qwen2VLForConditionalGeneration',
      'Qwen2_5_VLForConditionalGeneration',
      'Qwen3VLForConditionalGeneration',
      'Qwen3_5ForConditionalGeneration',
      'Qwen3_5MoeForConditionalGeneration',
      'Lfm2VlForConditionalGeneration',
      'Gemma3ForConditionalGeneration',
      'Gemma4ForConditionalGeneration',
      'LlavaForConditionalGeneration',
      'PaliGemmaForConditionalGeneration',
      'Mistral3ForConditionalGeneration',
      'GlmOcrForConditionalGeneration',
      'LightOnOcrForConditionalGeneration',
      // Of FastVLM's exports, and of transformers.
      'LlavaQwen2ForCausalLM',
      'FastVlmForConditionalGeneration',
    ],
    models: ['decoder_model_merged'],
    beside: {
      [EMBED_TOKENS]: [EMBED_TOKENS],
      [VISION_ENCODER]: [VISION_ENCODER],
      [AUDIO_ENCODER]: [AUDIO_ENCODER],
    },
    besideKeys: { [AUDIO_ENCODER]: AUDIO_CONFIG },
    divided: ['LlavaQwen2ForCausalLM'],
    processor: 'tokenizer',
    generates: true,
    files: [GENERATION_CONFIG, CHAT_TEMPLATE, TOOL_TEMPLATE, HF_CONFIG, PREPROCESSOR, PROCESSOR],
    handlerConfig(config) {
      const contextLength = contextLengthOf(config);
      return contextLength === undefined ? {} : { contextLength };
    },
  };

  static override readonly nearest = [];

  static override readonly schema: ConfigSchema = IMAGE_TEXT_TO_TEXT_SCHEMA;

  /** The special tokens that are part of an answer: tags. */
  #tags: readonly string[] = [];

  /**
   * Opens the models, and loads the tokenizer, the chat template and the rules for pictures and sound.
   * @throws what `text_generator` throws; `model-config` if the files do not say how pictures are read
   */
  override async initialize(context: Context): Promise<void> {
    const { files, warn } = context;
    const senses: Sense[] = [sightOf(await readerOf(files), (...given) => this.#decode(...given))];
    if (await hears(files)) senses.push(hearingOf(await soundReaderOf(files, warn), () => this.hearingLimits));
    await this.open(context, senses);
    if (this.tokenizer.idOf(DOCTAG) !== undefined) this.#tags = specialTokensOf(this.tokenizer, new Set());
  }

  protected override async render(...given: Parameters<SoftTextGenerator['render']>): Promise<Rendered> {
    const { text, answer } = await super.render(...given);
    if (this.#tags.length === 0) return { text, answer };
    return { text, answer: { grammar: undefined, ...answer, tokens: [...(answer?.tokens ?? []), ...this.#tags] } };
  }

  #decode(image: ImageInput, index: number, context: Context): Promise<DecodedImage> {
    return context.decodeImage(image, {
      exifOrientation: this.param('exifOrientation', index, context),
      background: this.param('background', index, context),
    });
  }
}

/** Returns whether a repository's model has an encoder of sound. */
async function hears(files: Files): Promise<boolean> {
  const config = files.has(HF_CONFIG) ? await files.json(HF_CONFIG) : undefined;
  return isRecord(config) && isRecord(config[AUDIO_CONFIG]);
}
