import type { NamedTensorMap, Tensor as TfTensor } from '@tensorflow/tfjs-core';
import type { OutputInfo, TensorInfo } from '../../contract/tensors.js';

/** A graph model or a layers model. */
export interface Model {
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly OutputInfo[];
  /** Returns one tensor for each output. Intermediate tensors belong to the caller's scope. */
  execute(feeds: NamedTensorMap): Promise<readonly TfTensor[]> | readonly TfTensor[];
  dispose(): void;
}
