import type { Context, InputKind } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { ImageInput } from '../../../contract/images.js';
import type { Tensor, Tensors } from '../../../contract/tensors.js';
import { hashOf } from '../../../shared/hash.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import type { ChatMessage } from '../../../shared/chat.js';
import { CHAT_TEMPLATE, TOOL_TEMPLATE } from '../../generation/chat.js';
import { EMBED_TOKENS } from '../../generation/embedder.js';
import { contextLengthOf, GENERATION_CONFIG } from '../../generation/model-facts.js';
import { specialTokensOf } from '../../generation/special-tokens.js';
import type { GenerationConfig } from '../../handlers/generation-handler.js';
import type { StateConfig } from '../../handlers/state-config.js';
import type { VisionConfig, VisionParams } from '../../handlers/vision-params.js';
import type { PictureReader, ReadPicture } from './picture-reader.js';
import { PREPROCESSOR, PROCESSOR, readerOf } from './picture-readers.js';
import { IMAGE_TEXT_TO_TEXT_SCHEMA } from './schemas.js';
import { SoftTextGenerator, type SoftPart } from './soft-text-generator.js';
import type { Rendered, TextGeneratorInput, TextGeneratorParams } from './text-generator.js';

const ENCODER = 'vision_encoder';
/** Begins a page that Docling reads, as granite-docling writes it. */
const DOCTAG = '<doctag>';

/** A part of a message: a text, or a picture. */
export type ImageTextPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly image: ImageInput };

/** A message whose content may have pictures. */
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
 * Generates text about pictures with a language model that reads them, such as SmolVLM, Qwen3.5, LFM2-VL, Gemma 3,
 * Llava or FastVLM: the next message of a conversation whose contents are texts and pictures.
 *
 * The model is three files: `embed_tokens` makes vectors of tokens, the encoder of pictures makes vectors of their
 * tiles or patches, and the decoder reads both. What the encoder has made of a picture stays in the worker for the next question.
 * Everything else is as in `text_generator`, which runs the same repositories without the encoder: pass
 * `handler: 'text_generator'`, and no picture's weights are downloaded.
 * @sample { "params": { "maxNewTokens": 40 } }
 * @input a conversation `{ messages }`, whose contents may have parts `{ type: 'image', image }`; or a text
 * @answer `{ text, finishReason, usage }`; streamed, the text in parts before it
 */
export class ImageTextToText extends SoftTextGenerator {
  declare readonly paramsType?: ImageTextToTextParams;
  declare readonly configType?: GenerationConfig & StateConfig & Pick<VisionConfig, 'maxImagePixels'>;

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
      'LlavaForConditionalGeneration',
      'GlmOcrForConditionalGeneration',
      'LightOnOcrForConditionalGeneration',
      // Of FastVLM's exports, and of transformers.
      'LlavaQwen2ForCausalLM',
      'FastVlmForConditionalGeneration',
    ],
    models: ['decoder_model_merged'],
    beside: { [EMBED_TOKENS]: [EMBED_TOKENS], [ENCODER]: [ENCODER] },
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

  #reader!: PictureReader;
  /** The special tokens that are part of an answer: tags. */
  #tags: readonly string[] = [];

  /**
   * Opens the three models, and loads the tokenizer, the chat template and the rules for pictures.
   * @throws what `text_generator` throws; `model-config` if the files do not say how pictures are read
   */
  override async initialize(context: Context): Promise<void> {
    this.#reader = await readerOf(context.files);
    await this.open(context, { ...this.#reader, medium: 'image', one: 'a picture', many: 'pictures', node: ENCODER });
    if (this.tokenizer.idOf(DOCTAG) !== undefined) this.#tags = specialTokensOf(this.tokenizer, new Set());
  }

  /** Returns inputs for one token; none for the encoder, whose sizes are those of pictures. */
  override example(context: Context, node?: string): Tensors | undefined {
    return node === ENCODER ? undefined : super.example(context, node);
  }

  protected override async render(...given: Parameters<SoftTextGenerator['render']>): Promise<Rendered> {
    const { text, answer } = await super.render(...given);
    if (this.#tags.length === 0) return { text, answer };
    return { text, answer: { grammar: undefined, ...answer, tokens: [...(answer?.tokens ?? []), ...this.#tags] } };
  }

  protected override async read(image: unknown, index: number, context: Context): Promise<SoftPart> {
    const decoded = await context.decodeImage(image as ImageInput, {
      exifOrientation: this.param('exifOrientation', index, context),
      background: this.param('background', index, context),
    });
    try {
      const read = await this.#reader.read(decoded);
      return { ...read, key: await keyOf(read) };
    } finally {
      decoded.close();
    }
  }
}

/** Returns the shape of a picture, and the SHA-256 of its pixels as the model reads them. */
async function keyOf({ feeds, grid }: ReadPicture): Promise<string> {
  const { dims, data } = feeds['pixel_values'] as Tensor<'float32'>;
  const shape = grid ? [grid.rows, grid.columns, ...dims] : dims;
  return `${shape.join('×')} ${await hashOf([new Blob([data as Float32Array<ArrayBuffer>])])}`;
}
