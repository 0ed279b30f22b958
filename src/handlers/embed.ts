import { asTabServeError, TabServeError } from '../contract/errors.js';
import type { Context } from '../contract/handler.js';
import type { OutputInfo, Tensor, Tensors } from '../contract/tensors.js';
import { unit, type Embedding } from '../outputs/embedding.js';
import { numbersOf, rowPart } from '../outputs/rows.js';
import { checkScores } from '../outputs/scores.js';
import { transferResult } from '../outputs/transfer.js';
import type { ConfigSchema } from '../shared/schema.js';
import { toFloats } from '../tensors/tensors.js';

/** The key that both feature extractors have besides `pooling`. */
export const NORMALIZE: ConfigSchema = {
  normalize: {
    type: 'boolean',
    description: 'Whether to divide each vector by its Euclidean norm, so that its length is 1.',
    default: true,
  },
};

/** Checks that an output can hold features. @throws `model-config` if its dtype is string or bool */
export function checkFeatures({ name, dtype }: OutputInfo): void {
  if (dtype !== 'string' && dtype !== 'bool') return;
  throw new TabServeError(
    'model-config',
    `handler.outputName: a feature extractor needs numbers, but the output "${name}" is ${dtype}. Name another output.`,
  );
}

/** How the part of one row becomes a vector. */
export interface EmbedOptions {
  /** Returns the vector of row `index`, given its part of the output as float32, without the batch axis. */
  readonly pool: (part: Tensor, index: number) => Embedding;
  /** Whether the vector of row `index` is divided by its norm. */
  readonly normalize: (index: number) => boolean;
}

/**
 * Converts the output `name` to one vector for each row. A row fails with `inference-failed` if its vector has a number
 * that is not finite; the other rows do not fail.
 */
export function embed(
  outputs: Tensors,
  name: string,
  context: Context,
  { pool, normalize }: EmbedOptions,
): (Embedding | undefined)[] {
  const rows = context.systemProperties.batchSize;
  const given = numbersOf(outputs, name);
  const output: Tensor = { dtype: 'float32', dims: given.dims, data: toFloats(given) };
  return Array.from({ length: rows }, (_, index) => {
    try {
      if (context.failures.has(index)) return undefined;
      if (output.data.length === 0)
        throw new TabServeError(
          'model-config',
          `handler.outputName: the output "${name}" has no features: its dims are [${output.dims.join(', ')}]. Name another output.`,
        );
      const pooled = pool(rowPart(name, output, index, rows), index);
      checkScores(pooled, 'logits');
      const vector = normalize(index) ? unit(pooled) : pooled;
      return transferResult(vector, [vector.buffer]);
    } catch (error) {
      context.fail(index, asTabServeError(error, 'postprocess'));
      return undefined;
    }
  });
}
