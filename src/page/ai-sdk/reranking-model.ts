import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import type { Params } from '../../contract/handler.js';
import { isPlainObject } from '../../shared/is-plain-object.js';
import { PROVIDER, providerParams } from './call.js';
import type { ModelOptions, RerankingCallOptions, RerankingResult, Specification } from './specification.js';

/** What a reranking model needs of a client. A `Client` has all of it, of a page or of Node. */
export interface RerankingClient {
  predict(
    input: { readonly query: string; readonly texts: readonly string[] },
    options: { readonly params: Params; readonly signal?: AbortSignal },
  ): Promise<unknown>;
}

/** A reranking model for the AI SDK. */
export interface TabServeRerankingModel<V extends Specification> {
  readonly specificationVersion: V;
  readonly provider: string;
  readonly modelId: string;
  doRerank(options: RerankingCallOptions): Promise<RerankingResult>;
}

/**
 * Returns a reranking model for the AI SDK, such as `rerank({ model: tabserveReranking(client), query, documents })`. The
 * client's handler ranks texts, as `text_reranker` does; documents that are objects are ranked as JSON. The client stays
 * the app's, which disposes it.
 */
export function tabserveReranking(client: RerankingClient): TabServeRerankingModel<'v4'>;
export function tabserveReranking<V extends Specification>(
  client: RerankingClient,
  options: ModelOptions<V>,
): TabServeRerankingModel<V>;
export function tabserveReranking(
  client: RerankingClient,
  { specification }: ModelOptions<Specification> = { specification: 'v4' },
): TabServeRerankingModel<Specification> {
  return {
    specificationVersion: specification,
    provider: PROVIDER,
    modelId: 'text_reranker',
    async doRerank({ query, documents: { values }, topN, abortSignal, providerOptions }) {
      const texts = values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
      const params = { ...providerParams(providerOptions), ...(topN !== undefined && { topK: topN }) };
      const ranked = await client
        .predict({ query, texts }, { params, ...(abortSignal && { signal: abortSignal }) })
        .catch((error: unknown) => {
          throw abortSignal?.aborted ? abortSignal.reason : error;
        });
      return { ranking: readRanking(ranked) };
    },
  };
}

/** @throws `invalid-input` if it is no ranking */
function readRanking(ranked: unknown): RerankingResult['ranking'] {
  const isRanked = (one: unknown): one is { readonly index: number; readonly score: number } =>
    isPlainObject(one) && typeof one['index'] === 'number' && typeof one['score'] === 'number';
  if (Array.isArray(ranked) && ranked.every(isRanked))
    return ranked.map(({ index, score }) => ({ index, relevanceScore: score }));
  throw new TabServeError(
    'invalid-input',
    `This client's model ranks no texts: it answers with ${describeValue(ranked)}.`,
  );
}
