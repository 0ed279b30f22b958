/** Writes the graph of a model so that ONNX Runtime's WebGL can read and run it. */
import type { EngineOptions } from '../../../contract/archive.js';
import { TabServeError } from '../../../contract/errors.js';
import { encodeConstant, encodeNode, OnnxNode } from '../../models/onnx/nodes.js';
import { encode, encodeNumber, encodeText, join, type Pieces } from '../../models/onnx/protobuf-writer.js';
import { all, fields, find, numberIn, text } from '../../models/onnx/protobuf.js';
import { bytesOf, floatsOf, inline, readTensor, type OnnxTensor } from '../../models/onnx/tensors.js';

/** `TensorProto.DataType`. */
const [FLOAT, INT64] = [1, 7];

/** Operators that leave the elements where they are in the texture. */
const RESHAPES = new Set(['Reshape', 'Flatten', 'Squeeze', 'Unsqueeze', 'DepthToSpace']);

/** Operators that take elements by where they are in the texture: each of one element, and `Softmax`. */
const BY_PLACE = new Set(
  'Abs Acos Add And Asin Atan Ceil Clip Cos Div Elu Equal Exp Floor Greater LeakyRelu Less Log Mul Neg Not Or PRelu Pow Relu Sigmoid Sin Softmax Sqrt Sub Sum Tan Tanh Xor'.split(
    ' ',
  ),
);

type FreeDimensions = NonNullable<EngineOptions['freeDimensions']>;

/**
 * Returns a model that computes the same, without what ONNX Runtime's WebGL (1.30) lacks:
 *
 * - A free dimension of an input gets its size from `freeDimensions`.
 * - A start or an end of a `Slice` beyond int32, which exporters write for "to the end", is clamped to int32.
 * - What `Reshape` and its like return is copied if an operator such as `Add` reads it: that one takes elements by where
 *   they are in the texture, and a tensor that was reshaped lies there in its old layout.
 * - A `Resize` to the nearest pixel by a whole number becomes copies of the channels and `DepthToSpace`.
 * - A `Split` with its sizes as an input (since opset 13) becomes a `Slice` for each part.
 *
 * Returns the model itself if it has nothing of that, or is damaged, which ONNX Runtime reports.
 */
export function adaptGraph(model: Uint8Array, freeDimensions: FreeDimensions = {}): Uint8Array {
  try {
    const graph = find(model, 7);
    const adapted = graph && new Adapter(graph, opsetOf(model), freeDimensions).adapt();
    if (!adapted) return model;
    return join([...fields(model)].flatMap(({ field, whole }) => (field === 7 ? encode(7, adapted) : [whole])));
  } catch (cause) {
    if (!(cause instanceof RangeError || cause instanceof TabServeError)) throw cause;
    return model;
  }
}

/** Returns the version of ONNX's own operators that a model uses. */
function opsetOf(model: Uint8Array): number {
  // OperatorSetIdProto: its domain, empty for ONNX's own, and its version.
  const own = all(model, 8).find((message) => ['', 'ai.onnx'].includes(text(find(message, 1))));
  return (own && numberIn(own, 2)) ?? 1;
}

class Adapter {
  readonly #graph: Uint8Array;
  readonly #opset: number;
  readonly #freeDimensions: FreeDimensions;
  readonly #constants: ReadonlyMap<string, OnnxTensor>;
  /** The names of what is only read as a start or an end of a `Slice`. */
  readonly #bounds: ReadonlySet<string>;
  /** The names of what is read by an operator that takes elements by where they are in the texture. */
  readonly #byPlace: ReadonlySet<string>;
  #added = 0;

