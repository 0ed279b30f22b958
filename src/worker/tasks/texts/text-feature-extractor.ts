import { shorten } from '../../../contract/describe-value.js';
import { TabServeError, type ErrorCode } from '../../../contract/errors.js';
import type { Context, Params, ResultKind } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Signature } from '../../../contract/task.js';
import type { Tensor, Tensors } from '../../../contract/tensors.js';
import { applyDense, denseLayer, type DenseLayer } from './dense.js';
import { knownModel, type KnownModel } from './known-models.js';
import { poolPositions, type Embedding, type Pooling } from '../../outputs/embedding.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { declareStandard } from '../../handlers/handler-contract.js';
import { embed, ownVector, projection, type NormalizeParams } from '../../handlers/embed.js';
import { transferResult } from '../../outputs/transfer.js';
import { readSafetensors } from '../../tensors/safetensors.js';
import { codeOfParams } from '../../handlers/row.js';
import { TextHandler, type TextInput, type TextParams } from '../../handlers/text-handler.js';
import { isTokens, readTokens, type TokenInput } from '../../text/read-tokens.js';
import type { Encoding } from '../../text/tokenizer.js';
import { TEXT_FEATURE_EXTRACTOR_SCHEMA } from './schemas.js';
import { floatOutput } from '../../outputs/floats.js';
import type { TextHandlerConfig } from '../../handlers/text-handler.js';

/** The output with the vector of a text, in exports of sentence-transformers that have all modules in the graph. */
const SENTENCE = 'sentence_embedding';

/**
 * The output of a projection to what images are compared by. Where each token has a vector of it, as of BLIP-2, the first
 * one is the text's.
 */
const PROJECTED = 'text_embeds';

/** The output of transformers' heads. */
const LOGITS = 'logits';

/** A layer in `handler.dense`. */
interface LayerConfig {
  readonly weights: string;
  readonly activation: DenseLayer['activation'];
}

/**
 * Several ways of pooling.
 * @minItems 1
 */
type Poolings = readonly Pooling[];

/** A text's features, and how many tokens the model has read: the prompt and special tokens count, padding does not. */
export interface CountedEmbedding {
  readonly embedding: Embedding;
  readonly usage: { readonly promptTokens: number };
}

/** The forms of a text's features, by the value of the param `result`. */
export interface EmbeddingForms {
  readonly typed: Embedding;
  readonly usage: CountedEmbedding;
}

/** The `params` of a text feature extractor. */
export interface TextFeatureExtractorParams extends TextParams, NormalizeParams {
  /**
   * How the vectors of a text's tokens become one: their mean, the first one (cls), the last one (last-token), the
   * largest number of each feature (max), their sum divided by the square root of their number (mean-sqrt-length),
   * or their mean with the weights 1, 2, 3 and so on (weighted-mean). Of a list, the vectors follow one another.
   * Padding does not count. Default: mean, of the output text_embeds cls. A model with one vector for each text takes
   * none.
   */
  readonly pooling?: Pooling | Poolings;
  /** The name of the prompt that is put before each text; '' for none. Default: none. */
  readonly prompt?: string;
  /**
   * The form of the result. typed: the vector; usage: { embedding, usage: { promptTokens } }, with the number of tokens
   * that the model has read.
   * @default 'typed'
   */
  readonly result?: keyof EmbeddingForms;
}

/** The keys of `handler:` that only the config sets. */
export interface TextFeatureExtractorConfig extends TextHandlerConfig {
  /**
   * The layers after the pooling: each one's weights, a .safetensors file of the archive with linear.weight and
   * linear.bias, and its activation.
   */
  readonly dense?: readonly {
    readonly weights: string;
    readonly activation: 'identity' | 'tanh';
  }[];
  /** What can be put before a text, by name, for models that were trained with it: query, passage. */
  readonly prompts?: Readonly<Record<string, string>>;
}

/**
 * Returns the features of each text as one vector, for search by meaning and for clustering.
 *
 * The model's output holds a vector for each token, `[rows, tokens, features]`, which `pooling` makes one, and the
 * layers of `dense` change it. Padding does not count. Or it holds a vector for each row, `[rows, features]`, which
 * needs no pooling: the output `sentence_embedding`, if the model has one and no `pooling` is set. Vectors have the
 * length 1 unless `normalize` is false; compare them with `cosineSimilarity` and `nearest` of `tabserve`. In a
 * repository of sentence-transformers, all of this follows from `modules.json`; without that file, pooling and prompts
 * of bge, mxbai, arctic, gte, e5, nomic, jina, granite, Qwen3 and MiniLM are known by the repository's name.
 * @answer the text's features: a `Float32Array` whose Euclidean norm is 1, to compare with `cosineSimilarity` and
 *   `nearest`
 */
export class TextFeatureExtractor extends TextHandler<Embedding, unknown, TextInput | TokenInput> {
  declare readonly paramsType?: TextFeatureExtractorParams;

