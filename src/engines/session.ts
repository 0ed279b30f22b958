import type { OutputInfo, RunOptions, TensorInfo, Tensors } from '../contract/tensors.js';
import { TabServeError } from '../contract/errors.js';
import type { GpuSession } from '../tensors/gpu-tensor.js';
import { checkFeeds } from './feeds.js';
import type { Lock } from './lock.js';
import type { DeviceLoss } from './device-loss.js';

/** A model that an engine has loaded. The caller makes one call at a time. */
export interface LoadedModel {
  /** The GPU device whose tensors `run` takes; undefined if it takes none. */
  readonly device?: GPUDevice | undefined;
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly OutputInfo[];
  /** @throws `inference-failed`, `invalid-input`, `out-of-memory` */
  run(feeds: Tensors, options?: RunOptions): Promise<Tensors>;
  release(): Promise<void> | void;
}

/**
 * A session on a loaded model. It checks feeds, makes one call of the engine at a time, and makes no call after the GPU is lost:
 * on a lost device, engines return zeros or never answer.
 */
export class LockedSession implements GpuSession {
  #disposed = false;

  constructor(
    private readonly model: LoadedModel,
    private readonly lock: Lock,
    private readonly loss: DeviceLoss | undefined,
  ) {}

  get device(): GPUDevice | undefined {
    return this.model.device;
  }

  get inputs(): readonly TensorInfo[] {
    return this.model.inputs;
  }

  get outputs(): readonly OutputInfo[] {
    return this.model.outputs;
  }

  async run(feeds: Tensors, options?: RunOptions): Promise<Tensors> {
    checkFeeds(feeds, this.inputs);
    try {
      return await this.lock.run(() => this.#run(feeds, options));
    } catch (error) {
      // Outside the lock: other runs need not wait until the cause of this failure is known.
      throw this.loss ? await this.loss.explain(error) : error;
    }
  }

  async #run(feeds: Tensors, options: RunOptions | undefined): Promise<Tensors> {
    if (this.#disposed) throw new TabServeError('disposed', 'The session has been disposed of.');
    this.loss?.check();
    const running = this.model.run(feeds, options);
    const outputs = await (this.loss ? this.loss.race(running) : running);
    this.loss?.check();
    return outputs;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    await this.lock.run(async () => {
      if (!this.loss?.isLost) await this.model.release();
    });
  }
}
