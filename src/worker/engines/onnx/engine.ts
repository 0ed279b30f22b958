import type * as Ort from 'onnxruntime-web';
import { loadScript } from '../../../shared/load-script.js';
import type { EngineOptions } from '../../../contract/archive.js';
import { TabServeError } from '../../../contract/errors.js';
import type { DType, RunOptions, Tensor, TensorDataMap, TensorInfo, Tensors } from '../../../contract/tensors.js';
import { GpuTensor } from '../../tensors/gpu-tensor.js';
import { ownTensors } from '../../tensors/tensor-users.js';
import type { Engine, EngineEnvironment } from '../engine.js';
import { engineError } from '../failure.js';
import { type LoadedModel, Lock, LockedSession } from '../session.js';
import type { DeviceLoss } from '../device-loss.js';
import { versionOf } from './files.js';
import { checkFixed, checkNames, fixDimensions } from './free-dimensions.js';
import type { KeptTensors } from './kept-tensors.js';
import type { PlacementLog } from './placement-log.js';
import type { LazyBytes } from './lazy-bytes.js';
import { readModel, type SessionSource } from './read-model.js';

type SessionParts = Pick<SessionSource, 'model' | 'externalData' | 'poolsPadding'>;
type OutputLocations = Ort.InferenceSession.SessionOptions['preferredOutputLocation'];
type OrtModule = Pick<typeof Ort, 'InferenceSession' | 'Tensor' | 'env'>;

/**
 * ONNX Runtime would make a Pad with zeros the padding of a pooling. That of a MaxPool is −∞: other numbers where all
 * others are below 0, as in BiT. It may not be as wide as the kernel, and windows that begin in it are left out.
 */
const WITHOUT_PAD_FUSION = { optimization: { disable_specified_optimizers: 'Pad_Fusion' } };

/** What ONNX Runtime computes with: its execution provider. */
export type ProviderName = 'wasm' | 'webgl' | 'webgpu' | 'webnn' | 'cpu';

/** The differences between the builds of ONNX Runtime. */
export interface Build {
  readonly ort: OrtModule;
  readonly provider: ProviderName;
  readonly threads: number;
  /** More options of each session. */
  readonly session?: Ort.InferenceSession.SessionOptions;
  /**
   * The GPU's loss. `watch` starts to listen for it. Call it after a session was created, because the session creates
   * the GPU's device.
   */
  readonly gpu?: {
    readonly loss: DeviceLoss;
    watch(isInUse: () => boolean): Promise<void> | void;
    /** The device that `watch` has found, if sessions take tensors in its buffers. */
    readonly device?: GPUDevice | undefined;
  };
  /**
   * Returns the path of a file on this machine from which ONNX Runtime can read a model itself; undefined if the file
   * may have changed after it was read.
   */
  readonly pathOf?: (url: URL, bytes: number) => Promise<string | undefined>;
  /** Finds out where the nodes of a session's graph run. */
  readonly placement?: PlacementLog;
}

/** Returns how to use one of a build's providers. @throws `backend-failed`, or an Error that says why it cannot be */
export type Provide = (
  env: Ort.Env,
  environment: EngineEnvironment,
) => Omit<Build, 'ort' | 'threads'> | Promise<Omit<Build, 'ort' | 'threads'>>;

/**
 * Wraps one build of ONNX Runtime. Every build refuses overlapping calls, or breaks on them, so one lock guards all
 * calls. One build blocks the thread for ever if it runs after its device is lost, so sessions refuse such runs.
 */
export function createEngine(build: Build): Engine {
  const lock = new Lock();
  let openSessions = 0;
  watchHeap();

  return {
    version: versionOf(build.ort.env),
    threads: build.threads,
    get nodes() {
      return build.placement?.nodes;
    },
    memory: heapBytes,
    async open(files, path, options, { keeps, lastTokenOf } = {}) {
      const { inputs, outputs, metadata, quantizesAtRunTime, ...parts } = await readModel(
        build,
        files,
        path,
        lastTokenOf,
      );
      checkNames(inputs, options, path);
      if (build.provider === 'webnn' || build.provider === 'webgl') checkFixed(build.provider, inputs, options, path);
      const keeper =
        keeps && build.provider === 'webgpu' ? await loadScript(() => import('./kept-tensors.js')) : undefined;
      const locations = keeper?.locationsOf(outputs, keeps!);
      const session = await lock.run(() => create(build, parts, options, locations));
      openSessions += 1;
      await build.gpu?.watch(() => openSessions > 0);
      const memory = locations && new keeper!.KeptTensors(build.gpu!, lock, toTensor);
      const model = load(build, session, fixDimensions(inputs, options), fixDimensions(outputs, options), memory);
      const release = (): Promise<void> | void => {
        openSessions -= 1;
        return model.release();
      };
      return new LockedSession({ ...model, metadata, quantizesAtRunTime, release }, lock, build.gpu?.loss);
    },
  };
}

