import type { ModelConfig } from '../contract/archive.js';
import type { Backend } from '../contract/backends.js';
import type { HttpExchange } from '../contract/http.js';
import type { ModelInfo, Params } from '../contract/handler.js';
import type { Serving } from '../contract/settings.js';
import type { Tensors } from '../contract/tensors.js';

/** The options of one request: those of `Client.predict`. */
export interface ServedRequestOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly priority?: number;
  readonly params?: Params;
  readonly transfer?: boolean;
  readonly http?: HttpExchange;
}

/** What a server needs of a client's description. */
export interface ServedDescription extends ModelInfo {
  readonly modelName: string;
  readonly modelVersion: string | undefined;
  readonly config: ModelConfig & Serving;
  readonly backend: Backend;
  readonly workers: number;
  readonly jobQueueStatus: { readonly remainingCapacity: number; readonly pendingRequests: number };
}

/** What a server needs of a client's sequence. */
export interface ServedSequence {
  /** Aborts when it has ended. */
  readonly ended: AbortSignal;
  predict(input: unknown, options?: ServedRequestOptions): Promise<unknown>;
  end(): Promise<void>;
}

/** What a server needs of a client. A `Client` has all of it, of a page or of Node. */
export interface ServedClient {
  readonly metrics: { prometheus(): string };
  predict(input: unknown, options?: ServedRequestOptions): Promise<unknown>;
  handle(inputs: readonly unknown[], options?: ServedRequestOptions): Promise<unknown[]>;
  stream(input: unknown, options?: ServedRequestOptions): AsyncIterable<unknown>;
  /** Explains an input. The options depend on the client's handler. */
  explain(input: unknown, options?: object): Promise<unknown>;
  openSequence(options?: { readonly idleTimeout?: number }): ServedSequence;
  infer(inputs: Tensors, options?: Omit<ServedRequestOptions, 'params'>): Promise<Tensors>;
  describe(): Promise<ServedDescription>;
  on(event: 'fail' | 'backendchange', listener: () => void): () => void;
  dispose(): Promise<void>;
}
