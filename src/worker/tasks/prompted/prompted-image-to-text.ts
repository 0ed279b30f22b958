import type { Context, InputKind } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Session, Tensor, Tensors } from '../../../contract/tensors.js';
import { invalidInput, TabServeError } from '../../../contract/errors.js';
import { hashOf } from '../../../shared/hash.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import type { AnswerStep, GeneratedAnswer, GeneratedText, GenerateTools } from '../../generation/answer.js';
import { EMBED_TOKENS, EMBEDDINGS } from '../../generation/embedder.js';
import { contextLengthOf, GENERATION_CONFIG } from '../../generation/model-facts.js';
import { formatTokens, mostTokens } from '../../generation/prompt.js';
import { SoftTokens, type SoftPicture } from '../../generation/soft-tokens.js';
import { specialTokensOf } from '../../generation/special-tokens.js';
import {
  readTextToTextSettings,
  type TextToTextParams,
  type TextToTextSettings,
} from '../../generation/text-to-text-settings.js';
import { EncoderDecoderHandler, type EncoderPrompt } from '../../handlers/encoder-decoder-handler.js';
import type { GenerationConfig } from '../../handlers/generation-handler.js';
import { ImageTensorInput } from '../../handlers/image-input.js';
import type { StateConfig } from '../../handlers/state-config.js';
import type { VisionConfig, VisionParams } from '../../handlers/vision-params.js';
import { integers } from '../../tensors/tensors.js';
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
import { readInput, type PromptedImageInput } from './prompted-image-input.js';
import { readTask, type AnswerKind } from './prompt-tasks.js';
import { bannedPhrases, PREPROCESSOR, PROCESSOR, tokensOfImage } from './florence-files.js';
import { regionsOf, writeBox, type ImageRegion, type ImageSize } from './regions.js';
import { PROMPTED_IMAGE_TO_TEXT_SCHEMA } from './schemas.js';

export type { PromptedImageInput } from './prompted-image-input.js';
export type { ImageRegion, RegionPoint } from './regions.js';

const ENCODER = 'vision_encoder';
/** The special tokens that are no part of an answer. All others are: they say what is where. */
const NO_TEXT = new Set(['<s>', '</s>', '<pad>']);

/** The `params` of `prompted_image_to_text`. Defaults are those of the repository's `generation_config.json`. */
export interface PromptedImageToTextParams extends Omit<TextToTextParams, 'srcLang' | 'tgtLang'>, VisionParams {}

/** The answer to one row. */
export interface PromptedImageAnswer extends GeneratedText {
  /** What the task finds, in the order in which the model has written it. Missing if the task asks for a text. */
  readonly regions?: readonly ImageRegion[];
}

interface FlorencePrompt extends EncoderPrompt {
  /** The same for the same pixels alone. */
  readonly key: string;
  readonly kind: AnswerKind;
  readonly size: ImageSize;
}

interface FlorenceAnswer extends GeneratedAnswer {
  readonly regions: readonly ImageRegion[] | undefined;
}

/**
 * Does what a prompt asks of an image with Florence-2: captions, texts (OCR), objects with their boxes, regions,
 * phrases of a caption, and outlines of what the prompt names.
 *
 * The prompt is the name of a task, with what the task needs: `<CAPTION>`, `<DETAILED_CAPTION>`,
 * `<MORE_DETAILED_CAPTION>`, `<OD>`, `<DENSE_REGION_CAPTION>`, `<REGION_PROPOSAL>`, `<OCR>`, `<OCR_WITH_REGION>`,
 * `<CAPTION_TO_PHRASE_GROUNDING>` with a caption, `<OPEN_VOCABULARY_DETECTION>` and
 * `<REFERRING_EXPRESSION_SEGMENTATION>` with words, and `<REGION_TO_CATEGORY>`, `<REGION_TO_DESCRIPTION>`,
 * `<REGION_TO_OCR>` and `<REGION_TO_SEGMENTATION>` with `box`. Any other prompt is asked as it is.
 *
 * The model is four files, the nodes `vision_encoder`, `embed_tokens`, `encoder` and `decoder`. What the first one has
 * made of an image stays in the worker for the next prompt. The params of `text_to_text`, such as `maxNewTokens`, apply.
 * Regions are those of transformers' `post_process_generation`: whole pixels, and names of boxes without characters
 * outside of ASCII.
 * @sample { "params": { "maxNewTokens": 40 } }
 * @input an image; or `{ image, prompt, box? }`
 * @answer `{ text, regions?, finishReason, usage }`; `regions` are `[{ label, box: { xmin, ymin, xmax, ymax } }, …]` for
 *   tasks of boxes, `{ label, quad: [[x, y], …] }` for lines of text, `{ label, polygons: [[[x, y], …], …] }` for
 *   outlines; streamed, the text in parts before it
 */
