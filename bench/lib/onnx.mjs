/** Writes ONNX files. Field numbers: `onnx.proto` of ONNX (IR version 8). */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

/** Numbers of dtypes. */
const DTYPES = { float32: 1, int64: 7 };
const [ATTRIBUTE_INT, ATTRIBUTE_INTS] = [2, 7];
/** ONNX Runtime's own operators. */
const MICROSOFT = 'com.microsoft';

/**
 * @typedef {[name: string, dims: (number | string)[], dtype?: keyof DTYPES]} Info of an input or an output. A free
 *   dimension has a name in place of a size. Default: float32
 */

/**
 * Writes a model.
 * @param {string} path
 * @param {{ name: string, nodes: unknown[], tensors: unknown[], inputs: Info[], outputs: Info[] }} graph
 */
export async function writeModel(path, { name, nodes, tensors, inputs, outputs }) {
  const graph = [
    ...nodes,
    ...tensors,
    text(2, name),
    ...inputs.map((info) => field(11, [tensorInfo(...info)])),
    ...outputs.map((info) => field(12, [tensorInfo(...info)])),
  ];
  const opsets = [field(8, [int(2, 13)]), field(8, [text(1, MICROSOFT), int(2, 1)])];
  await writeAll(path, [int(1, 8), field(7, graph), ...opsets]);
}

/**
 * A node of a graph.
 * @param {string | readonly string[]} output
 * @param {Readonly<Record<string, number | readonly number[]>>} attributes
 */
export function node(type, inputs, output, attributes = {}) {
  const outputs = [output].flat();
  const parts = [
    ...inputs.map((input) => text(1, input)),
    ...outputs.map((one) => text(2, one)),
    text(4, type),
    ...(OWN.has(type) ? [text(7, MICROSOFT)] : []),
  ];
  for (const [name, value] of Object.entries(attributes)) {
    const values = Array.isArray(value)
      ? [...value.map((one) => int(8, one)), int(20, ATTRIBUTE_INTS)]
      : [int(3, value), int(20, ATTRIBUTE_INT)];
    parts.push(field(5, [text(1, name), ...values]));
  }
  return field(1, parts);
}

/** Those of ONNX Runtime's own operators that the models have. */
const OWN = new Set(['GroupQueryAttention', 'RotaryEmbedding']);

/**
 * A tensor of weights, or of numbers that an operator needs.
 * @param {readonly number[]} dims
 * @param {Float32Array | BigInt64Array | { location: string, offset: number, length: number }} data in the file, or where it is
 */
export function tensor(name, dims, data) {
  const dtype = data instanceof BigInt64Array ? DTYPES.int64 : DTYPES.float32;
  const parts = [...dims.map((dim) => int(1, dim)), int(2, dtype), text(8, name)];
  if (ArrayBuffer.isView(data)) return field(5, [...parts, field(9, [new Uint8Array(data.buffer)])]);
  parts.push(...Object.entries(data).map(([key, value]) => field(13, [text(1, key), text(2, String(value))])));
  return field(5, [...parts, int(14, 1)]);
}

function tensorInfo(name, dims, dtype = 'float32') {
  const shape = dims.map((size) => field(1, [typeof size === 'number' ? int(1, size) : text(2, size)]));
  return Buffer.concat([text(1, name), ...flat(field(2, [field(1, [int(1, DTYPES[dtype]), field(2, shape)])]))]);
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

/** @param {unknown[]} parts nested lists of bytes */
export async function writeAll(path, parts) {
  const file = createWriteStream(path);
  for (const part of flat(parts)) if (!file.write(part)) await once(file, 'drain');
  file.end();
  await once(file, 'close');
}
