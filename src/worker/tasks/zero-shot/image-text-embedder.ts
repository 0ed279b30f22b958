import { PredictionError, TabServeError } from '../../../contract/errors.js';
import type { Context, InputKind, NodeHandler } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { ImageInput } from '../../../contract/images.js';
import type { OutputInfo } from '../../../contract/tensors.js';
import type { Embedding } from '../../outputs/embedding.js';
import { transferResult } from '../../outputs/transfer.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { siglipLengths, type TextLengths } from './label-texts.js';
import { loadHandler, type HandlerOf } from '../../handlers/registry.js';
import type { StateConfig } from '../../handlers/state-config.js';
import type { TextInput } from '../../handlers/text-handler.js';
import type { VisionConfig } from '../../handlers/vision-params.js';
import { WorkflowHandler } from '../../handlers/workflow-handler.js';
import { IMAGE_TEXT_EMBEDDER_SCHEMA } from './schemas.js';

/** The input of one row: an image; or a text, as a string, `{ text }`, or a Blob whose type begins with `text/`. */
export type ImageTextInput = ImageInput | string | { readonly text: string };

/** SigLIP's parts have no projection. */
const POOLED = 'pooler_output';

/** Returns the output with the vector that images and texts are compared by. @throws `model-config` if there is none */
function vectorOf(outputs: readonly OutputInfo[], name: string): OutputInfo {
  const found = [name, POOLED].flatMap((one) => outputs.filter((output) => output.name === one))[0];
  if (found) return found;
  throw new TabServeError(
    'model-config',
    `The model has no output "${name}" or "${POOLED}", by which images and texts are compared; it has ${outputs.map((output) => `"${output.name}"`).join(', ')}. Export it with its projection.`,
  );
}

/** The keys of `handler:` that only the config sets. */
export interface ImageTextEmbedderConfig extends Pick<VisionConfig, 'imageProcessing'>, TextLengths, StateConfig {}

/**
 * Returns the features of each image or text as one vector of a space that both share, for search of images by words,
 * with the two parts of a model such as CLIP, SigLIP or MobileCLIP: the node `vision` (`vision_model.onnx`) and the node
 * `text` (`text_model.onnx`). A part runs on all rows of a batch that are for it. The vectors
 * of texts stay in the worker, up to `maxStateBytes`: labels that each photo is compared with are read once. All vectors have the length 1; compare
 * them with `cosineSimilarity` and `nearest` of `tabserve`.
 * @answer the features of the image or text: a `Float32Array` whose Euclidean norm is 1, to compare with
 *   `cosineSimilarity` and `nearest`
 */
export class ImageTextEmbedder extends WorkflowHandler<ImageTextInput, Embedding> {
  static override readonly takes: InputKind = 'image-or-text';

  static override readonly huggingFace: HuggingFaceTask = {
    processor: 'both',
    nodes: { vision: ['vision_model'], text: ['text_model'] },
    nodeProcessors: { vision: 'image', text: 'tokenizer' },
    handlerConfig: siglipLengths,
  };

  declare readonly configType?: ImageTextEmbedderConfig;
  static override readonly schema: ConfigSchema = IMAGE_TEXT_EMBEDDER_SCHEMA;

  #vision!: NodeHandler<HandlerOf<'image_feature_extractor'>>;
  #text!: NodeHandler<HandlerOf<'text_feature_extractor'>>;

  /** Opens both parts. @throws what opening a node throws */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    const [Images, Texts] = await Promise.all([
      loadHandler('image_feature_extractor'),
      loadHandler('text_feature_extractor'),
    ]);
    class ImagePart extends Images {
      override async initialize(own: Context): Promise<void> {
        await super.initialize(own);
        this.outputInfo = vectorOf(this.model.outputs, 'image_embeds');
      }
    }
    class TextPart extends Texts {
      override async initialize(own: Context): Promise<void> {
        await super.initialize(own);
        this.outputInfo = vectorOf(this.model.outputs, 'text_embeds');
      }
    }
    this.#vision = await context.openHandler('vision', ImagePart);
    this.#text = await context.openHandler('text', TextPart);
  }

  /** Runs each part on its rows. */
  override async inference(
    rows: readonly ImageTextInput[],
    context: Context,
  ): Promise<readonly (Embedding | PredictionError | undefined)[]> {
    const places = [...rows.keys()];
    const [texts, images] = [places.filter((at) => isText(rows[at]!)), places.filter((at) => !isText(rows[at]!))];
    const answers: (Embedding | PredictionError | undefined)[] = [];
    const vectors = await this.#textVectors(
      texts.map((at) => rows[at] as TextInput),
      context,
    );
    for (const [order, at] of texts.entries()) answers[at] = vectors[order];
    const pictures = await this.#vision.handle(
      images.map((at) => rows[at] as ImageInput),
      context,
    );
    for (const [order, at] of images.entries()) answers[at] = pictures[order];
    return answers;
  }

  /** Returns the vectors of texts: the cached ones, and those that the part computes for the others. */
  async #textVectors(texts: readonly TextInput[], context: Context): Promise<readonly (Embedding | PredictionError)[]> {
    const vectors = texts.map((text): Embedding | PredictionError | undefined => {
      const cached = context.kept.get(keyOf(text)) as Embedding | undefined;
      return cached && transferred(cached.slice());
    });
    const places = [...vectors.keys()].filter((at) => !vectors[at]);
    const made = await this.#text.handle(
      places.map((at) => texts[at]!),
      context,
    );
    for (const [order, at] of places.entries()) {
      const vector = (vectors[at] = made[order]!);
      const key = keyOf(texts[at]!);
      // The vector itself moves to the page.
      if (key !== undefined && !(vector instanceof PredictionError))
        context.kept.set(key, vector.slice(), { bytes: vector.byteLength + 2 * key.length });
    }
    return vectors as readonly (Embedding | PredictionError)[];
  }
}

/** Returns the key by which the vector of a text is cached; undefined for a file, and for a pair of texts. */
function keyOf(input: TextInput): string | undefined {
  if (typeof input === 'string') return `text/${input}`;
  const isText = !(input instanceof Blob) && Object.keys(input).length === 1;
  return isText && typeof input.text === 'string' ? `text/${input.text}` : undefined;
}

function transferred(vector: Embedding): Embedding {
  return transferResult(vector, [vector.buffer]);
}

function isText(input: ImageTextInput): boolean {
  if (input instanceof Blob) return input.type.startsWith('text/');
  return typeof input === 'string' || (typeof input === 'object' && input !== null && 'text' in input);
}
