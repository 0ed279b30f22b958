import { node, tensor, writeModel } from './onnx.mjs';
import { randomNumbers } from './random.mjs';

/**
 * Expansion, channels, repetitions and first stride of each group of blocks: table 2 of "MobileNetV2: Inverted
 * Residuals and Linear Bottlenecks" (arXiv 1801.04381).
 */
const GROUPS = [
  [1, 16, 1, 1],
  [6, 24, 2, 2],
  [6, 32, 3, 2],
  [6, 64, 4, 2],
  [6, 96, 3, 1],
  [6, 160, 3, 2],
  [6, 320, 1, 1],
];
const [FIRST, LAST] = [32, 1280];

/**
 * Writes a MobileNetV2 of width 1.0, 224 × 224, whose batch normalizations are folded into its convolutions, as a tool
 * that exports models does: 300 million multiply-adds. Its weights are random, and the same ones each time: it computes
 * as long as a trained one, and says nothing.
 * @param {string} path of the `.onnx`
 * @param {number} classes
 */
export async function writeMobileNet(path, classes) {
  const nodes = [];
  const tensors = [];
  const random = randomNumbers();
  /**
   * Uniform numbers of variance `gain` / `inputs`, with which activations keep their size (He et al., arXiv
   * 1502.01852).
   */
  const weights = (name, dims, inputs, gain) => {
    const reach = Math.sqrt((3 * gain) / inputs);
    const count = dims.reduce((product, dim) => product * dim, 1);
    tensors.push(
      tensor(
        name,
        dims,
        Float32Array.from({ length: count }, () => reach * (2 * random() - 1)),
      ),
    );
    return name;
  };
  const add = (type, inputs, attributes) => {
    const output = `${type}_${nodes.length}`;
    nodes.push(node(type, inputs, output, attributes));
    return output;
  };
  const convolve = (input, from, to, { size = 1, stride = 1, group = 1, isLinear = false }) => {
    const name = `convolution${nodes.length}`;
    const own = from / group;
    const kernel = weights(`${name}.weight`, [to, own, size, size], own * size * size, isLinear ? 1 : 2);
    const bias = weights(`${name}.bias`, [to], 3, 0.01);
    const pad = (size - 1) / 2;
    const attributes = {
      kernel_shape: [size, size],
      strides: [stride, stride],
      pads: [pad, pad, pad, pad],
      dilations: [1, 1],
      group,
    };
    const sums = add('Conv', [input, kernel, bias], attributes);
    return isLinear ? sums : add('Clip', [sums, 'zero', 'six']);
  };

  tensors.push(tensor('zero', [], Float32Array.of(0)), tensor('six', [], Float32Array.of(6)));
  let channels = FIRST;
  let last = convolve('pixel_values', 3, FIRST, { size: 3, stride: 2 });
  for (const [expansion, to, repetitions, firstStride] of GROUPS)
    for (let block = 0; block < repetitions; block++) {
      const stride = block === 0 ? firstStride : 1;
      const wide = expansion * channels;
      const expanded = expansion === 1 ? last : convolve(last, channels, wide, {});
      const spatial = convolve(expanded, wide, wide, { size: 3, stride, group: wide });
      const narrow = convolve(spatial, wide, to, { isLinear: true });
      last = stride === 1 && channels === to ? add('Add', [last, narrow]) : narrow;
      channels = to;
    }
  const features = add('Flatten', [add('GlobalAveragePool', [convolve(last, channels, LAST, {})])], { axis: 1 });
  const matrix = weights('classes.weight', [LAST, classes], LAST, 1);
  nodes.push(node('Gemm', [features, matrix, weights('classes.bias', [classes], 3, 0.01)], 'logits'));
  const [inputs, outputs] = [[['pixel_values', ['batch', 3, 224, 224]]], [['logits', ['batch', classes]]]];
  await writeModel(path, { name: 'mobilenet_v2', nodes, tensors, inputs, outputs });
}
