import type { Message } from './inputs.js';

/**
 * An input that an app asks about several times, such as a photo that is clicked: `client.keep` makes it. Pass it in the
 * input's place. A handler that keeps what it makes of an input makes it once; the page then sends a key instead of the
 * input. A worker that does not have it any more, or another one, gets the input again.
 */
export interface KeptInput {
  /** By which workers know it. */
  readonly key: string;
  /** Frees the input, here and in the workers. Requests that were made before are answered. */
  release(): void;
}

/** The kept inputs of which a worker needs the key alone. */
export type KnownInputs = Pick<WeakSet<KeptInput>, 'has'>;

/** Of a worker that keeps nothing, or of which nothing is known. */
export const NONE_KNOWN: KnownInputs = new WeakSet();

/** The workers of a client. The input does not keep them from being collected when the client has been disposed of. */
export interface Keeper {
  /** Frees what the workers keep of an input. */
  forget(input: KeptInput): void;
}

/** How a kept input is sent. */
export interface KeptSource {
  /** Adds a request that needs the input, until `leave`. Returns false if it has been released. */
  use(): boolean;
  leave(): void;
  /**
   * Notes that workers keep something of it, until the app releases it. If the app has, which may be while a request is
   * under way, the workers are told at once.
   */
  keptBy(keeper: WeakRef<Keeper>): void;
  /** Returns what stands for it in a message: its key, and the input for a worker that does not know it. */
  message(known: KnownInputs): Message;
}

/** How the kept inputs of this page are sent. What makes them is loaded with the first one. */
export const keptSources = new WeakMap<object, KeptSource>();
