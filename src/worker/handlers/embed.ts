import { TabServeError } from '../../contract/errors.js';
import type { HuggingFaceTask } from '../../contract/hugging-face-task.js';
import type { Tensor, Tensors } from '../../contract/tensors.js';
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

/** How the part of one row becomes a vector. */
export interface EmbedOptions {
  /** Returns the vector of row `index`, given its part of the output as float32, without the batch axis. */
  readonly pool: (part: Tensor, index: number) => Embedding;
  /** Whether the vector of row `index` is divided by its norm. */
  readonly normalize: (index: number) => boolean;
}

/**
 * Returns the function that converts the output `name` to the vector of a row, and transfers its buffer to the page.
 * It throws `inference-failed` if the vector has a number that is not finite.
 */
export function embed(
  outputs: Tensors,
  name: string,
  rows: number,
  { pool, normalize }: EmbedOptions,
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
    const vector = normalize(index) ? unit(pooled) : pooled;
    return transferResult(vector, [vector.buffer]);
  };
}
