import type * as Ort from 'onnxruntime-web';
import type { DType, OpenOptions, Tensor, TensorInfo, Tensors } from '../../../contract/tensors.js';
import { bytesOf } from '../../tensors/gpu-memory.js';
import { type GpuMemory, GpuTensor } from '../../tensors/gpu-tensor.js';
import type { DeviceLoss } from '../device-loss.js';
import { engineError } from '../failure.js';
import type { Lock } from '../session.js';
import type { Build } from './engine.js';

/** The dtypes that ONNX Runtime's WebGPU provider can leave in a buffer. */
const DTYPES: ReadonlySet<string> = new Set(['float32', 'float16', 'int32', 'int64', 'uint32', 'uint8', 'bool']);

/** A buffer's size, and the copies that ONNX Runtime makes of it, are multiples of this many bytes. */
const ALIGNMENT = 16;

/**
 * Returns where the outputs of a session are stored, which is fixed when it is created; undefined if none stays on the
 * GPU.
 */
export function locationsOf(
  outputs: readonly TensorInfo[],
  keeps: NonNullable<OpenOptions['keeps']>,
): Readonly<Record<string, 'gpu-buffer'>> | undefined {
  const kept = outputs.filter(({ name, dtype }) => DTYPES.has(dtype) && keeps(name));
  return kept.length > 0 ? Object.fromEntries(kept.map(({ name }) => [name, 'gpu-buffer' as const])) : undefined;
}

/**
 * The tensors of one session that stay on the GPU: outputs of its runs, and copies of parts of them.
 *
 * How ONNX Runtime (1.30) owns an output that stays: it belongs to its `Ort.Tensor` until `dispose`, which must be
 * called before the session is released. `dispose` does not destroy the buffer: it returns to the pool of the provider,
 * which uses it for a later tensor of a similar size, so nobody may read it any more. An output without elements is
 * always plain data. A tensor of `fromGpuBuffer`, which a feed is, does not own its buffer. After a run has failed, the
 * session computes with that run's feeds once more, because it does not bind others; only another worker helps.
 */
export class KeptTensors implements GpuMemory {
  readonly device: GPUDevice;
  readonly #loss: DeviceLoss;
  readonly #lock: Lock;
  readonly #toPlain: (output: Ort.Tensor) => Tensor;
  #hasFailed = false;
  /** How to give back the buffer of each tensor that is in use. */
  readonly #live = new Map<GpuTensor, () => void>();
  /** The buffers to give back when no run is under way. */
  #unused: (() => void)[] = [];

  /** @param toPlain returns an output that is plain data */
  constructor({ device, loss }: NonNullable<Build['gpu']>, lock: Lock, toPlain: (output: Ort.Tensor) => Tensor) {
    this.device = device!;
    this.#loss = loss;
    this.#lock = lock;
    this.#toPlain = toPlain;
  }

  /** @throws `device-lost`, also after a failed run */
  check(): void {
    if (this.#hasFailed) this.#loss.report();
    this.#loss.check();
  }

  /** Records that a run has failed. Must be called then. */
  fail(): void {
    this.#hasFailed = true;
  }

  /** Returns the outputs of a run: those that stay as they are if the run asks for it, otherwise all as plain data. */
  async outputsOf(results: Ort.InferenceSession.ReturnType, keep = false): Promise<Tensors> {
    const outputs = Object.entries(results);
    if (keep)
      return Object.fromEntries(
        outputs.map(([name, output]) => [
          name,
          output.location === 'gpu-buffer' ? this.add(output) : this.#toPlain(output),
        ]),
      );
    try {
      const read: Record<string, Tensor> = {};
      for (const [name, output] of outputs) {
        await output.getData();
        read[name] = this.#toPlain(output);
      }
      return read;
    } finally {
      for (const [, output] of outputs) output.dispose();
    }
  }

  /** Takes over an output of a run. */
  add(output: Ort.Tensor): GpuTensor {
    const tensor = new GpuTensor(output.type as DType, output.dims, output.gpuBuffer as GPUBuffer, this);
    this.#live.set(tensor, () => output.dispose());
    return tensor;
  }

  allocate(dtype: DType, dims: readonly number[]): GpuTensor {
    const buffer = this.device.createBuffer({
      size: Math.max(1, Math.ceil(bytesOf({ dtype, dims }) / ALIGNMENT)) * ALIGNMENT,
      usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST,
    });
    const tensor = new GpuTensor(dtype, dims, buffer, this);
    this.#live.set(tensor, () => buffer.destroy());
    return tensor;
  }

  free(tensor: GpuTensor): void {
    const giveBack = this.#live.get(tensor);
    if (!giveBack) return;
    this.#live.delete(tensor);
    this.#unused.push(giveBack);
    if (this.#unused.length === 1) void this.#lock.run(async () => this.#giveBack());
  }

  /** Frees all tensors, whoever uses them. Call it before the session is released, when no run is under way. */
  freeAll(): void {
    this.#unused.push(...this.#live.values());
    this.#live.clear();
    this.#giveBack();
  }

  async wait<T>(work: () => Promise<T>): Promise<T> {
    try {
      this.#loss.check();
      const result = await this.#loss.race(work());
      this.#loss.check();
      return result;
    } catch (cause) {
      throw await this.#loss.explain(engineError('inference-failed', 'The GPU could not copy a tensor', cause));
    }
  }

  /**
   * Gives back unused buffers. Not those of a lost device: they are gone, and ONNX Runtime may not be called any more.
   */
  #giveBack(): void {
    const unused = this.#unused;
    this.#unused = [];
    if (!this.#loss.isLost) for (const giveBack of unused) giveBack();
  }
}
