import { TabServeError } from '../../../contract/errors.js';
import type { Context, Params } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Signature } from '../../../contract/task.js';
import type { Tensor, Tensors } from '../../../contract/tensors.js';
import { poolMaps, poolPositions, type Embedding, type Pooling } from '../../outputs/embedding.js';
import type { MapLayout } from '../../outputs/maps.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { centerCrop, compose, normalize, resize, toTensor } from '../../transforms/index.js';
import { embed, ownVector, projection, type NormalizeParams } from '../../handlers/embed.js';
import { isChannelsLast } from '../../handlers/image-input.js';
import { codeOfParams } from '../../handlers/row.js';
import { VisionHandler } from '../../handlers/vision-handler.js';
import type { VisionParams } from '../../handlers/vision-params.js';
import { IMAGE_FEATURE_EXTRACTOR_SCHEMA } from './schemas.js';
import { floatOutput } from '../../outputs/floats.js';
import type { VisionConfig } from '../../handlers/vision-params.js';

/** The `model_type` of transformers whose positions are all parts of the image: none stands for the whole. */
const ONLY_PARTS = new Set(['donut-swin', 'focalnet', 'hiera', 'ijepa', 'levit', 'maskformer-swin', 'swin', 'swinv2']);

/** The `params` of an image feature extractor. */
export interface ImageFeatureExtractorParams extends VisionParams, NormalizeParams {
  /**
   * For an output [rows, positions, features]: whether the vector is the first one (cls) or the mean of all.
   * Default: cls; mean for families that have no first one for the whole image, such as Swin, Hiera and I-JEPA. Maps
   * always become their means.
   */
  readonly pooling?: 'mean' | 'cls';
}

/** The keys of `handler:` that only the config sets. */
export interface ImageFeatureExtractorConfig extends VisionConfig {
  /** The layout of an output that has maps. Default: the layout of the input. */
  readonly layout?: 'NCHW' | 'NHWC';
}

/**
 * Returns the features of each image as one vector, for search by likeness and for clustering.
 *
 * The model's output holds
 * - a vector for each row, `[rows, features]`;
 * - maps, `[rows, features, height, width]` or `[rows, height, width, features]`: the vector has the mean of each map;
 * - a vector for each position, `[rows, positions, features]`, as vision transformers return: the vector is the first
 *   one (`cls`) or, with `pooling: 'mean'`, the mean of all.
 *
 * In a repository, the output `pooler_output` of CLIP, SigLIP, BEiT and their like is the vector, which they were trained
 * to make; and the mean is the default for families whose positions are all parts of the image, such as Swin.
 *
 * The default transforms are ImageNet's. Vectors have the length 1 unless `normalize` is false; compare them with
 * `cosineSimilarity` and `nearest` of `tabserve`.
 * @answer the image's features: a `Float32Array` whose Euclidean norm is 1, to compare with `cosineSimilarity` and
 *   `nearest`
 */
export class ImageFeatureExtractor extends VisionHandler<Embedding> {
  declare readonly paramsType?: ImageFeatureExtractorParams;

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['VisionModelWithProjection'],
    processor: 'image',
    files: [HF_CONFIG],
    handlerConfig: projection('image_embeds'),
  };

  static override readonly nearest: readonly Signature[] = [
    { order: 80, reads: 'images', main: { rank: 4, isLogits: false, name: ['last_hidden_state', 'hidden_state'] } },
    { order: 140, reads: 'images', main: { rank: 2 } },
    { order: 150, reads: 'images', main: { rank: 3 } },
  ];

  /** What stands for the image, of a vector for each position. */
  #usual: Pooling = 'cls';

  declare readonly configType?: ImageFeatureExtractorConfig;
  static override readonly schema: ConfigSchema = IMAGE_FEATURE_EXTRACTOR_SCHEMA;

  override imageProcessing = compose(
    resize(256),
    centerCrop(224),
    toTensor(),
    normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
  );

  /**
   * Opens the model and checks its output.
   * @throws `model-config` if the output cannot hold features
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    const { outputName, pooling } = this.config;
    const config = context.files.has(HF_CONFIG) ? ((await context.files.json(HF_CONFIG)) as Params) : {};
    if (outputName === undefined && pooling === undefined)
      this.outputInfo = ownVector(this.model.outputs, config) ?? this.outputInfo;
    this.outputInfo = floatOutput(this.outputInfo, this.model.outputs, this.config, 'last_hidden_state');
    if (ONLY_PARTS.has(String(config['model_type']))) this.#usual = 'mean';
  }

  /** Converts the model's output to one vector for each row, and transfers its buffer to the page. */
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => Embedding {
    return embed(outputs, this.outputInfo.name, context.systemProperties.batchSize, {
      pool: (part, index) => this.#pool(part, index, context),
      normalize: (index) => this.param('normalize', index, context),
      dimensions: (index) => this.param('dimensions', index, context),
    });
  }

  #pool(part: Tensor, index: number, context: Context): Embedding {
    const pooling = this.param<Pooling | undefined>('pooling', index, context);
    const rank = part.dims.length;
    if (rank === 2) return poolPositions(part, pooling ?? this.#usual);
    if (rank === 1 && pooling === undefined) return (part.data as Embedding).slice() as Embedding;
    if (rank === 3 && pooling !== 'cls') return poolMaps(part, this.#layout);
    const { name } = this.outputInfo;
    const isOfPooling = rank === 1 || rank === 3;
    throw new TabServeError(
      isOfPooling ? codeOfParams(['pooling'], index, context) : 'model-config',
      isOfPooling
        ? `pooling: "${pooling}" does not apply to the output "${name}", which has ${rank === 1 ? 'one vector for each image' : 'maps, whose means are the vector'}. Remove pooling.`
        : `handler.outputName: an image feature extractor needs 1 to 3 dims for each image, but for one image "${name}" has the dims [${part.dims.join(', ')}]. Name another output.`,
    );
  }

  get #layout(): MapLayout {
    return (this.config['layout'] as MapLayout | undefined) ?? (isChannelsLast(this.imageProcessing) ? 'NHWC' : 'NCHW');
  }
}
