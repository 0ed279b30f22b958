import type { OutputInfo, Session, TensorInfo, Tensors } from '../contract/tensors.js';
import { TabServeError } from '../contract/errors.js';
import { checkFeeds } from './feeds.js';
import type { Lock } from './lock.js';
import type { Loss } from './loss.js';

/** A model that an engine has loaded. Its calls are never made while another one runs. */
export interface LoadedModel {
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly OutputInfo[];
  /** @throws `inference-failed`, `invalid-input`, `out-of-memory` */
  run(feeds: Tensors): Promise<Tensors>;
  release(): Promise<void> | void;
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
    private readonly loss: Loss | undefined,
  ) {}

  get inputs(): readonly TensorInfo[] {
    return this.model.inputs;
  }

  get outputs(): readonly OutputInfo[] {
    return this.model.outputs;
  }

  async run(feeds: Tensors): Promise<Tensors> {
    checkFeeds(feeds, this.inputs);
    return await this.lock.run(async () => {
      if (this.#disposed) throw new TabServeError('disposed', 'The session has been disposed of.');
      this.loss?.check();
      const outputs = await this.#run(feeds);
      this.loss?.check();
      return outputs;
    });
  }

  async #run(feeds: Tensors): Promise<Tensors> {
    const running = this.model.run(feeds);
    if (!this.loss) return await running;
    try {
      return await this.loss.race(running);
    } catch (error) {
      throw await this.loss.explain(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    await this.lock.run(async () => {
      if (!this.loss?.told) await this.model.release();
    });
  }
}
