import type { Context } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { ImageInput } from '../../../contract/images.js';
import { isRecord, type ConfigSchema } from '../../../shared/schema.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import { contextLengthOf, GENERATION_CONFIG } from '../../generation/model-facts.js';
import type { TextToTextParams } from '../../generation/text-to-text-settings.js';
import type { EncoderPrompt } from '../../handlers/encoder-decoder-handler.js';
import type { VisionConfig, VisionParams } from '../../handlers/vision-params.js';
import { ImageReadingHandler } from './image-reading-handler.js';
import { IMAGE_TO_TEXT_SCHEMA } from './schemas.js';
import type { GenerationConfig } from '../../handlers/generation-handler.js';

/** The `params` of `image_to_text`. Defaults are those of the repository's `generation_config.json`. */
export interface ImageToTextParams extends Omit<TextToTextParams, 'srcLang' | 'tgtLang'>, VisionParams {}

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
export class ImageToText extends ImageReadingHandler<ImageInput> {
  declare readonly paramsType?: ImageToTextParams;
  declare readonly configType?: GenerationConfig & Pick<VisionConfig, 'imageProcessing' | 'maxImagePixels'>;

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

  protected override async promptOf(input: ImageInput, index: number, context: Context): Promise<EncoderPrompt> {
    const settings = this.settingsOf((name) => this.param(name, index, context));
    this.checkBeams(settings);
    return { tokens: [], settings, feeds: await this.feedsOf(input, index, context) };
  }
}