  constructor(graph: Uint8Array, opset: number, freeDimensions: FreeDimensions) {
    this.#graph = graph;
    this.#opset = opset;
    this.#freeDimensions = freeDimensions;
    const nodes = all(graph, 1).map((message) => new OnnxNode(message));
    const initializers = all(graph, 5).map((message) => readTensor(message, new Map()));
    this.#constants = new Map([
      ...nodes.flatMap(({ constant, outputs }) => (constant ? [[outputs[0]!, constant] as const] : [])),
      ...initializers.map((tensor) => [tensor.name, tensor] as const),
    ]);
    this.#byPlace = new Set(nodes.flatMap(({ type, inputs }) => (BY_PLACE.has(type) ? inputs : [])));
    const readers = nodes.flatMap(({ type, inputs }) =>
      inputs.map((name, at) => ({ name, isSlice: type === 'Slice' && (at === 1 || at === 2) })),
    );
    const outputs = all(graph, 12).map((message) => text(find(message, 1)));
    const others = new Set([...outputs, ...readers.filter(({ isSlice }) => !isSlice).map(({ name }) => name)]);
    this.#bounds = new Set(readers.map(({ name }) => name).filter((name) => !others.has(name)));
  }

  /** Returns the fields of the new graph; undefined if nothing is to be changed. */
  adapt(): Pieces | undefined {
    let isChanged = false;
    const adapted = [...fields(this.#graph)].flatMap(({ field, value, whole }) => {
      const changed = typeof value === 'number' ? undefined : this.#change(field, value);
      isChanged ||= changed !== undefined;
      return changed ?? [whole];
    });
    return isChanged ? adapted : undefined;
  }

  /** Returns what a field of the graph becomes; undefined if it stays. */
  #change(field: number, value: Uint8Array): Pieces | undefined {
    if (field === 5) {
      const clamped = this.#clamp(text(find(value, 8)));
      return clamped && encode(5, inline(clamped));
    }
    if (field === 11) return fixInput(value, this.#freeDimensions);
    if (field !== 1) return undefined;
    const node = new OnnxNode(value);
    switch (node.type) {
      case 'Constant': {
        const clamped = this.#clamp(node.outputs[0]!);
        return clamped && encodeConstant(clamped, node.outputs[0]!);
      }
      case 'Resize':
        return this.#enlarge(node);
      case 'Split':
        return this.#split(node);
    }
    return RESHAPES.has(node.type) && this.#byPlace.has(node.outputs[0]!) ? this.#inOrder(value, node) : undefined;
  }

  /** No axis is so long that a start or an end beyond int32 means another place than int32's last. */
  #clamp(name: string): OnnxTensor | undefined {
    const tensor = this.#bounds.has(name) ? this.#constants.get(name) : undefined;
    const numbers = tensor && integersOf(tensor);
    const clamped = numbers?.map((number) => Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, number)));
    const isInside = !clamped || clamped.every((number, at) => number === numbers![at]);
    return isInside ? undefined : { ...tensor!, data: integerBytes(clamped) };
  }

  /** By ONNX, `DepthToSpace` reads pixel (i, j) of a block of p × p from channels that begin at (i p + j) C. */
  #enlarge(node: OnnxNode): Pieces | undefined {
    const [image, , scales] = node.inputs;
    const isNearest =
      (node.text('mode') ?? 'nearest') === 'nearest' &&
      node.text('coordinate_transformation_mode') === 'asymmetric' &&
      node.text('nearest_mode') === 'floor' &&
      // In another order than the dims, since opset 18.
      !node.has('axes');
    const factor = wholeFactor(this.#constants.get(scales ?? ''));
    if (!isNearest || node.inputs.length !== 3 || factor === undefined) return undefined;
    // A texture unit for each copy: few are enough if the image is enlarged again and again.
    const steps = primeFactors(factor);
    const images = [image!, ...steps.slice(1).map(() => this.#newName()), node.outputs[0]!];
    return steps.flatMap((step, at) => {
      const [copies, blocks] = [this.#newName(), this.#newName()];
      const channels = Array.from({ length: step * step }, () => images[at]!);
      return [
        ...encodeNode('Concat', channels, [copies], { axis: 1 }),
        ...encodeNode('DepthToSpace', [copies], [blocks], { blocksize: step, mode: 'DCR' }),
        ...this.#copy(blocks, images[at + 1]!),
      ];
    });
  }

  #inOrder(message: Uint8Array, { outputs: [output] }: OnnxNode): Pieces {
    const reshaped = this.#newName();
    // NodeProto.output.
    const renamed = [...fields(message)].flatMap(({ field, whole }) =>
      field === 2 ? encodeText(2, reshaped) : [whole],
    );
    return [...encode(1, renamed), ...this.#copy(reshaped, output!)];
  }

  /** Copies a tensor of any rank: its first axis from the first index to the last. */
  #copy(from: string, to: string): Pieces {
    // Before opset 10, a slice had attributes in place of inputs.
    if (this.#opset < 10) return encodeNode('Slice', [from], [to], { axes: [0], starts: [0], ends: [2 ** 31 - 1] });
    const [first, last] = [this.#constant(0), this.#constant(2 ** 31 - 1)];
    return [...first.field, ...last.field, ...encodeNode('Slice', [from, first.name, last.name, first.name], [to])];
  }

  #split(node: OnnxNode): Pieces | undefined {
    const [tensor, given] = node.inputs;
    const constant = this.#constants.get(given ?? '');
    const sizes = constant && integersOf(constant);
    if (!sizes || sizes.length !== node.outputs.length) return undefined;
    const axis = this.#constant(node.integer('axis') ?? 0);
    let end = 0;
    const slices = sizes.flatMap((size, at) => {
      const [from, to] = [this.#constant(end), this.#constant((end += size))];
      const slice = encodeNode('Slice', [tensor!, from.name, to.name, axis.name], [node.outputs[at]!]);
      return [...from.field, ...to.field, ...slice];
    });
    return [...axis.field, ...slices];
  }

  #constant(number: number): { readonly name: string; readonly field: Pieces } {
    const name = this.#newName();
    const data = integerBytes([number]);
    const tensor = { name, dtype: INT64, dims: [1], data, location: undefined, others: [] };
    return { name, field: encodeConstant(tensor, name) };
  }

  #newName(): string {
    return `tabserve:${this.#added++}`;
  }
}

/** Returns an input whose free dimensions have the sizes that are given; undefined if there are none for it. */
function fixInput(input: Uint8Array, freeDimensions: FreeDimensions): Pieces | undefined {
  let isChanged = false;
  // ValueInfoProto.type.tensor_type.shape.dim: each message is a field of the one before it.
  const fix = (message: Uint8Array, [own, ...inner]: readonly number[]): Pieces => {
    const size = own === undefined ? freeDimensions[text(find(message, 2))] : undefined;
    if (own === undefined && size !== undefined && numberIn(message, 1) === undefined) {
      isChanged = true;
      return encodeNumber(1, size);
    }
    return [...fields(message)].flatMap(({ field, value, whole }) =>
      field === own && typeof value !== 'number' ? encode(field, fix(value, inner)) : [whole],
    );
  };
  const fixed = fix(input, [2, 1, 2, 1]);
  return isChanged ? encode(11, fixed) : undefined;
}

/** Returns by how much `Resize` enlarges height and width; undefined if that differs, or is no whole number above 1. */
function wholeFactor(scales: OnnxTensor | undefined): number | undefined {
  if (scales?.dtype !== FLOAT) return undefined;
  const [rows, channels, height, width, ...others] = floatsOf(scales);
  const isEnlarged = rows === 1 && channels === 1 && height === width && others.length === 0;
  return isEnlarged && Number.isInteger(height) && height! > 1 ? height : undefined;
}

function primeFactors(number: number): readonly number[] {
  const smallest = Array.from({ length: number - 1 }, (_, at) => at + 2).find((one) => number % one === 0);
  return smallest === undefined ? [] : [smallest, ...primeFactors(number / smallest)];
}

/** Returns the numbers of an int64 tensor, as near as a number can be; undefined for another one. */
function integersOf({ dtype, data }: OnnxTensor): readonly number[] | undefined {
  if (dtype !== INT64 || !data || data.length % 8 !== 0) return undefined;
  return Array.from(new BigInt64Array(Uint8Array.from(data).buffer), Number);
}

function integerBytes(numbers: readonly number[]): Uint8Array {
  return bytesOf(BigInt64Array.from(numbers, BigInt));
}
