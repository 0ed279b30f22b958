import { loadScript } from '../../../shared/load-script.js';
import type * as Core from '@tensorflow/tfjs-core';
import type { Tensors } from '../../../contract/tensors.js';
import type { Engine } from '../engine.js';
import { engineError } from '../failure.js';
import { type LoadedModel, Lock, LockedSession } from '../session.js';
import { readArtifacts, type Artifacts } from './artifacts.js';
import { loadGraph, type Model } from './graph.js';
import type { DeviceLoss } from '../device-loss.js';
import type { TensorFlow } from './libraries.js';
import { fromTensorFlow, toTensorFlow } from './tensors.js';

/** The differences between the backends of TensorFlow.js. */
export interface Build {
  readonly name: 'webgpu' | 'webgl' | 'wasm' | 'cpu';
  /** The largest integer that the backend represents exactly. */
  readonly maxInteger: number;
  /** Returns the backend's memory in bytes, if that is more than its tensors. */
  readonly memory?: () => number;
  /** The loss of the backend's GPU. */
  readonly loss?: DeviceLoss;
  /** Does the work, and throws if the GPU reports an error afterwards. */
  readonly watch?: <T>(work: () => Promise<T>) => Promise<T>;
}

/**
 * Starts one of the registered backends. TensorFlow.js's own function would hide why a backend cannot start.
 * @throws what the backend throws
 */
export async function startBackend<B extends Core.KernelBackend>(
  { core }: TensorFlow,
  name: Build['name'],
): Promise<B> {
  const factory = core.findBackendFactory(name);
  if (!factory) throw new Error(`TensorFlow.js has no ${name} in this browser.`);
  const backend = await factory();
  core.removeBackend(name);
  core.registerBackend(name, () => backend);
  await core.setBackend(name);
  return backend as B;
}

/**
 * Wraps TensorFlow.js on one backend. The tensors of a run belong to a scope, and scopes are global: one lock guards
 * all sessions.
 */
export function createEngine(tensorflow: TensorFlow, build: Build): Engine {
  const lock = new Lock();

  return {
    version: tensorflow.core.version_core,
    threads: 1,
    memory: build.memory ?? (() => tensorflow.core.engine().memory().numBytes),
    async open(files, path) {
      const artifacts = await readArtifacts(files, path);
      const model = await lock.run(() => loadModel(tensorflow, artifacts, path));
      return new LockedSession(load(tensorflow, build, model), lock, build.loss);
    },
  };
}

async function loadModel(tensorflow: TensorFlow, artifacts: Artifacts, path: string): Promise<Model> {
  try {
    if (artifacts.model.modelTopology.node) return await loadGraph(artifacts, tensorflow);
    const loadLayers = await loadScript(async () => (await import('./layers.js')).loadLayers);
    return await loadLayers(artifacts, await tensorflow.layers());
  } catch (cause) {
    throw engineError('model-format', `TensorFlow.js cannot read ${path}`, cause);
  }
}

function load({ core }: TensorFlow, { name, maxInteger, watch = (work) => work() }: Build, model: Model): LoadedModel {
  const run = async (feeds: Tensors): Promise<Tensors> => {
    core.engine().startScope();
    try {
      const results = await model.execute(
        Object.fromEntries(
          Object.entries(feeds).map(([input, tensor]) => [input, toTensorFlow(core.tensor, input, tensor, maxInteger)]),
        ),
      );
      return Object.fromEntries(
        await Promise.all(
          model.outputs.map(
            async (output, index) => [output.name, await fromTensorFlow(results[index]!, output)] as const,
          ),
        ),
      );
    } finally {
      core.engine().endScope();
    }
  };
  return {
    inputs: model.inputs,
    outputs: model.outputs,
    async run(feeds) {
      try {
        return await watch(() => run(feeds));
      } catch (cause) {
        throw engineError('inference-failed', `TensorFlow.js could not run the model on ${name}`, cause);
      }
    },
    release: () => model.dispose(),
  };
}
