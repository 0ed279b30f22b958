/** Models for Vercel's AI SDK, answered by the visitor's device. Nothing here imports the package `ai`. */
export { tabserve, type LanguageModelClient, type TabServeLanguageModel } from './page/ai-sdk/language-model.js';
export { tabserveEmbedding, type EmbeddingClient, type TabServeEmbeddingModel } from './page/ai-sdk/embedding-model.js';
export { tabserveReranking, type RerankingClient, type TabServeRerankingModel } from './page/ai-sdk/reranking-model.js';
export type {
  CallOptions,
  EmbeddingCallOptions,
  EmbeddingResult,
  FinishReason,
  GenerateResult,
  Message,
  ModelOptions,
  ProviderOptions,
  RerankingCallOptions,
  RerankingResult,
  ResponseFormat,
  Specification,
  StreamPart,
  StreamResult,
  Tool,
  Usage,
  Warning,
} from './page/ai-sdk/specification.js';
