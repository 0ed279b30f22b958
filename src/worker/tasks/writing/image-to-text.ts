import type { Context, InputKind } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { ImageInput } from '../../../contract/images.js';
import type { Tensors } from '../../../contract/tensors.js';
import { isRecord, type ConfigSchema } from '../../../shared/schema.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import { contextLengthOf, GENERATION_CONFIG } from '../../generation/model-facts.js';
import {
  readTextToTextSettings,
  type TextToTextParams,
  type TextToTextSettings,
} from '../../generation/text-to-text-settings.js';
import {
  compileTransforms,
  compose,
  normalize,
  parseTransforms,
  resize,
  toTensor,
  type CompiledTransforms,
  type Transforms,
} from '../../transforms/index.js';
import { EncoderDecoderHandler, type EncoderPrompt } from '../../handlers/encoder-decoder-handler.js';
import { ImageTensorInput } from '../../handlers/image-input.js';
import type { VisionConfig, VisionParams } from '../../handlers/vision-params.js';
import { IMAGE_TO_TEXT_SCHEMA } from './schemas.js';
import type { GenerationConfig } from '../../handlers/generation-handler.js';

/** The `params` of `image_to_text`. Defaults are those of the repository's `generation_config.json`. */
export interface ImageToTextParams extends Omit<TextToTextParams, 'srcLang' | 'tgtLang'>, VisionParams {}

/** The side of the example picture, in pixels. */
const EXAMPLE_SIZE = 64;

/**
 * Writes a text about an image with an encoder of images and a decoder of text: the words of a line, as TrOCR reads them,
 * or a caption, as ViT-GPT2 writes it.
 *
 * The model is two files, the nodes `encoder` and `decoder`. `preprocess` decodes the images and makes the encoder's
 * input of them. `inference` runs the encoder once, and then the decoder token by token, as `text_to_text` does; a
 * streamed request (`client.stream`) gets the text in parts. The default transforms are TrOCR's. The params
 * of `text_to_text`, such as `maxNewTokens`, apply.
 * @sample { "params": { "maxNewTokens": 40 } }
 * @answer `{ text, finishReason, usage }`; streamed, the text in parts before it
 */
export class ImageToText extends EncoderDecoderHandler<ImageInput> {
  declare readonly paramsType?: ImageToTextParams;
  declare readonly configType?: GenerationConfig & Pick<VisionConfig, 'imageProcessing' | 'maxImagePixels'>;

  static override readonly takes: InputKind = 'image';

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['VisionEncoderDecoderModel'],
    processor: 'both',
    nodes: { encoder: ['encoder_model'], decoder: ['decoder_model_merged'] },
    generates: true,
    files: [GENERATION_CONFIG, HF_CONFIG],
    handlerConfig({ decoder }) {
      const contextLength = isRecord(decoder) ? contextLengthOf(decoder) : undefined;
      return contextLength === undefined ? {} : { contextLength };
    },
  };

  static override readonly schema: ConfigSchema = IMAGE_TO_TEXT_SCHEMA;

  /** The steps that convert pixels to the tensor. An archive's `handler.imageProcessing` replaces them. */
  imageProcessing: Transforms = compose(resize([384, 384]), toTensor(), normalize([0.5, 0.5, 0.5], [0.5, 0.5, 0.5]));
  #transforms!: CompiledTransforms;
  #input!: ImageTensorInput;

  /**
   * Opens encoder and decoder, loads the tokenizer and compiles the transforms.
   * @throws `model-config` if they are no encoder of images and decoder of texts, do not fit together, or the transforms
   *   make no input of the encoder; `model-format`
   */
  override async initialize(context: Context): Promise<void> {
    await this.openModels(context, 'image');
    const configured = (this.config as { imageProcessing?: unknown }).imageProcessing;
    if (configured !== undefined) this.imageProcessing = parseTransforms(configured);
    this.#transforms = compileTransforms(this.imageProcessing);
    const { input } = this.encoder;
    this.#input = new ImageTensorInput(input, this.imageProcessing, [input], false);
    this.#input.checkTransforms(this.#transforms);
    this.initialized = true;
  }

  /** Returns the encoder's input for a black image, or the decoder's for one token. */
  async example(_context: Context, node?: string): Promise<Tensors | undefined> {
    if (node !== 'encoder') return this.decoderExample();
    const [width, height] = [EXAMPLE_SIZE, EXAMPLE_SIZE];
    const data = new Uint8Array(width * height * 3);
    const { dims, data: numbers } = await this.#transforms.run({
      format: 'RGB',
      width,
      height,
      stride: width * 3,
      data,
    });
    return this.#input.stack([{ dtype: 'float32', dims, data: numbers }]);
  }

  protected override async promptOf(input: ImageInput, index: number, context: Context): Promise<EncoderPrompt> {
    const settings = this.settingsOf((name) => this.param(name, index, context));
    this.checkBeams(settings);
    const image = await context.decodeImage(input, {
      exifOrientation: this.param('exifOrientation', index, context),
      background: this.param('background', index, context),
    });
    try {
      const { dims, data } = await this.#transforms.run(image);
      return { tokens: [], settings, feeds: this.#input.stack([{ dtype: 'float32', dims, data }]) };
    } finally {
      image.close();
    }
  }

  protected override settingsOf(param: (name: string) => never): TextToTextSettings {
    return readTextToTextSettings(param, this.facts, undefined, this.contextLength);
  }
}
