import { join } from 'node:path';
import { node, tensor, writeAll, writeModel } from './onnx.mjs';

const LOCATION = 'weights.bin';

/**
 * Writes `model.onnx` into a folder: y = x · W₁ · … · Wₙ, with float32 weights of width × width.
 * @param {string} folder
 * @param {{ layers: number, width: number, batch?: number | string, isExternal: boolean }} options `batch`: its size,
 *   or the name of one that is free; `isExternal`: whether the weights are in a file of their own, `weights.bin`
 */
export async function writeLargeModel(folder, { layers, width, batch = 1, isExternal }) {
  const nodes = [];
  const tensors = [];
  const weights = [];
  for (let layer = 0; layer < layers; layer++) {
    const [input, output] = [layer === 0 ? 'x' : `h${layer}`, layer === layers - 1 ? 'y' : `h${layer + 1}`];
    nodes.push(node('MatMul', [input, `w${layer}`], output));
    const values = makeWeights(layer, width * width);
    const { byteLength: length } = values;
    const where = { location: LOCATION, offset: layer * length, length };
    tensors.push(tensor(`w${layer}`, [width, width], isExternal ? where : values));
    if (isExternal) weights.push(new Uint8Array(values.buffer));
  }
  const [inputs, outputs] = [[['x', [batch, width]]], [['y', [batch, width]]]];
  await writeModel(join(folder, 'model.onnx'), { name: 'chain', nodes, tensors, inputs, outputs });
  if (isExternal) await writeAll(join(folder, LOCATION), weights);
}

/** Small numbers that are not all the same. */
function makeWeights(layer, count) {
  const values = new Float32Array(count);
  for (let at = 0; at < values.length; at++) values[at] = (((at * 7 + layer) % 1009) - 504) / 30_000;
  return values;
}
