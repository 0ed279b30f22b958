import { TabServeError } from '../../../contract/errors.js';
import type { OutputInfo } from '../../../contract/tensors.js';
import { describeOutputs } from '../../outputs/boxes/decoder.js';

/** Returns the error for outputs that a form of `pose_landmarker` does not read. */
export function poseMisfit(
  name: string,
  expected: string,
  outputs: readonly Pick<OutputInfo, 'name' | 'dims'>[],
): TabServeError {
  return new TabServeError(
    'model-config',
    `handler.decoder: for ${name}, pose_landmarker needs ${expected}; the node "landmarks" gives ${describeOutputs(outputs)}. Choose the decoder, or handler.outputName of the node, to match the model.`,
  );
}
