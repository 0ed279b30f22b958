import { TabServeError } from '../contract/errors.js';
import type { Context, MaybePromise } from '../contract/handler.js';
import type { Tensor, Tensors } from '../contract/tensors.js';
import { poolPositions, POOLINGS, type Embedding, type Pooling } from '../outputs/embedding.js';
import type { ConfigSchema } from '../shared/schema.js';
import { checkFeatures, embed, NORMALIZE } from './embed.js';
import { TextHandler, type TextParams } from './text-handler.js';

/** The `params` of a text feature extractor. */
export interface TextFeatureExtractorParams extends TextParams {
  /** How the vectors of a text's tokens become one. */
  readonly pooling?: Pooling;
  /** Whether the vector's length is 1. */
  readonly normalize?: boolean;
}

/**
 * Returns the features of each text as one vector, for search by meaning and for clustering.
 *
 * The model's output holds a vector for each token, `[rows, tokens, features]`, which `pooling` makes one: their mean,
 * the first one, or the last one. Padding does not count. Or it holds a vector for each row, `[rows, features]`, which
 * needs no pooling. Vectors have the length 1 unless `normalize` is false; compare them with `cosineSimilarity` and
 * `nearest` of `tabserve`.
 */
export class TextFeatureExtractor extends TextHandler {
  declare readonly paramsType?: TextFeatureExtractorParams;

  static override readonly schema: ConfigSchema = {
    pooling: {
      enum: [...POOLINGS],
      description:
        "How the vectors of a text's tokens become one: their mean, the first one (cls), or the last one (last-token). Padding does not count. Default: mean. A model with one vector for each text takes none.",
    },
    ...NORMALIZE,
  };

  /**
   * Opens the model and checks its output.
   * @throws `model-config` if the output cannot hold features
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    checkFeatures(this.outputInfo);
  }

  /**
   * Converts the model's output to one vector for each row, and transfers its buffer to the page.
   *
   * An override may return a list of any other type, with one result for each row, and may call `super.postprocess`
   * without a cast. The two equal signatures with a type parameter make this possible: TypeScript compares an override
   * with overloads as if their type parameters were `any`. Callers do not set the type parameter.
   */
  override postprocess<Row extends Embedding = Embedding>(
    outputs: Tensors,
    context: Context,
  ): MaybePromise<readonly Row[]>;
  override postprocess<Row extends Embedding = Embedding>(
    outputs: Tensors,
    context: Context,
  ): MaybePromise<readonly Row[]>;
  override postprocess(outputs: Tensors, context: Context): MaybePromise<readonly unknown[]> {
    return embed(outputs, this.outputInfo.name, context, {
      pool: (part, index) => this.#pool(part, index, context),
      normalize: (index) => this.param('normalize', index, context),
    });
  }

  #pool(part: Tensor, index: number, context: Context): Embedding {
    const pooling = this.param<Pooling | undefined>('pooling', index, context);
    if (part.dims.length === 2) return poolPositions(part, pooling ?? 'mean', this.tokenSpan(index, context));
    if (part.dims.length === 1 && pooling === undefined) return (part.data as Embedding).slice() as Embedding;
    throw new TabServeError(
      'model-config',
      part.dims.length === 1
        ? `pooling: the output "${this.outputInfo.name}" has one vector for each text, so there is nothing to pool. Remove pooling, or name the output with the tokens' vectors in handler.outputName.`
        : `handler.outputName: a text feature extractor needs [rows, tokens, features] or [rows, features], but a row of "${this.outputInfo.name}" has the dims [${part.dims.join(', ')}]. Name another output.`,
    );
  }
}
