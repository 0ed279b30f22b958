import type { NamedTensorMap, Tensor as TfTensor } from '@tensorflow/tfjs-core';
import type { OutputInfo, TensorInfo } from '../../contract/tensors.js';

/** A graph model or a layers model. */
export interface Model {
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly OutputInfo[];
  /** One tensor for each output. What it makes on the way is left to the scope that it is called in. */
  execute(feeds: NamedTensorMap): Promise<readonly TfTensor[]> | readonly TfTensor[];
  dispose(): void;
}
