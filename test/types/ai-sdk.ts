// The models fit the AI SDK's own types: those of `ai` 7 and of `ai` 6.
import type {
  EmbeddingModelV3,
  EmbeddingModelV4,
  LanguageModelV3,
  LanguageModelV4,
  RerankingModelV3,
  RerankingModelV4,
} from '@ai-sdk/provider';
import { generateText } from 'ai';
import { generateText as generateTextOfSix } from 'ai-node20';
import { load } from 'tabserve';
import { tabserve, tabserveEmbedding, tabserveReranking } from 'tabserve/ai-sdk';

const writer = await load('./m/', { handler: 'text_generator' });
tabserve(writer) satisfies LanguageModelV4;
tabserve(writer, { specification: 'v3' }) satisfies LanguageModelV3;
void generateText({ model: tabserve(writer), prompt: 'Hello' });
void generateTextOfSix({ model: tabserve(writer, { specification: 'v3' }), prompt: 'Hello' });
// @ts-expect-error -- `ai` 6 does not take the interface of `ai` 7
void generateTextOfSix({ model: tabserve(writer), prompt: 'Hello' });

const features = await load('./m/', { handler: 'text_feature_extractor' });
tabserveEmbedding(features) satisfies EmbeddingModelV4;
tabserveEmbedding(features, { specification: 'v3' }) satisfies EmbeddingModelV3;

const ranker = await load('./m/', { handler: 'text_reranker' });
tabserveReranking(ranker) satisfies RerankingModelV4;
tabserveReranking(ranker, { specification: 'v3' }) satisfies RerankingModelV3;
