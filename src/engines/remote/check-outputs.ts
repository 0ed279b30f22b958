import { TabServeError } from '../../contract/errors.js';
import type { TensorInfo, Tensors } from '../../contract/tensors.js';
import { formatTensor } from '../feeds.js';

/**
 * Returns the outputs that the model declares, without any others.
 * @throws `inference-failed` if one is missing, or has another dtype or other dims than declared
 */
export function checkOutputs(outputs: Tensors, declared: readonly TensorInfo[]): Tensors {
  const checked = declared.map((info) => {
    const { name, dtype, dims } = info;
    const output = Object.hasOwn(outputs, name) ? outputs[name] : undefined;
    if (!output) throw wrong(`has no output "${name}", expected ${formatTensor(info)}`);
    const fits =
      output.dtype === dtype &&
      output.dims.length === dims.length &&
      dims.every((size, axis) => typeof size !== 'number' || size === output.dims[axis]);
    if (!fits) throw wrong(`has "${name}" as ${formatTensor(output)}, expected ${formatTensor(info)}`);
    return [name, output] as const;
  });
  return Object.fromEntries(checked);
}

function wrong(what: string): TabServeError {
  return new TabServeError('inference-failed', `The server's answer ${what}.`);
}
