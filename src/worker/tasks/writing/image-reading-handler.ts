import type { Context, InputKind } from '../../../contract/handler.js';
import type { ImageInput } from '../../../contract/images.js';
import type { Tensors } from '../../../contract/tensors.js';
import { readTextToTextSettings, type TextToTextSettings } from '../../generation/text-to-text-settings.js';
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

/** The side of the example picture, in pixels. */
const EXAMPLE_SIZE = 64;

/** What the handlers share that write a text with an encoder of images and a decoder of texts. */
export abstract class ImageReadingHandler<
  Input,
  Ready extends EncoderPrompt = EncoderPrompt,
> extends EncoderDecoderHandler<Input, TextToTextSettings, Ready> {
  static override readonly takes: InputKind = 'image';

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

  /** Returns the encoder's input for an image. @throws `invalid-input`, `image-decode`, `image-too-large` */
  protected async feedsOf(input: ImageInput, index: number, context: Context): Promise<Tensors> {
    const image = await context.decodeImage(input, {
      exifOrientation: this.param('exifOrientation', index, context),
      background: this.param('background', index, context),
    });
    try {
      const { dims, data } = await this.#transforms.run(image);
      return this.#input.stack([{ dtype: 'float32', dims, data }]);
    } finally {
      image.close();
    }
  }

  protected override settingsOf(param: (name: string) => never, promptLength = 1): TextToTextSettings {
    // The first token is no part of an answer.
    const room = this.contextLength - Math.max(promptLength - 1, 0);
    return readTextToTextSettings(param, this.facts, undefined, room, promptLength);
  }
}
