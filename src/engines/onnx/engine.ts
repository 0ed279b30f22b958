import type * as Ort from 'onnxruntime-web';
import type { DType, EngineOptions, Session, Tensor, TensorDataMap, Tensors } from '../../contract.js';
import { TabServeError } from '../../errors.js';
import type { Engine } from '../engine.js';
import { checkFeeds } from '../feeds.js';
import { Lock } from '../lock.js';
import { readSignature } from './signature.js';

type OrtModule = Pick<typeof Ort, 'InferenceSession' | 'Tensor'>;

/** What differs between the builds of ONNX Runtime Web. */
export interface Build {
  readonly ort: OrtModule;
  readonly provider: 'wasm' | 'webgl' | 'webgpu';
  readonly threads: number;
  /** Asked before and after each run; true once the GPU is gone, and from then on. */
  readonly isLost?: () => boolean | Promise<boolean>;
}

/**
 * ONNX Runtime Web behind our seam. Every build refuses or breaks when its calls overlap, hence one lock over all of them;
 * one build blocks the thread for ever when run after its device is lost, hence the refusal.
 */
export function createEngine(build: Build): Engine {
  const lock = new Lock();

  return {
    threads: build.threads,
    async open(model, options) {
      const signature = readSignature(model);
      const session = await lock.run(() => create(build, model, options));
      return new OnnxSession(build, lock, session, fixDimensions(signature.inputs, options), fixDimensions(signature.outputs, options));
    },
  };
}

async function create(build: Build, model: Uint8Array, options: EngineOptions): Promise<Ort.InferenceSession> {
  try {
    return await build.ort.InferenceSession.create(model, {
      executionProviders: [build.provider],
      graphOptimizationLevel: options.graphOptimizationLevel ?? 'all',
      ...(options.freeDimensions && { freeDimensionOverrides: options.freeDimensions }),
      logSeverityLevel: 3,
    });
  } catch (cause) {
    throw engineError('backend-failed', `ONNX Runtime could not load the model on ${build.provider}`, cause);
  }
}

class OnnxSession implements Session {
  #disposed = false;

  constructor(
    private readonly build: Build,
    private readonly lock: Lock,
    private readonly session: Ort.InferenceSession,
    readonly inputs: Session['inputs'],
    readonly outputs: Session['outputs'],
  ) {}

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
    const { Tensor } = this.build.ort;
    try {
      const ortFeeds = Object.fromEntries(Object.entries(feeds).map(([name, { dtype, data, dims }]) => [name, new Tensor(dtype as 'float32', data as Float32Array, dims)]));
      const results = await this.session.run(ortFeeds);
      return Object.fromEntries(Object.entries(results).map(([name, result]) => [name, toTensor(result as Ort.Tensor)]));
    } catch (cause) {
      await this.#refuseIfLost(cause);
      throw engineError('inference-failed', `ONNX Runtime could not run the model on ${this.build.provider}`, cause);
    }
  }

  async #refuseIfLost(cause?: unknown): Promise<void> {
    if (await this.build.isLost?.()) throw new TabServeError('device-lost', `The GPU behind ${this.build.provider} was lost.`, { cause });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    await this.lock.run(async () => {
      if (!(await this.build.isLost?.())) await this.session.release();
    });
  }
}

function toTensor(result: Ort.Tensor): Tensor {
  const dtype = result.type as DType;
  // Where the browser has Float16Array, ONNX Runtime answers with one; ours are always the 16 bits.
  const { data } = result as { data: TensorDataMap[DType] };
  const bits = dtype === 'float16' && !(data instanceof Uint16Array) ? sixteenBits(data as unknown as ArrayBufferView) : data;
  return { dtype, dims: result.dims, data: bits };
}

function sixteenBits(data: ArrayBufferView): Uint16Array {
  return new Uint16Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength / 2);
}

function fixDimensions(infos: Session['inputs'], { freeDimensions = {} }: EngineOptions): Session['inputs'] {
  return infos.map((info) => ({ ...info, dims: info.dims.map((size) => (typeof size === 'string' ? (freeDimensions[size] ?? size) : size)) }));
}

function engineError(code: 'backend-failed' | 'inference-failed', message: string, cause: unknown): TabServeError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const outOfMemory = /out of memory|bad_alloc|\bOOM\b|Array buffer allocation failed/i.test(why);
  const lost = /device.{0,20}lost|lost.{0,20}device/i.test(why);
  return new TabServeError(outOfMemory ? 'out-of-memory' : lost ? 'device-lost' : code, `${message}: ${why}`, { cause });
}
