/** Smaller weights for ONNX Runtime's WebGL, which has neither float16 nor a constant folding of `Cast`. */
import { TabServeError } from '../../../contract/errors.js';
import { bytesOf, floatsOf, inline, readTensor, type OnnxTensor } from '../../models/onnx/tensors.js';
import { OnnxNode } from '../../models/onnx/nodes.js';
import { encode, join, type Pieces } from '../../models/onnx/protobuf-writer.js';
import { all, fields, find, text } from '../../models/onnx/protobuf.js';
import { fromFloat16 } from '../../tensors/float16.js';

/** `TensorProto.DataType`. */
const [FLOAT, INT8, FLOAT16] = [1, 3, 10];

/**
 * Makes float32 weights of those that `tabserve optimize` has made smaller: it computes each `Cast` of float16 or int8
 * weights, and the `Mul` by their scales, as ONNX Runtime's other providers do when they open a model. Returns the
 * model itself if it has no such weights, is damaged, or has external data, which ONNX Runtime reports.
 */
export function widenWeights(model: Uint8Array): Uint8Array {
  try {
    const graph = find(model, 7);
    const widened = graph && widenGraph(graph);
    if (!widened) return model;
    return join([...fields(model)].flatMap(({ field, whole }) => (field === 7 ? encode(7, widened) : [whole])));
  } catch (cause) {
    if (!(cause instanceof RangeError || cause instanceof TabServeError)) throw cause;
    return model;
  }
}

function widenGraph(graph: Uint8Array): Pieces | undefined {
  const nodes = all(graph, 1).map((message) => new OnnxNode(message));
  const constants = new Map<string, OnnxTensor>();
  for (const { constant, outputs } of nodes) if (constant) constants.set(outputs[0]!, constant);
  for (const one of all(graph, 5)) constants.set(text(find(one, 8)), readTensor(one, new Map()));
  const computed = new Map<string, OnnxTensor>();
  for (const node of nodes) {
    const { type, inputs } = node;
    const name = node.outputs[0]!;
    const [first, second] = inputs.map((input) => computed.get(input) ?? constants.get(input));
    const isCast = type === 'Cast' && node.integer('to') === FLOAT;
    if (isCast && first?.data && (first.dtype === FLOAT16 || first.dtype === INT8))
      computed.set(name, cast(first, name));
    if (type === 'Mul' && computed.has(inputs[0]!) && second && isScale(second, first!))
      computed.set(name, scale(first!, second, name));
  }
  if (computed.size === 0) return undefined;
  const isRead = (name: string): boolean => others.some(({ inputs }) => inputs.includes(name)) || outputNames.has(name);
  const others = nodes.filter(({ outputs }) => !computed.has(outputs[0]!));
  const outputNames = new Set(all(graph, 12).map((one) => text(find(one, 1))));
  const sources = nodes.filter(({ outputs }) => computed.has(outputs[0]!)).flatMap(({ inputs }) => inputs);
  const dropped = new Set(sources.filter((name) => !isRead(name)));
  const kept = [...fields(graph)].flatMap(({ field, value, whole }) => {
    if (typeof value === 'number') return [whole];
    // A node by its output, an initializer and an input by its name.
    const at = new Map([
      [1, 2],
      [5, 8],
      [11, 1],
    ]).get(field);
    const name = at === undefined ? undefined : text(find(value, at));
    const isGone = name !== undefined && (dropped.has(name) || (field === 1 && computed.has(name)));
    return isGone ? [] : [whole];
  });
  return [
    ...kept,
    ...[...computed].filter(([name]) => isRead(name)).flatMap(([, tensor]) => encode(5, inline(tensor))),
  ];
}

function cast({ dtype, dims, data }: OnnxTensor, name: string): OnnxTensor {
  const bytes = Uint8Array.from(data!);
  const values =
    dtype === INT8 ? Float32Array.from(new Int8Array(bytes.buffer)) : fromFloat16(new Uint16Array(bytes.buffer));
  return { name, dtype: FLOAT, dims, data: bytesOf(values), location: undefined, others: [] };
}

/**
 * Returns whether a tensor has as many axes as another, and one number for it, or one for each index along one of its
 * axes.
 */
function isScale({ dtype, dims }: OnnxTensor, { dims: all }: OnnxTensor): boolean {
  const long = [...dims.keys()].filter((axis) => dims[axis] !== 1);
  return (
    dtype === FLOAT && dims.length === all.length && long.length <= 1 && long.every((axis) => dims[axis] === all[axis])
  );
}

function scale(tensor: OnnxTensor, by: OnnxTensor, name: string): OnnxTensor {
  const [values, scales] = [floatsOf(tensor), floatsOf(by)];
  const axis = Math.max(
    0,
    by.dims.findIndex((dim) => dim > 1),
  );
  const inner = tensor.dims.slice(axis + 1).reduce((product, dim) => product * dim, 1);
  const scaled = values.map((value, index) => value * scales[Math.floor(index / inner) % scales.length]!);
  return { ...tensor, name, data: bytesOf(scaled) };
}
