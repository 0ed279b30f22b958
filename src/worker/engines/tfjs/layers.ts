import type * as Layers from '@tensorflow/tfjs-layers';
import type { io } from '@tensorflow/tfjs-core';
import type { DType, TensorInfo } from '../../../contract/tensors.js';
import type { Artifacts } from './artifacts.js';
import type { Model } from './graph.js';

/**
 * Loads a layers model: a Keras model, or one saved by TensorFlow.js's `model.save`. Its inputs and outputs have the
 * names of its layers.
 */
export async function loadLayers(
  { model: { modelTopology, weightsManifest = [] }, weightData }: Artifacts,
  { loadLayersModel }: Pick<typeof Layers, 'loadLayersModel'>,
): Promise<Model> {
  const artifacts = {
    modelTopology,
    weightSpecs: weightsManifest.flatMap(({ weights }) => weights),
    weightData,
  } as unknown as io.ModelArtifacts;
  const model = await loadLayersModel({ load: () => Promise.resolve(artifacts) });
  // TensorFlow.js gives a Sequential model the names of its inputs and outputs only when it is built.
  if (model.inputNames.length === 0) model.build(model.inputs[0]!.shape);
  const info = (names: readonly string[], tensors: typeof model.inputs): readonly TensorInfo[] =>
    tensors.map(({ dtype, shape }, index) => ({ name: names[index]!, dtype: dtype as DType, dims: shape }));
  const ops = model.outputs.map(({ sourceLayer }) => activationOf(sourceLayer));
  return {
    inputs: info(model.inputNames, model.inputs),
    outputs: info(model.outputNames, model.outputs).map((output, index) => ({ ...output, op: ops[index] })),
    execute(feeds) {
      const results = model.predictOnBatch(model.inputNames.map((name) => feeds[name]!));
      return Array.isArray(results) ? results : [results];
    },
    dispose: () => void model.dispose(),
  };
}

/** The operators of Keras's activations whose numbers are probabilities. */
const OPERATORS: ReadonlyMap<unknown, string> = new Map([
  ['softmax', 'Softmax'],
  ['sigmoid', 'Sigmoid'],
  ['hardSigmoid', 'HardSigmoid'],
]);

/** Returns the operator that a layer ends with, if its numbers are probabilities. */
function activationOf(layer: Layers.layers.Layer): string | undefined {
  return layer.getClassName() === 'Softmax' ? 'Softmax' : OPERATORS.get(layer.getConfig()['activation']);
}
