import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';

const LOCATION = 'weights.bin';
const [FLOAT, EXTERNAL] = [1, 1];

/**
 * Writes `model.onnx` into a folder: y = x · W₁ · … · Wₙ, with float32 weights of width × width. Field numbers: `onnx.proto` of ONNX (IR version 8).
 * @param {string} folder
 * @param {{ layers: number, width: number, isExternal: boolean }} options `isExternal`: whether the weights are in a file of their own, `weights.bin`
 */
export async function writeLargeModel(folder, { layers, width, isExternal }) {
  const graph = [];
  const weights = [];
  for (let layer = 0; layer < layers; layer++) {
    const [input, output] = [layer === 0 ? 'x' : `h${layer}`, layer === layers - 1 ? 'y' : `h${layer + 1}`];
    graph.push(field(1, [text(1, input), text(1, `w${layer}`), text(2, output), text(4, 'MatMul')]));
    const tensor = [int(1, width), int(1, width), int(2, FLOAT), text(8, `w${layer}`)];
    const bytes = makeWeights(layer, width * width);
    if (isExternal) {
      weights.push(bytes);
      const where = { location: LOCATION, offset: layer * bytes.length, length: bytes.length };
      tensor.push(...Object.entries(where).map(([key, value]) => field(13, [text(1, key), text(2, String(value))])));
      tensor.push(int(14, EXTERNAL));
    } else tensor.push(field(9, [bytes]));
    graph.push(field(5, tensor));
  }
  graph.push(text(2, 'chain'), field(11, [tensorInfo('x', width)]), field(12, [tensorInfo('y', width)]));
  await writeAll(join(folder, 'model.onnx'), [int(1, 8), field(7, graph), field(8, [int(2, 13)])]);
  if (isExternal) await writeAll(join(folder, LOCATION), weights);
}

/** Small numbers that are not all the same. */
function makeWeights(layer, count) {
  const values = new Float32Array(count);
  for (let at = 0; at < values.length; at++) values[at] = (((at * 7 + layer) % 1009) - 504) / 30_000;
  return new Uint8Array(values.buffer);
}

function tensorInfo(name, width) {
  const shape = [1, width].map((size) => field(1, [int(1, size)]));
  return Buffer.concat([text(1, name), ...flat(field(2, [field(1, [int(1, FLOAT), field(2, shape)])]))]);
}

function int(number, value) {
  return Buffer.concat([varint(number << 3), varint(value)]);
}

function text(number, value) {
  return Buffer.concat(flat(field(number, [Buffer.from(value)])));
}

/** Nested lists of bytes: what is large is not copied. */
function field(number, parts) {
  const bytes = flat(parts);
  const length = bytes.reduce((sum, one) => sum + one.length, 0);
  return [varint((number << 3) | 2), varint(length), ...bytes];
}

function flat(parts) {
  return parts.flat(Infinity);
}

function varint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Uint8Array.of(...bytes, value);
}

async function writeAll(path, parts) {
  const file = createWriteStream(path);
  for (const part of flat(parts)) if (!file.write(part)) await once(file, 'drain');
  file.end();
  await once(file, 'close');
}
