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

/** How a kept input is sent. */
export interface KeptSource {
  /** Adds a request that needs the input, until `leave`. Returns false if it has been released. */
  use(): boolean;
  leave(): void;
  /** Whether the app has released it. Requests that were made before may still be under way. */
  readonly isReleased: boolean;
  /** Returns what stands for it in a message: its key, and the input for a worker that does not know it. */
  message(known: KnownInputs): Message;
}

/** How the kept inputs of this page are sent. What makes them is loaded with the first one. */
export const keptSources = new WeakMap<object, KeptSource>();