export class PromptedImageToText extends EncoderDecoderHandler<PromptedImageInput, TextToTextSettings, FlorencePrompt> {
  declare readonly paramsType?: PromptedImageToTextParams;
  declare readonly configType?: GenerationConfig &
    StateConfig &
    Pick<VisionConfig, 'imageProcessing' | 'maxImagePixels'>;

  static override readonly takes: InputKind = 'image';

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['Florence2ForConditionalGeneration'],
    processor: 'both',
    nodes: {
      [ENCODER]: [ENCODER],
      [EMBED_TOKENS]: [EMBED_TOKENS],
      encoder: ['encoder_model'],
      decoder: ['decoder_model_merged'],
    },
    generates: true,
    files: [GENERATION_CONFIG, HF_CONFIG, PREPROCESSOR, PROCESSOR],
    handlerConfig(config) {
      const contextLength = contextLengthOf(config);
      return contextLength === undefined ? {} : { contextLength };
    },
  };

  static override readonly schema: ConfigSchema = PROMPTED_IMAGE_TO_TEXT_SCHEMA;

  /** The steps that convert pixels to the tensor. An archive's `handler.imageProcessing` replaces them. */
  imageProcessing: Transforms = compose(
    resize([768, 768], { interpolation: 'bicubic' }),
    toTensor(),
    normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
  );
  #transforms!: CompiledTransforms;
  #input!: ImageTensorInput;
  #vision!: Session;
  #vectors!: SoftTokens;
  /** How many vectors an image becomes. */
  #count!: number;
  #banned!: ReadonlySet<string>;
  /** The special tokens that are part of an answer. */
  #marks!: readonly string[];

  /**
   * Opens the four models, loads the tokenizer and compiles the transforms.
   * @throws `model-config` if they are not the parts of one such model, or the transforms make no input of it;
   *   `model-format`
   */
  override async initialize(context: Context): Promise<void> {
    await this.openModels(context, 'embeddings');
    if (!this.embedder)
      throw new TabServeError(
        'model-config',
        'The decoder reads tokens in place of their vectors "inputs_embeds": it is no part of Florence-2. The handler image_to_text runs models of an encoder of images and a decoder.',
      );
    this.#vision = await context.open(ENCODER);
    const [input, ...others] = this.#vision.inputs;
    if (input?.name !== 'pixel_values' || others.length > 0 || this.#vision.outputs.length !== 1)
      throw new TabServeError(
        'model-config',
        `${ENCODER} makes of "pixel_values" one output, the vectors of an image. This one has the inputs ${this.#vision.inputs.map(({ name }) => name).join(', ')}, and the outputs ${this.#vision.outputs.map(({ name }) => name).join(', ')}.`,
      );
    const configured = (this.config as { imageProcessing?: unknown }).imageProcessing;
    if (configured !== undefined) this.imageProcessing = parseTransforms(configured);
    this.#transforms = compileTransforms(this.imageProcessing);
    this.#input = new ImageTensorInput(input, this.imageProcessing, [input], false);
    this.#input.checkTransforms(this.#transforms);
    this.#count = await tokensOfImage(context.files);
    this.#banned = await bannedPhrases(context.files);
    this.#marks = specialTokensOf(this.tokenizer, NO_TEXT);
    this.#vectors = new SoftTokens(context.kept);
    this.embedder.vectors = this.#vectors;
    this.initialized = true;
  }

  /** Returns the inputs for a black image, or for one token. */
  async example(_context: Context, node?: string): Promise<Tensors | undefined> {
    if (node === EMBED_TOKENS) return { input_ids: integers('int64', [1, 1], [0]) };
    if (node === 'decoder') return this.decoderExample();
    if (node === 'encoder') {
      const example = this.embedder?.example()?.[EMBEDDINGS];
      return example && this.encoder.embeddingFeeds(example);
    }
    const [width, height] = [64, 64];
    const black = {
      format: 'RGB',
      width,
      height,
      stride: width * 3,
      data: new Uint8Array(width * height * 3),
    } as const;
    const { dims, data } = await this.#transforms.run(black);
    return this.#input.stack([{ dtype: 'float32', dims, data }]);
  }

  protected override async promptOf(
    given: PromptedImageInput,
    index: number,
    context: Context,
  ): Promise<FlorencePrompt> {
    const { image, prompt, box } = readInput(given);
    const settings = this.settingsOf((name) => this.param(name, index, context));
    this.checkBeams(settings);
    const decoded = await context.decodeImage(image, {
      exifOrientation: this.param('exifOrientation', index, context),
      background: this.param('background', index, context),
    });
    try {
      const size = { width: decoded.width, height: decoded.height };
      const { words, kind } = readTask(prompt, box && writeBox(box, size));
      const own = this.tokenizer.encode(words, undefined, mostTokens(this.contextLength)).ids;
      // The vectors of the image take the places of these.
      const tokens = [...Array.from({ length: this.#count }, () => 0), ...own];
      if (tokens.length > this.contextLength)
        throw invalidInput(
          `The prompt has ${formatTokens(own, this.contextLength)}, and the model reads at most ${this.contextLength - this.#count} beside the image. Shorten it.`,
        );
      const { dims, data } = await this.#transforms.run(decoded);
      const feeds = this.#input.stack([{ dtype: 'float32', dims, data }]);
      const key = await hashOf([new Blob([data as Float32Array<ArrayBuffer>])]);
      return { tokens, settings, feeds, key, kind, size, answer: { tokens: this.#marks, grammar: undefined } };
    } finally {
      decoded.close();
    }
  }

  protected override async *generate(prompt: FlorencePrompt, tools: GenerateTools): AsyncGenerator<AnswerStep> {
    const hiddenStates = await this.#encode(prompt, tools.signal);
    yield* this.write(hiddenStates, [prompt.settings.startTokenId], prompt.settings, tools);
  }

  /** Writes the answers, and reads their regions. */
  override async inference(
    prompts: readonly (FlorencePrompt | undefined)[],
    context: Context,
  ): Promise<readonly (FlorenceAnswer | undefined)[]> {
    const answers = await super.inference(prompts, context);
    return answers.map((answer, index) => {
      const { kind, size } = prompts[index] ?? {};
      return answer && { ...answer, regions: regionsOf(answer.text.trim(), kind!, size!, this.#banned) };
    });
  }

  override postprocess(
    answers: readonly (FlorenceAnswer | undefined)[],
    context: Context,
  ): readonly PromptedImageAnswer[] {
    return super.postprocess(answers, context).map((found, index) => {
      const regions = answers[index]?.regions;
      return found && { ...found, text: found.text.trim(), ...(regions && { regions }) };
    });
  }

  protected override settingsOf(param: (name: string) => never): TextToTextSettings {
    return readTextToTextSettings(param, this.facts, undefined, this.contextLength);
  }

  /** Returns what the encoder makes of image and prompt. */
  async #encode({ tokens, feeds, key }: FlorencePrompt, signal: AbortSignal): Promise<Tensor> {
    let picture: SoftPicture | undefined;
    try {
      // Every number becomes a vector: the token is any.
      picture = await this.#vectors.hold({ key, token: 0, count: this.#count }, () => this.#see(feeds, signal));
      const { first, count } = picture;
      const numbers = tokens.map((token, at) => (at < count ? first + at : token));
      const { [EMBEDDINGS]: vectors } = await this.embedder!.run([numbers], signal);
      return await this.encoder.run(this.encoder.embeddingFeeds(vectors!), signal);
    } finally {
      if (picture) this.#vectors.release(picture);
    }
  }

  /** Returns the vectors of an image. */
  async #see(feeds: Tensors, signal: AbortSignal): Promise<Tensor> {
    const [vectors] = Object.values(await this.#vision.run(feeds, { signal }));
    const count = vectors!.dims.slice(0, -1).reduce((product, size) => product * size, 1);
    if (count === this.#count) return vectors!;
    throw new TabServeError(
      'model-config',
      `${ENCODER} makes ${count} vectors of an image, and by image_seq_length of ${PREPROCESSOR} they are ${this.#count}: the file is another model's.`,
    );
  }
}
