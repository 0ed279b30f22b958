import type { Context, InputKind } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { ImageInput } from '../../../contract/images.js';
import type { Session, Tensor, Tensors } from '../../../contract/tensors.js';
import { TabServeError } from '../../../contract/errors.js';
import { hashOf } from '../../../shared/hash.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import { readChat, takeImages, type ChatMessage } from '../../../shared/chat.js';
import { CHAT_TEMPLATE, TOOL_TEMPLATE } from '../../generation/chat.js';
import { listInfos } from '../../generation/decoder-interface.js';
import { EMBED_TOKENS } from '../../generation/embedder.js';
import { contextLengthOf, GENERATION_CONFIG } from '../../generation/model-facts.js';
import { SoftTokens, type SoftPicture } from '../../generation/soft-tokens.js';
import type { GenerationConfig } from '../../handlers/generation-handler.js';
import type { AnswerStep, GenerateTools, Prompt } from '../../generation/answer.js';
import type { StateConfig } from '../../handlers/state-config.js';
import type { VisionConfig, VisionParams } from '../../handlers/vision-params.js';
import type { PictureReader, ReadPicture } from './picture-reader.js';
import { PREPROCESSOR, PROCESSOR, readerOf } from './picture-readers.js';
import { IMAGE_TEXT_TO_TEXT_SCHEMA } from './schemas.js';
import { TextGenerator, type TextGeneratorInput, type TextGeneratorParams } from './text-generator.js';

const ENCODER = 'vision_encoder';

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

/** A picture of a prompt. */
interface PromptPicture extends ReadPicture {
  /** The same for the same pixels alone. */
  readonly key: string;
}

interface PicturePrompt extends Prompt {
  readonly pictures: readonly PromptPicture[];
}

/**
 * Generates text about pictures with a language model that reads them, such as SmolVLM, Qwen2.5-VL, LFM2-VL, Gemma 3 or
 * Llava: the next message of a conversation whose contents are texts and pictures.
 *
 * The model is three files: `embed_tokens` makes vectors of tokens, the encoder of pictures makes vectors of their
 * tiles or patches, and the decoder reads both. What the encoder has made of a picture stays in the worker for the next question.
 * Everything else is as in `text_generator`, which runs the same repositories without the encoder: pass
 * `handler: 'text_generator'`, and no picture's weights are downloaded.
 * @sample { "params": { "maxNewTokens": 40 } }
 * @input a conversation `{ messages }`, whose contents may have parts `{ type: 'image', image }`; or a text
 * @answer `{ text, finishReason, usage }`; streamed, the text in parts before it
 */
export class ImageTextToText extends TextGenerator {
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
      'Lfm2VlForConditionalGeneration',
      'Gemma3ForConditionalGeneration',
      'LlavaForConditionalGeneration',
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

  #encoder!: Session;
  #reader!: PictureReader;
  #vectors!: SoftTokens;
  #pictureToken!: number;

