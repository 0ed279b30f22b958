import type { io, NamedTensorMap, Tensor as TfTensor } from '@tensorflow/tfjs-core';
import type { TensorFlowCore } from '../../libraries/tfjs-core.js';
import type { Artifacts } from './artifacts.js';
import { readSignature } from './signature.js';
import type { OutputInfo, TensorInfo } from '../../../contract/tensors.js';

/** Operations that TensorFlow.js can run only asynchronously: their control flow or output size depends on values. */
const ASYNCHRONOUS = new Set([
  'If',
  'StatelessIf',
  'While',
  'StatelessWhile',
  'Switch',
  'Merge',
  'Enter',
  'Exit',
  'NextIteration',
  'LoopCond',
  'NonMaxSuppressionV2',
  'NonMaxSuppressionV3',
  'NonMaxSuppressionV4',
  'NonMaxSuppressionV5',
  'Where',
  'ListDiff',
  'HashTable',
  'HashTableV2',
  'LookupTableImport',
  'LookupTableImportV2',
  'LookupTableFind',
  'LookupTableFindV2',
  'LookupTableSize',
  'LookupTableSizeV2',
]);

/** Loads a graph model: a SavedModel or a frozen graph, as `tensorflowjs_converter` writes it. */
export async function loadGraph(
  { model: json, weightData }: Artifacts,
  { loadGraphModel }: Pick<TensorFlowCore, 'loadGraphModel'>,
): Promise<Model> {
  const { inputs, outputs } = readSignature(json);
  const { weightsManifest = [], ...rest } = json;
  const artifacts = {
    ...rest,
    weightSpecs: weightsManifest.flatMap(({ weights }) => weights),
    weightData,
  } as unknown as io.ModelArtifacts;
  const model = await loadGraphModel({ load: () => Promise.resolve(artifacts) });
  const names = outputs.map(({ name }) => name);
  const asynchronous = json.modelTopology.node?.some(({ op }) => ASYNCHRONOUS.has(op)) ?? false;
  return {
    inputs,
    outputs,
    async execute(feeds) {
      const results = asynchronous ? await model.executeAsync(feeds, names) : model.execute(feeds, names);
      return Array.isArray(results) ? results : [results];
    },
    dispose: () => model.dispose(),
  };
}

/** A graph model or a layers model. */
export interface Model {
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly OutputInfo[];
  /** Returns one tensor for each output. Intermediate tensors belong to the caller's scope. */
  execute(feeds: NamedTensorMap): Promise<readonly TfTensor[]> | readonly TfTensor[];
  dispose(): void;
}
