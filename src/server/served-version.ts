import type { Clock } from '../shared/clock.js';
import type { HttpSequences } from './http/http-sequences.js';
import type { ResponseStore } from './http/openai/response-store.js';
import type { Opened } from './loader.js';
import type { ServedClient } from './served-client.js';

/** Counts the requests of a server that are not answered, and calls listeners when one begins or ends. */
export class Traffic {
  #active = 0;
  readonly #listeners = new Set<() => void>();

  /** Number of requests that are not answered. */
  get active(): number {
    return this.#active;
  }

  begin(): void {
    this.#active += 1;
    for (const listener of this.#listeners) listener();
  }

  end(): void {
    this.#active -= 1;
    for (const listener of this.#listeners) listener();
  }

  /** Calls a listener after each change. Returns a function that removes it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/** What a version of a model is made of. */
export interface ServedVersionOptions extends Opened {
  readonly name: string;
  readonly version: string;
  /** Whether the answers over HTTP are sent in parts. */
  readonly stream: boolean;
  /** Counts the requests of all versions. */
  readonly traffic: Traffic;
}

/**
 * How long an unregistered version waits for its requests. After that they are rejected. TorchServe's response timeout.
 */
const DRAIN_MS = 120_000;

/** A version that takes requests. It counts them, so that it can be removed without losing one. */
export class ServedVersion {
  readonly options: ServedVersionOptions;
  /** Whether the client has failed: every request is rejected until it is initialized again. */
  hasFailed = false;
  /** The sequences that requests over HTTP have opened. */
  sequences: HttpSequences | undefined;
  /** The responses of OpenAI's API that requests may refer to. */
  responses: ResponseStore | undefined;
  #active = 0;
  #onDrained: (() => void) | undefined;
  readonly #stopListening: readonly (() => void)[];

  constructor(options: ServedVersionOptions) {
    this.options = options;
    const { client } = options;
    this.#stopListening = [
      client.on('fail', () => (this.hasFailed = true)),
      // A client that is initialized again has a backend.
      client.on('backendchange', () => (this.hasFailed = false)),
    ];
  }

  /** Where the model came from: its URL, or the name of the file that was picked; empty for a client of the app's own. */
  get modelUrl(): string {
    const { model } = this.options.source ?? {};
    if (typeof model === 'string' || model instanceof URL) return String(model);
    return typeof File !== 'undefined' && model instanceof File ? model.name : '';
  }

  /** Number of requests that are not answered. */
  get active(): number {
    return this.#active;
  }

  /** Counts a request. Returns a function that ends it; a second call of it does nothing. */
  begin(): () => void {
    this.#active += 1;
    this.options.traffic.begin();
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#active -= 1;
      this.options.traffic.end();
      if (this.#active === 0) this.#onDrained?.();
    };
  }

  /** Runs a request, and counts it as long as it runs. */
  async run<T>(request: (client: ServedClient) => Promise<T>): Promise<T> {
    const end = this.begin();
    try {
      return await request(this.options.client);
    } finally {
      end();
    }
  }

  /**
   * Waits until no request runs, and disposes of the client if the server has loaded it. No request may begin after
   * this call.
   */
  async drain(clock: Clock): Promise<void> {
    if (this.#active > 0)
      await new Promise<void>((resolve) => {
        const cancel = clock.schedule(resolve, DRAIN_MS);
        this.#onDrained = () => {
          cancel();
          resolve();
        };
      });
    await this.close();
  }

  /** Disposes of the client if the server has loaded it: requests that still run are rejected. */
  async close(): Promise<void> {
    for (const stop of this.#stopListening) stop();
    this.sequences?.close();
    if (this.options.source) await this.options.client.dispose();
  }
}