  /**
   * Opens the three models, and loads the tokenizer, the chat template and the rules for pictures.
   * @throws what `text_generator` throws; `model-config` if the files do not say how pictures are read
   */
  override async initialize(context: Context): Promise<void> {
    this.#reader = await readerOf(context.files);
    this.#encoder = await context.open(ENCODER);
    checkEncoder(this.#encoder, this.#reader);
    await super.initialize(context);
    const { placeholder, token: name = placeholder } = this.#reader;
    const token = this.tokenizer.idOf(name);
    if (token === undefined || !this.embedder)
      throw new TabServeError(
        'model-config',
        token === undefined
          ? `The tokenizer has no token ${name}, which stands for a picture.`
          : `The decoder reads tokens, and so no pictures: the handler text_generator runs it.`,
      );
    this.#pictureToken = token;
    this.#vectors = new SoftTokens(context.kept);
    this.embedder.pictures = { vectors: this.#vectors, token };
  }

  /** Returns inputs for one token, or for one black tile. */
  override example(context: Context, node?: string): Tensors | undefined {
    if (node !== ENCODER) return super.example(context, node);
    return undefined;
  }

  protected override async promptOf(
    input: ImageTextToTextInput,
    index: number,
    context: Context,
  ): Promise<PicturePrompt> {
    if (typeof input !== 'object' || !('messages' in input))
      return this.#checked({ ...(await super.promptOf(input, index, context)), pictures: [] });
    let images: readonly unknown[] = [];
    const param = (name: string): never => this.param(name, index, context);
    const { text, answer } = await this.render(input, param, (chat) => {
      const taken = takeImages(readChat(chat, { takesImages: true }));
      images = taken.images;
      return taken.chat;
    });
    const pictures: PromptPicture[] = [];
    for (const image of images) {
      const decoded = await context.decodeImage(image as ImageInput, {
        exifOrientation: this.param('exifOrientation', index, context),
        background: this.param('background', index, context),
      });
      try {
        const read = await this.#reader.read(decoded);
        pictures.push({ ...read, key: await keyOf(read) });
      } finally {
        decoded.close();
      }
      context.heartbeat();
    }
    const [first = '', ...others] = text.split(this.#reader.placeholder);
    if (others.length !== pictures.length)
      throw new TabServeError(
        'invalid-input',
        `The chat template writes ${others.length} pictures (${this.#reader.placeholder}), and the messages have ${pictures.length}. A text must not have ${this.#reader.placeholder} in it.`,
      );
    const whole = first + others.map((part, at) => pictures[at]!.text + part).join('');
    return this.#checked({ ...this.promptOfText({ text: whole, answer }, param), pictures });
  }

  /** @throws `invalid-input` if a text has the token in it that stands for a part of a picture */
  #checked(prompt: PicturePrompt): PicturePrompt {
    const expected = prompt.pictures.reduce((sum, { count }) => sum + count, 0);
    if (prompt.tokens.filter((token) => token === this.#pictureToken).length === expected) return prompt;
    throw new TabServeError(
      'invalid-input',
      `A text must not have ${this.tokenizer.tokenOf(this.#pictureToken)} in it: it stands for a part of a picture.`,
    );
  }

  protected override async *generate(prompt: PicturePrompt, tools: GenerateTools): AsyncGenerator<AnswerStep> {
    const held: SoftPicture[] = [];
    try {
      for (const picture of prompt.pictures)
        held.push(await this.#vectors.hold(picture, () => this.#encode(picture, tools.signal)));
      const numbers = held.flatMap(({ first, count }) => Array.from({ length: count }, (_, at) => first + at));
      let at = 0;
      const tokens = prompt.tokens.map((token) => (token === this.#pictureToken ? numbers[at++]! : token));
      const choose: GenerateTools['choose'] = (logits, settings, progress) => {
        // The rules know tokens alone.
        const written = [...prompt.tokens, ...progress.tokens.slice(tokens.length)];
        return tools.choose(logits, settings, { ...progress, tokens: written });
      };
      yield* super.generate({ ...prompt, tokens }, { ...tools, choose });
    } finally {
      for (const one of held) this.#vectors.release(one);
    }
  }

  async #encode({ feeds, count }: PromptPicture, signal: AbortSignal): Promise<Tensor> {
    const known = new Set(this.#encoder.inputs.map(({ name }) => name));
    const own = Object.fromEntries(Object.entries(feeds).filter(([name]) => known.has(name)));
    const outputs = await this.#encoder.run(own, { signal });
    const [vectors] = Object.values(outputs);
    const rows = vectors!.dims.slice(0, -1).reduce((product, size) => product * size, 1);
    if (rows !== count)
      throw new TabServeError(
        'model-config',
        `The encoder of pictures makes ${rows} vectors of a picture that has ${count} tokens in the prompt: ${PREPROCESSOR}, or image_seq_len of ${PROCESSOR}, is another model's.`,
      );
    return vectors!;
  }
}

/** @throws `model-config` for inputs that nothing fills */
function checkEncoder({ inputs, outputs }: Session, { inputs: filled }: PictureReader): void {
  const others = inputs.filter(({ name }) => !filled.includes(name));
  if (others.length === 0 && outputs.length === 1 && inputs.length > 0) return;
  throw new TabServeError(
    'model-config',
    `The encoder of pictures reads ${filled.map((name) => `"${name}"`).join(', ')}, or some of them, and returns one output. This one has the inputs ${listInfos(inputs)}, and the outputs ${listInfos(outputs)}. The handler text_generator runs the model's half of texts.`,
  );
}

/** Returns the shape of a picture, and the SHA-256 of its pixels as the model reads them. */
async function keyOf({ feeds, grid }: ReadPicture): Promise<string> {
  const { dims, data } = feeds['pixel_values'] as Tensor<'float32'>;
  const shape = grid ? [grid.rows, grid.columns, ...dims] : dims;
  return `${shape.join('×')} ${await hashOf([new Blob([data as Float32Array<ArrayBuffer>])])}`;
}
