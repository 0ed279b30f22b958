import type { PredictionError } from '../../../contract/errors.js';
import type { Context, InputKind, NodeHandler } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { ImageInput } from '../../../contract/images.js';
import type { Embedding } from '../../outputs/embedding.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { siglipLengths, type TextLengths } from '../../handlers/label-texts.js';
import { loadHandler, type HandlerOf } from '../../handlers/registry.js';
import type { StateConfig } from '../../handlers/state-config.js';
import type { TextInput } from '../../handlers/text-handler.js';
import type { VisionConfig } from '../../handlers/vision-params.js';
import { openTextPart, textVectors, vectorOutput, type TextPart, isText } from '../../handlers/text-vectors.js';
import { WorkflowHandler } from '../../handlers/workflow-handler.js';
import { IMAGE_TEXT_EMBEDDER_SCHEMA } from './schemas.js';

/** The input of one row: an image; or a text, as a string, `{ text }`, or a Blob whose type begins with `text/`. */
export type ImageTextInput = ImageInput | string | { readonly text: string };

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
  #text!: TextPart;

  /** Opens both parts. @throws what opening a node throws */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    const Images = await loadHandler('image_feature_extractor');
    class ImagePart extends Images {
      override async initialize(own: Context): Promise<void> {
        await super.initialize(own);
        this.outputInfo = vectorOutput(this.model.outputs, 'image_embeds');
      }
    }
    this.#vision = await context.openHandler('vision', ImagePart);
    this.#text = await openTextPart(context);
  }

  /** Runs each part on its rows. */
  override async inference(
    rows: readonly ImageTextInput[],
    context: Context,
  ): Promise<readonly (Embedding | PredictionError | undefined)[]> {
    const places = [...rows.keys()];
    const [texts, images] = [places.filter((at) => isText(rows[at]!)), places.filter((at) => !isText(rows[at]!))];
    const answers: (Embedding | PredictionError | undefined)[] = [];
    const vectors = await textVectors(
      this.#text,
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
}
