import { TabServeError } from '../../contract/errors.js';
import type { HuggingFaceTask } from '../../contract/hugging-face-task.js';
import type { Params } from '../../contract/handler.js';
import type { OutputInfo, Tensor, Tensors } from '../../contract/tensors.js';
import { unit, type Embedding } from '../outputs/embedding.js';
import { numbersOf, rowPart } from '../outputs/rows.js';
import { transferResult } from '../outputs/transfer.js';
import { checkScores } from '../outputs/scores.js';
import { architectureOf } from '../../shared/hugging-face.js';
import { toFloats } from '../tensors/tensors.js';

/** The key that both feature extractors have besides `pooling`. */
export interface NormalizeParams {
  /**
   * Whether to divide each vector by its Euclidean norm, so that its length is 1.
   * @default true
   */
  readonly normalize?: boolean;
  /**
   * How many numbers of each vector are kept, the first ones, before normalize: for models that were trained for it
   * (Matryoshka), such as nomic-embed-text-v1.5, EmbeddingGemma and Qwen3-Embedding. Default: all.
   * @integer
   * @minimum 1
   */
  readonly dimensions?: number;
}

/**
 * Returns what follows from the `config.json` of a model with a projection, which is exported with its vectors before
 * the projection too.
 * @param outputName transformers' name of the projection's output
 */
export function projection(outputName: string): NonNullable<HuggingFaceTask['handlerConfig']> {
  return (config, own) =>
    own['outputName'] === undefined && architectureOf(config)?.endsWith('WithProjection') ? { outputName } : {};
}

/** The beginnings of `model_type` of encoders whose last layer makes one vector of those of all positions. */
const OWN_VECTOR = /^(?:aimv2|beit|chinese_clip_vision|clip|data2vec-vision|metaclip_2|mlcd|pixio|radio|siglip)/;

/** The names of the output with that vector: RADIO calls it a summary. */
const OWN_OUTPUTS = new Set(['pooler_output', 'summary']);

/**
 * Returns the output with the vector that an encoder of texts or images itself makes of its positions, such as CLIP's of
 * the text's end; undefined if it was trained without one. Others have an output of that name, too, of a layer that
 * often was not trained.
 * @param config `config.json`
 */
export function ownVector(outputs: readonly OutputInfo[], config: Params): OutputInfo | undefined {
  return OWN_VECTOR.test(String(config['model_type'])) ? outputs.find(({ name }) => OWN_OUTPUTS.has(name)) : undefined;
}

/** How the part of one row becomes a vector. */
export interface EmbedOptions {
  /** Returns the vector of row `index`, given its part of the output as float32, without the batch axis. */
  readonly pool: (part: Tensor, index: number) => Embedding;
  /** Whether the vector of row `index` is divided by its norm. */
  readonly normalize: (index: number) => boolean;
  /** How many numbers of the vector of row `index` are kept; undefined for all. */
  readonly dimensions: (index: number) => number | undefined;
}

/**
 * Returns the function that converts the output `name` to the vector of a row, and transfers its buffer to the page.
 * It throws `inference-failed` if the vector has a number that is not finite, and `invalid-input` if it has fewer
 * numbers than `dimensions`.
 */
export function embed(
  outputs: Tensors,
  name: string,
  rows: number,
  { pool, normalize, dimensions }: EmbedOptions,
): (index: number) => Embedding {
  const given = numbersOf(outputs, name);
  const output: Tensor = { dtype: 'float32', dims: given.dims, data: toFloats(given) };
  return (index) => {
    if (output.data.length === 0)
      throw new TabServeError(
        'model-config',
        `handler.outputName: the output "${name}" has no features: its dims are [${output.dims.join(', ')}]. Name another output.`,
      );
    const pooled = pool(rowPart(name, output, index, rows), index);
    checkScores(pooled, 'logits');
    const kept = firstOf(pooled, dimensions(index));
    const vector = normalize(index) ? unit(kept) : kept;
    return transferResult(vector, [vector.buffer]);
  };
}

/** Returns the first numbers of a vector. @throws `invalid-input` if it has fewer */
function firstOf(vector: Embedding, dimensions = vector.length): Embedding {
  if (dimensions > vector.length)
    throw new TabServeError(
      'invalid-input',
      `params.dimensions: the model's vectors have ${vector.length} numbers, got ${dimensions}.`,
    );
  return dimensions === vector.length ? vector : vector.slice(0, dimensions);
}
