import type { Session, TensorInfo, Tensors } from '../contract.js';
import { TabServeError } from '../errors.js';
import { checkFeeds } from './feeds.js';
import type { Lock } from './lock.js';

/** A model that an engine has loaded. Its calls are never made while another one runs. */
export interface LoadedModel {
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  /** @throws `inference-failed`, `invalid-input`, `out-of-memory` */
  run(feeds: Tensors): Promise<Tensors>;
  release(): Promise<void> | void;
}

/** What a session needs to know of the backend under it. */
export interface SessionBackend {
  readonly name: string;
  /** Asked before and after each run; true once the GPU is gone, and from then on. */
  readonly isLost?: (() => boolean | Promise<boolean>) | undefined;
}

/**
 * A session on a loaded model: feeds are checked, calls wait for one another, and once the GPU is lost none is made.
 * Engines answer zeros, or never, when they run on a lost device.
 */
export class LockedSession implements Session {
  #disposed = false;

  constructor(
    private readonly model: LoadedModel,
    private readonly lock: Lock,
    private readonly backend: SessionBackend,
  ) {}

  get inputs(): readonly TensorInfo[] {
    return this.model.inputs;
  }

  get outputs(): readonly TensorInfo[] {
    return this.model.outputs;
  }

  async run(feeds: Tensors): Promise<Tensors> {
    checkFeeds(feeds, this.inputs);
    return await this.lock.run(async () => {
      if (this.#disposed) throw new TabServeError('disposed', 'The session has been disposed of.');
      await this.#refuseIfLost();
      const outputs = await this.#run(feeds);
      await this.#refuseIfLost();
      return outputs;
    });
  }

  async #run(feeds: Tensors): Promise<Tensors> {
    try {
      return await this.model.run(feeds);
    } catch (error) {
      await this.#refuseIfLost(error);
      throw error;
    }
  }

  async #refuseIfLost(cause?: unknown): Promise<void> {
    if (await this.backend.isLost?.()) throw new TabServeError('device-lost', `The GPU behind ${this.backend.name} was lost.`, { cause });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    await this.lock.run(async () => {
      if (!(await this.backend.isLost?.())) await this.model.release();
    });
  }
}
