/**
 * What this provider uses of the AI SDK's interface of models, in words of its own: the versions `v3` of `ai` 6 and `v4`
 * of `ai` 7 agree in it, so no package of the SDK is needed. A test checks it against the types of both.
 */

/** The version of the AI SDK's interface of models: `v4` for `ai` 7, `v3` for `ai` 6. */
export type Specification = 'v3' | 'v4';

/** The options of a model for the AI SDK. Without them, it is one for `ai` 7. */
export interface ModelOptions<V extends Specification> {
  /** The version of the SDK's interface: `v4` for `ai` 7, `v3` for `ai` 6. */
  readonly specification: V;
}

/** A setting of a call that is not supported. The SDK reports it to the app. */
export interface Warning {
  type: 'unsupported';
  feature: string;
  details?: string;
}

/** Params of the handler, under the provider's name. */
export type ProviderOptions = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** One message of the SDK's prompt. */
export interface Message {
  readonly role: string;
  readonly content: string | readonly { readonly type: string }[];
}

/** One tool of a call. */
export interface Tool {
  readonly type: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema?: unknown;
}

/** The form of an answer. */
export type ResponseFormat = { readonly type: 'text' } | { readonly type: 'json'; readonly schema?: unknown };

/** What the SDK passes to a language model. */
export interface CallOptions {
  readonly prompt: readonly Message[];
  readonly maxOutputTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly seed?: number | undefined;
  readonly stopSequences?: readonly string[] | undefined;
  readonly presencePenalty?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly responseFormat?: ResponseFormat | undefined;
  readonly reasoning?: string | undefined;
  readonly tools?: readonly Tool[] | undefined;
  readonly toolChoice?: { readonly type: string; readonly toolName?: string } | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  readonly providerOptions?: ProviderOptions | undefined;
}

/** Why an answer ended. */
export interface FinishReason {
  unified: 'stop' | 'length' | 'tool-calls';
  raw: string | undefined;
}

/** How many tokens were read and written. */
export interface Usage {
  inputTokens: { total: number; noCache: number; cacheRead: number; cacheWrite: undefined };
  /** How many of them are reasoning is not known. */
  outputTokens: { total: number; text: number | undefined; reasoning: undefined };
}

/** A call of a tool. Its input is a text of JSON. */
export interface ToolCall {
  type: 'tool-call';
  toolCallId: string;
  toolName: string;
  input: string;
}

/** A whole answer. */
export interface GenerateResult {
  content: ({ type: 'text' | 'reasoning'; text: string } | ToolCall)[];
  finishReason: FinishReason;
  usage: Usage;
  warnings: Warning[];
}

/** One part of a streamed answer. */
export type StreamPart =
  | { type: 'stream-start'; warnings: Warning[] }
  | { type: 'text-start'; id: string }
  | { type: 'text-delta'; id: string; delta: string }
  | { type: 'text-end'; id: string }
  | { type: 'reasoning-start'; id: string }
  | { type: 'reasoning-delta'; id: string; delta: string }
  | { type: 'reasoning-end'; id: string }
  | ToolCall
  | { type: 'finish'; finishReason: FinishReason; usage: Usage }
  | { type: 'error'; error: unknown };

/** A streamed answer. */
export interface StreamResult {
  stream: ReadableStream<StreamPart>;
}

/** What the SDK passes to an embedding model. */
export interface EmbeddingCallOptions {
  readonly values: readonly string[];
  readonly dimensions?: number | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  readonly providerOptions?: ProviderOptions | undefined;
}

/** The vectors of texts, in the texts' order. */
export interface EmbeddingResult {
  embeddings: number[][];
  warnings: Warning[];
}

/** What the SDK passes to a reranking model. */
export interface RerankingCallOptions {
  readonly query: string;
  readonly documents:
    | { readonly type: 'text'; readonly values: readonly string[] }
    | { readonly type: 'object'; readonly values: readonly object[] };
  readonly topN?: number | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  readonly providerOptions?: ProviderOptions | undefined;
}

/** Documents by their places in the list, the most relevant first. */
export interface RerankingResult {
  ranking: { index: number; relevanceScore: number }[];
}