  static override readonly makes: ResultKind = 'vector';
  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['TextModelWithProjection'],
    processor: 'tokenizer',
    sentenceTransformers: true,
    files: [HF_CONFIG],
    handlerConfig: projection(PROJECTED),
  };

  static override readonly nearest: readonly Signature[] = [
    { order: 170, reads: 'texts', main: { rank: 2 } },
    { order: 180, reads: 'texts', main: { rank: 3, isLogits: false } },
  ];

  declare readonly resultForms?: EmbeddingForms;

  #layers: readonly DenseLayer[] = [];
  /** What the model's card says, if it is a model that is known by name. */
  #known: KnownModel | undefined;
  #usual: Pooling = 'mean';

  declare readonly configType?: TextFeatureExtractorConfig;
  static override readonly schema: ConfigSchema = TEXT_FEATURE_EXTRACTOR_SCHEMA;

  /**
   * Opens the model, checks its output and reads the layers of `dense`.
   * @throws `model-config` if the output holds no features, or if there is no prompt of the name `prompt`;
   *   `model-format`
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    const { outputName, pooling } = this.config;
    const isRepository = context.files.has(HF_CONFIG);
    const config = isRepository ? ((await context.files.json(HF_CONFIG)) as Params) : {};
    if (isRepository) this.#known = knownModel(context.manifest.model.modelName, config);
    const whole = this.model.outputs.find(({ name }) => name === SENTENCE) ?? ownVector(this.model.outputs, config);
    if (whole && outputName === undefined && pooling === undefined) this.outputInfo = whole;
    this.outputInfo = floatOutput(this.outputInfo, this.model.outputs, this.config, 'last_hidden_state');
    const { name } = this.outputInfo;
    if (name === LOGITS && outputName === undefined)
      throw new TabServeError(
        'model-config',
        `handler.outputName: the output "${LOGITS}" holds scores, such as of words or of a pair of texts, and no features. Set the option handler to what the model was exported for (fill_mask, text_classifier, text_reranker), or name an output in handler.outputName.`,
      );
    if (name === PROJECTED) this.#usual = 'cls';
    this.#promptOf(this.config['prompt'] as string | undefined, 'model-config');
    if (
      this.#usual === 'mean' &&
      isRepository &&
      !this.#known &&
      this.config['pooling'] === undefined &&
      this.outputInfo.dims.length === 3
    )
      context.warn(
        "handler.pooling: nothing in the repository says how the vectors of a text's tokens become one, since it has no modules.json and its name is of no model that is known. Their mean is used, as sentence-transformers does; if the model's card names another way, such as cls, set handler.pooling.",
      );
    const layers = (this.config['dense'] ?? []) as readonly LayerConfig[];
    this.#layers = await Promise.all(
      layers.map(async ({ weights, activation }) => {
        const { tensors } = readSafetensors(await context.files.bytes(weights), weights);
        return denseLayer(tensors, activation, weights);
      }),
    );
  }

  /** Returns the tokens of a text, or those that the request has. */
  protected override async encodeRow(
    input: TextInput | TokenInput,
    index: number,
    context: Context,
  ): Promise<readonly Encoding[]> {
    if (!isTokens(input)) return await super.encodeRow(input, index, context);
    const ids = readTokens(input, this.tokenizer);
    const most = this.tokenLimit(index, context);
    if (ids.length > most)
      throw new TabServeError('invalid-input', `tokens: the model takes at most ${most} tokens, got ${ids.length}.`);
    return [this.filled({ ids, typeIds: ids.map(() => 0) })];
  }

  /** Returns the prompt of row `index`. */
  protected override prefix(index: number, context: Context): string {
    return this.#promptOf(this.param('prompt', index, context), 'invalid-input');
  }

  #promptOf(name: string | undefined, code: ErrorCode): string {
    if (!name) return '';
    const prompts = (this.config['prompts'] ?? this.#known?.prompts ?? {}) as Readonly<Record<string, string>>;
    if (Object.hasOwn(prompts, name)) return prompts[name]!;
    throw new TabServeError(
      code,
      `prompt: handler.prompts has no "${shorten(name)}"; it has ${Object.keys(prompts).join(', ') || 'none'}.`,
    );
  }

  /** Converts the model's output to one vector for each row, and transfers its buffer to the page. */
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => Embedding {
    const vector = embed(outputs, this.outputInfo.name, context.systemProperties.batchSize, {
      pool: (part, index) => this.#pool(part, index, context),
      normalize: (index) => this.param('normalize', index, context),
      dimensions: (index) => this.param('dimensions', index, context),
    });
    return (index) =>
      this.param('result', index, context) === 'usage' ? this.#counted(vector(index), index, context) : vector(index);
  }

  static {
    declareStandard(this.prototype.rowResults);
  }

  /** Adds the counts of tokens. Its type is that of the form `typed`, as the class's is. */
  #counted(embedding: Embedding, index: number, context: Context): Embedding {
    const { encodings = [] } = this.modelRows(index, context) ?? {};
    const promptTokens = encodings.reduce((sum, { ids }) => sum + ids.length, 0);
    const counted: CountedEmbedding = { embedding, usage: { promptTokens } };
    return transferResult(counted, [embedding.buffer]) as unknown as Embedding;
  }

  #pool(part: Tensor, index: number, context: Context): Embedding {
    return this.#layers.reduce(applyDense, this.#pooled(part, index, context));
  }

  #pooled(part: Tensor, index: number, context: Context): Embedding {
    const pooling = this.param<Pooling | readonly Pooling[] | undefined>('pooling', index, context);
    if (part.dims.length === 2) {
      const span = this.tokenSpan(index, context);
      const vectors = [pooling ?? this.#known?.pooling ?? this.#usual]
        .flat()
        .map((one) => poolPositions(part, one, span));
      return vectors.length === 1 ? vectors[0]! : Float32Array.from(vectors.flatMap((vector) => [...vector]));
    }
    if (part.dims.length === 1 && pooling === undefined) return (part.data as Embedding).slice() as Embedding;
    const isVector = part.dims.length === 1;
    throw new TabServeError(
      isVector ? codeOfParams(['pooling'], index, context) : 'model-config',
      isVector
        ? `pooling: the output "${this.outputInfo.name}" has one vector for each text, so there is nothing to pool. Remove pooling, or name the output with the tokens' vectors in handler.outputName.`
        : `handler.outputName: a text feature extractor needs [rows, tokens, features] or [rows, features], but a row of "${this.outputInfo.name}" has the dims [${part.dims.join(', ')}]. Name another output.`,
    );
  }
}