async function create(
  build: Build,
  parts: SessionParts,
  options: EngineOptions,
  locations: OutputLocations,
): Promise<Ort.InferenceSession> {
  if (!build.placement) return await createSession(build, parts, options, locations);
  const { session, nodes } = await build.placement.watch(() => createSession(build, parts, options, locations));
  if (!nodes || nodes.onWasm < nodes.total) return session;
  await session.release();
  throw new TabServeError(
    'backend-failed',
    `${build.provider} runs none of the ${nodes.total} nodes of the model's graph (${nodes.operators.join(', ')}): WASM would run all of them.`,
  );
}

async function createSession(
  build: Build,
  { model, externalData, poolsPadding }: SessionParts,
  options: EngineOptions,
  locations: OutputLocations,
): Promise<Ort.InferenceSession> {
  try {
    return await build.ort.InferenceSession.create(model as Uint8Array, {
      executionProviders: [build.provider],
      graphOptimizationLevel: options.graphOptimizationLevel ?? 'all',
      ...(options.freeDimensions && { freeDimensionOverrides: options.freeDimensions }),
      ...(externalData.length > 0 && { externalData }),
      ...(locations && { preferredOutputLocation: locations }),
      logSeverityLevel: 3,
      ...(poolsPadding && { extra: WITHOUT_PAD_FUSION }),
      ...build.session,
    });
  } catch (cause) {
    throw engineError('backend-failed', `ONNX Runtime could not load the model on ${build.provider}`, cause);
  } finally {
    for (const { data } of externalData as readonly { data?: Partial<LazyBytes> }[]) data?.free?.();
  }
}

function load(
  { ort: { Tensor }, provider, gpu }: Build,
  session: Ort.InferenceSession,
  inputs: readonly TensorInfo[],
  outputs: readonly TensorInfo[],
  memory: KeptTensors | undefined,
): LoadedModel {
  const toFeed = (tensor: Tensor): Ort.Tensor => {
    const { dtype, dims } = tensor;
    if (tensor instanceof GpuTensor) return Tensor.fromGpuBuffer(tensor.buffer, { dataType: dtype as 'float32', dims });
    return new Tensor(dtype as 'float32', tensor.data as Float32Array, dims);
  };
  return {
    device: gpu?.device,
    inputs,
    outputs,
    async run(feeds: Tensors, options?: RunOptions): Promise<Tensors> {
      memory?.check();
      try {
        const ortFeeds = Object.fromEntries(Object.entries(feeds).map(([name, tensor]) => [name, toFeed(tensor)]));
        const results = await session.run(ortFeeds);
        if (memory) return await memory.outputsOf(results, options?.keep);
        const outputs = Object.fromEntries(
          Object.entries(results).map(([name, result]) => [name, toTensor(result as Ort.Tensor)]),
        );
        if (options?.keep && provider === 'wasm') ownTensors(Object.values(outputs));
        return outputs;
      } catch (cause) {
        memory?.fail();
        throw engineError('inference-failed', `ONNX Runtime could not run the model on ${provider}`, cause);
      }
    },
    release() {
      memory?.freeAll();
      return session.release();
    },
  };
}

function toTensor(result: Ort.Tensor): Tensor {
  const dtype = result.type as DType;
  // If the browser has Float16Array, ONNX Runtime returns one; our float16 data is always the 16 bits.
  const { data } = result as { data: TensorDataMap[DType] };
  const bits =
    dtype === 'float16' && !(data instanceof Uint16Array) ? sixteenBits(data as unknown as ArrayBufferView) : data;
  return { dtype, dims: result.dims, data: bits };
}

function sixteenBits(data: ArrayBufferView): Uint16Array {
  return new Uint16Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength / 2);
}

/**
 * The memories of this worker's WebAssembly modules. Modules create most of them before they start, and ONNX Runtime
 * does not expose its own.
 */
const memories: WebAssembly.Memory[] = [];
let watching = false;

/** Counts every memory that is created from now on. */
export function watchHeap(): void {
  if (watching) return;
  watching = true;
  const Memory = WebAssembly.Memory;
  WebAssembly.Memory = class extends Memory {
    constructor(descriptor: WebAssembly.MemoryDescriptor) {
      super(descriptor);
      memories.push(this);
    }
  };
}

/** Returns the bytes of all counted memories. WebAssembly memory never shrinks. */
export function heapBytes(): number {
  return memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
}
