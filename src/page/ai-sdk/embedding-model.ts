import { describeValue } from '../../contract/describe-value.js';
import { PredictionError, TabServeError } from '../../contract/errors.js';
import type { Params } from '../../contract/handler.js';
import { PROVIDER, providerParams } from './call.js';
import type { EmbeddingCallOptions, EmbeddingResult, ModelOptions, Specification } from './specification.js';

/** What an embedding model needs of a client. A `Client` has all of it, of a page or of Node. */
export interface EmbeddingClient {
  handle(
    inputs: readonly string[],
    options: { readonly params: Params; readonly signal?: AbortSignal },
  ): Promise<unknown[]>;
}

/** An embedding model for the AI SDK. */
export interface TabServeEmbeddingModel<V extends Specification> {
  readonly specificationVersion: V;
  readonly provider: string;
  readonly modelId: string;
  readonly maxEmbeddingsPerCall: number;
  readonly supportsParallelCalls: boolean;
  doEmbed(options: EmbeddingCallOptions): Promise<EmbeddingResult>;
}

/** Texts that run as one batch. */
const BATCH = 32;

/**
 * Returns an embedding model for the AI SDK, such as `embedMany({ model: tabserveEmbedding(client), values })`. The
 * client's handler returns a vector for a text, as `text_feature_extractor` does. The client stays the app's, which
 * disposes it.
 */
export function tabserveEmbedding(client: EmbeddingClient): TabServeEmbeddingModel<'v4'>;
export function tabserveEmbedding<V extends Specification>(
  client: EmbeddingClient,
  options: ModelOptions<V>,
): TabServeEmbeddingModel<V>;
export function tabserveEmbedding(
  client: EmbeddingClient,
  { specification }: ModelOptions<Specification> = { specification: 'v4' },
): TabServeEmbeddingModel<Specification> {
  return {
    specificationVersion: specification,
    provider: PROVIDER,
    modelId: 'text_feature_extractor',
    maxEmbeddingsPerCall: BATCH,
    // One batch after another, because many texts at once would fill the queue.
    supportsParallelCalls: false,
    async doEmbed({ values, dimensions, abortSignal, providerOptions }) {
      const params = { ...providerParams(providerOptions), ...(dimensions !== undefined && { dimensions }) };
      const rows = await client
        .handle(values, { params, ...(abortSignal && { signal: abortSignal }) })
        .catch((error: unknown) => {
          throw abortSignal?.aborted ? abortSignal.reason : error;
        });
      return { embeddings: rows.map((row) => readVector(row, dimensions)), warnings: [] };
    },
  };
}

/** @throws the row's own failure; `invalid-input` if it is no vector, or one of other dimensions than wanted */
function readVector(row: unknown, dimensions: number | undefined): number[] {
  if (row instanceof PredictionError) throw row;
  if (!(row instanceof Float32Array))
    throw new TabServeError(
      'invalid-input',
      `This client's model makes no vectors: it answers with ${describeValue(row)}.`,
    );
  if (dimensions !== undefined && dimensions !== row.length)
    throw new TabServeError('invalid-input', `dimensions: the model's vectors have ${row.length}, not ${dimensions}.`);
  return [...row];
}
