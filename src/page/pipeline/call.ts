/** A call of a pipeline, and the result that a handler has for it. */
import type { Params } from '../../contract/handler.js';

/** A call, as a handler takes it. */
export interface Call {
  readonly rows: readonly unknown[];
  readonly params: Params;
  /** Returns what the pipeline returns. @param results one for each row */
  readonly write: (results: readonly never[]) => unknown;
}

/** How the calls of a task become rows. */
export interface Task {
  /** The handler that is opened. Undefined if the model decides among several. */
  readonly handler?: string;
  /** Those whose results are read; by default, the one above. */
  readonly handlers?: readonly string[];
  /** Reads the arguments of a call. */
  readonly read?: Read;
  /** Returns that function for one of the handlers, where they differ. */
  readonly readerOf?: (handler: string) => Read;
}

/** Reads the arguments of a call. @throws `invalid-input`, `network` */
export type Read = (...given: readonly never[]) => Call | Promise<Call>;

/** A class of a result. */
export interface Scored {
  readonly label: string;
  readonly score: number;
}

/** Returns one result for one input, and a list for a list. */
export function perInput<Result>(isList: boolean, write: (result: Result) => unknown): Call['write'] {
  return (results) => (isList ? results.map(write) : write(results[0]!));
}

/** Returns the param `topK`: `null` asks for all classes, whatever the model's config says. */
export function topKOf(count: number | null): Params {
  return { topK: count ?? Number.MAX_SAFE_INTEGER };
}
