import type { OutputInfo, RunOptions, Session, Tensor, TensorInfo, Tensors } from '../../contract/tensors.js';
import { type GpuSession, GpuTensor } from '../tensors/gpu-tensor.js';
import type { DeviceLoss } from './device-loss.js';
import { arrayName } from '../../contract/dtypes.js';
import { invalidInput, TabServeError } from '../../contract/errors.js';
import { abortError } from '../../shared/abort.js';

/** A model that an engine has loaded. The caller makes one call at a time. */
export interface LoadedModel {
  /** The GPU device whose tensors `run` takes; undefined if it takes none. */
  readonly device?: GPUDevice | undefined;
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly OutputInfo[];
  readonly metadata?: Session['metadata'];
  readonly quantizesAtRunTime?: boolean | undefined;
  /** @throws `inference-failed`, `invalid-input`, `out-of-memory` */
  run(feeds: Tensors, options?: RunOptions): Promise<Tensors>;
  release(): Promise<void> | void;
}

/**
 * A session on a loaded model. It checks feeds, makes one call of the engine at a time, and makes no call after the GPU
 * is lost: on a lost device, engines return zeros or never answer.
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

  get metadata(): Session['metadata'] {
    return this.model.metadata;
  }

  get quantizesAtRunTime(): boolean | undefined {
    return this.model.quantizesAtRunTime;
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
    if (options?.signal?.aborted) throw abortError(options.signal);
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

/** Runs one task at a time, first in, first out. The next task runs even if one fails. */
export class Lock {
  #tail: Promise<unknown> = Promise.resolve();

  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(task);
    this.#tail = result.catch(() => {});
    return result;
  }
}

/**
 * Checks feeds against a model's signature.
 * @throws `invalid-input` naming the input, with the expected and the given dtype and dims.
 */
export function checkFeeds(feeds: Tensors, inputs: readonly TensorInfo[]): void {
  for (const name of Object.keys(feeds)) {
    if (!inputs.some((input) => input.name === name)) {
      throw invalidInput(
        `The model has no input "${name}"; its inputs are ${inputs.map((input) => `"${input.name}"`).join(', ')}.`,
      );
    }
  }
  for (const input of inputs) {
    const tensor = Object.hasOwn(feeds, input.name) ? feeds[input.name] : undefined;
    if (!tensor) throw invalidInput(`Input "${input.name}" is missing: expected ${formatTensor(input)}.`);
    checkTensor(tensor, input);
  }
}

function checkTensor(tensor: Tensor, input: TensorInfo): void {
  const fits =
    tensor.dtype === input.dtype &&
    tensor.dims.length === input.dims.length &&
    input.dims.every((size, axis) => typeof size !== 'number' || size === tensor.dims[axis]);
  if (!fits) throw invalidInput(`Input "${input.name}" expects ${formatTensor(input)}, got ${formatTensor(tensor)}.`);
  if (tensor instanceof GpuTensor) return;
  const array = Object.prototype.toString.call(tensor.data).slice(8, -1);
  if (array !== arrayName(tensor.dtype))
    throw invalidInput(
      `Input "${input.name}" is ${tensor.dtype}, whose data is a ${arrayName(tensor.dtype)}, got a ${array}.`,
    );
  const size = tensor.dims.reduce((product, dim) => product * dim, 1);
  if (tensor.data.length !== size) {
    throw invalidInput(
      `Input "${input.name}" has dims [${tensor.dims.join(', ')}], which make ${size} elements, but ${tensor.data.length} elements of data.`,
    );
  }
}

/** Formats dtype and dims, e.g. `float32 [batch, 3, 224, 224]`. */
export function formatTensor({ dtype, dims }: Pick<TensorInfo, 'dtype' | 'dims'>): string {
  return `${dtype} [${dims.map((size) => size ?? '?').join(', ')}]`;
}
