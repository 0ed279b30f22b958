import { TabServeError } from '../../../contract/errors.js';
import { toFloat16 } from '../../../worker/tensors/float16.js';
import { encode, encodeNumber, encodeText, join, type Pieces } from '../../../worker/models/onnx/protobuf-writer.js';
import {
  bytesOf,
  floatsOf,
  inline,
  outside,
  readTensor,
  type OnnxTensor,
} from '../../../worker/models/onnx/tensors.js';
import { all, fields, find, text, type Field } from '../../../worker/models/onnx/protobuf.js';
import { readExternalData } from '../../../worker/models/onnx/external-data.js';
import { readOnnxGraph } from '../onnx-graph.js';
import { isFor8Bits, MIN_ELEMENTS, quantize, sizeOf, whyNot, type SmallWeights } from './small-weights.js';

/** `TensorProto.DataType`. */
const [FLOAT, INT8, FLOAT16] = [1, 3, 10];

/** The first operator set in which `Mul` broadcasts, and ONNX Runtime's first. */
const MIN_OPSET = 7;

/**
 * Operators whose float32 inputs stay as they are: scales, whose rounding would move every number, and sizes, which
 * must be known before anything runs.
 */
const EXACT_OPERATORS = /[Qq]uant|^QLinear|Integer|NBits|^Resize$|^Upsample$/;

/** A tensor that stays float32. */
export interface Unconverted {
  readonly name: string;
  readonly bytes: number;
  readonly why: string;
}

export interface SmallerModel {
  readonly model: Uint8Array;
  /** The files with the model's large tensors, by their path beside the model. */
  readonly external: ReadonlyMap<string, Uint8Array>;
  /** How many tensors were converted. */
  readonly converted: number;
  /** Tensors that could have been converted by their size. */
  readonly unconverted: readonly Unconverted[];
}

export interface ShrinkOptions {
  readonly weights: SmallWeights;
  /** The files with the model's large tensors, by their location. */
  readonly external: ReadonlyMap<string, Uint8Array>;
  /** Returns the location of the new file for a location of the old one. */
  readonly rename: (location: string) => string;
}

/**
 * Stores the float32 weights of an ONNX model in fewer bytes: float16 with a `Cast`, or int8 with a `Cast` and a `Mul`
 * by the scales of the channels. ONNX Runtime computes both once, when it opens the model (constant folding), so the
 * model then runs as before; it would compute a `DequantizeLinear` in each run. Everything else stays the same, byte
 * for byte: inputs, outputs, nodes, and fields that this code does not know. Weights in `Constant` nodes and in
 * subgraphs are weights too. Field numbers: `onnx.proto` of ONNX (IR version 10).
 * @throws `model-format` if the model is damaged; `unsupported` for an operator set before 7, and for external data
 *   of sparse tensors and functions
 */
export function shrinkOnnx(model: Uint8Array, options: ShrinkOptions): SmallerModel {
  const { irVersion, opsets } = readOnnxGraph(model);
  const opset = opsets['ai.onnx'] ?? 0;
  if (opset < MIN_OPSET)
    throw new TabServeError(
      'unsupported',
      `The model has operator set ${opset}; smaller weights need ${MIN_OPSET} or later. Convert it with onnx.version_converter.`,
    );
  try {
    const editor = new Editor(model, options, irVersion);
    const edited = join(
      [...fields(model)].flatMap(({ field, value, whole }) =>
        field === 7 && typeof value !== 'number' ? encode(7, editor.graph(value)) : [whole],
      ),
    );
    const result = editor.result();
    const lost = readExternalData(edited).find((location) => !result.external.has(location));
    if (lost !== undefined)
      throw new TabServeError(
        'unsupported',
        `The model keeps a sparse tensor, or one of a function, in ${lost}. Save it again with the tensors in the model: onnx.save_model without save_as_external_data.`,
      );
    return { model: edited, ...result };
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new TabServeError('model-format', `The ONNX graph is damaged: ${cause.message}.`, { cause });
  }
}

/** What replaces a tensor: new tensors, and the nodes that compute it from them. */
interface Smaller {
  readonly tensors: readonly OnnxTensor[];
  readonly nodes: readonly Pieces[];
}

class Editor {
  readonly #options: ShrinkOptions;
  /** Before version 4, every initializer is listed as an input. */
  readonly #isListed: boolean;
  /** The prefix of the names of new tensors. No name of the model begins with it. */
  readonly #prefix: string;
  /** Names of tensors that operators read which need them as they are. */
  readonly #exact = new Set<string>();
  readonly #unconverted: Unconverted[] = [];
  readonly #external = new Map<string, { parts: Uint8Array[]; bytes: number }>();
  #converted = 0;

  constructor(model: Uint8Array, options: ShrinkOptions, irVersion: number) {
    this.#options = options;
    this.#isListed = irVersion < 4;
    const names = new Set<string>();
    for (const graph of all(model, 7)) this.#readNames(graph, names);
    let prefix = options.weights === 'int8' ? 'q' : 'h';
    while ([...names].some((name) => name.startsWith(prefix))) prefix += '_';
    this.#prefix = prefix;
  }

  result(): Omit<SmallerModel, 'model'> {
    const files = [...this.#external].map(([location, { parts }]) => [location, join(parts)] as const);
    return { external: new Map(files), converted: this.#converted, unconverted: this.#unconverted };
  }

  /** Returns the fields of a graph with its weights, and those of its subgraphs, converted. */
  graph(graph: Uint8Array): Pieces {
    /** What replaces an initializer, by its name. */
    const moved = new Map<string, Smaller>();
    for (const initializer of all(graph, 5)) {
      const tensor = readTensor(initializer, this.#options.external);
      const smaller = this.#shrink(tensor, tensor.name);
      if (smaller) moved.set(tensor.name, smaller);
    }
    // Nodes are in the order in which they run.
    const conversions = [...moved.values()].flatMap(({ nodes }) => nodes.flatMap((node) => encode(1, node)));
    return [...conversions, ...[...fields(graph)].flatMap((field) => this.#graphField(field, moved))];
  }

  #graphField({ field, value, whole }: Field, moved: ReadonlyMap<string, Smaller>): Pieces {
    if (typeof value === 'number') return [whole];
    if (field === 1) return this.#node(value, whole);
    if (field === 5) {
      const tensors = moved.get(text(find(value, 8)))?.tensors;
      return tensors ? tensors.flatMap((tensor) => encode(5, this.#write(tensor))) : this.#keep(value, whole);
    }
    const tensors = field === 11 ? moved.get(text(find(value, 1)))?.tensors : undefined;
    if (!tensors) return [whole];
    return this.#isListed ? tensors.flatMap((tensor) => encode(11, describe(tensor))) : [];
  }

  /**
   * Returns a node, as a field of the graph, with its subgraphs converted. A `Constant` with weights is followed by the
   * nodes that convert them.
   */
  #node(node: Uint8Array, whole: Uint8Array): Pieces {
    if (all(node, 5).length === 0) return [whole];
    const name = text(find(node, 2));
    const value = operatorOf(node) === 'Constant' ? find(find(node, 5)!, 5) : undefined;
    const smaller = value && this.#shrink(readTensor(value, this.#options.external), name);
    if (smaller) {
      const constants = smaller.tensors.map((tensor) => constant(tensor.name, this.#write({ ...tensor, name: '' })));
      return [...constants, ...smaller.nodes].flatMap((one) => encode(1, one));
    }
    const edited = [...fields(node)].map(({ field, value: attribute, whole: own }): Pieces => {
      if (field !== 5 || typeof attribute === 'number') return [own];
      return encode(
        5,
        [...fields(attribute)].flatMap((one) => this.#attributeField(one)),
      );
    });
    return encode(1, edited.flat());
  }

  #attributeField({ field, value, whole }: Field): Pieces {
    if (typeof value === 'number') return [whole];
    if (field === 6 || field === 11) return encode(field, this.graph(value));
    return field === 5 ? this.#keep(value, whole) : [whole];
  }

  /** Returns what replaces a tensor of the graph; undefined if it stays as it is. */
  #shrink(tensor: OnnxTensor, name: string): Smaller | undefined {
    const { dtype, dims, data } = tensor;
    if (dtype !== FLOAT || !data || sizeOf(dims) < MIN_ELEMENTS) return undefined;
    const values = floatsOf(tensor);
    const why = this.#exact.has(name) ? 'its operator needs it as it is' : whyNot(values);
    if (why !== undefined) {
      this.#unconverted.push({ name, bytes: values.byteLength, why });
      return undefined;
    }
    const own = `${this.#prefix}${this.#converted++}`;
    if (this.#options.weights === 'float16' || !isFor8Bits(dims))
      return {
        tensors: [{ ...tensor, name: own, dtype: FLOAT16, data: bytesOf(toFloat16(values)) }],
        nodes: [operator('Cast', [own], name, encode(5, toFloat()))],
      };
    const { q, axis, scales } = quantize(values, dims);
    const scaleDims = dims.map((_, index) => (index === axis ? scales.length : 1));
    const scale = {
      name: `${own}s`,
      dtype: FLOAT,
      dims: scaleDims,
      data: bytesOf(scales),
      location: undefined,
      others: [],
    };
    return {
      tensors: [{ ...tensor, name: own, dtype: INT8, data: bytesOf(q) }, scale],
      nodes: [operator('Cast', [own], `${own}f`, encode(5, toFloat())), operator('Mul', [`${own}f`, scale.name], name)],
    };
  }

  /** Returns a field with a tensor that stays as it is. Its data may have another offset in the new file. */
  #keep(message: Uint8Array, whole: Uint8Array): Pieces {
    const tensor = readTensor(message, this.#options.external);
    return tensor.location === undefined ? [whole] : encode(5, this.#write(tensor));
  }

  #write(tensor: OnnxTensor): Pieces {
    if (tensor.location === undefined) return inline(tensor);
    const location = this.#options.rename(tensor.location);
    const file = this.#external.get(location) ?? { parts: [], bytes: 0 };
    this.#external.set(location, file);
    const offset = file.bytes;
    file.parts.push(tensor.data!);
    file.bytes += tensor.data!.length;
    return outside(tensor, { location, offset });
  }

  /** Reads the names of a graph's tensors, and those of its subgraphs; records which of them must stay as they are. */
  #readNames(graph: Uint8Array, names: Set<string>): void {
    for (const one of all(graph, 5)) names.add(text(find(one, 8)));
    for (const one of all(graph, 11)) names.add(text(find(one, 1)));
    // A sparse tensor has the name of its values.
    for (const one of all(graph, 15)) for (const values of all(one, 1)) names.add(text(find(values, 8)));
    for (const node of all(graph, 1)) {
      for (const output of all(node, 2)) names.add(text(output));
      if (EXACT_OPERATORS.test(operatorOf(node))) for (const input of all(node, 1)) this.#exact.add(text(input));
      for (const attribute of all(node, 5))
        for (const subgraph of [...all(attribute, 6), ...all(attribute, 11)]) this.#readNames(subgraph, names);
    }
  }
}

function operatorOf(node: Uint8Array): string {
  return text(find(node, 4));
}

function operator(type: string, inputs: readonly string[], output: string, attribute: Pieces = []): Pieces {
  return [
    ...inputs.flatMap((input) => encodeText(1, input)),
    ...encodeText(2, output),
    ...encodeText(4, type),
    ...attribute,
  ];
}

/** Returns a `Constant` node with a tensor. The field 20 is the attribute's type, 4 is a tensor. */
function constant(output: string, tensor: Pieces): Pieces {
  const value = [...encodeText(1, 'value'), ...encode(5, tensor), ...encodeNumber(20, 4)];
  return operator('Constant', [], output, encode(5, value));
}

/** Returns the attribute `to` of a `Cast` to float32: 2 is an integer. */
function toFloat(): Pieces {
  return [...encodeText(1, 'to'), ...encodeNumber(3, FLOAT), ...encodeNumber(20, 2)];
}

/** Returns a `ValueInfoProto` for a tensor. */
function describe({ name, dtype, dims }: OnnxTensor): Pieces {
  const shape = dims.flatMap((dim) => encode(1, encodeNumber(1, dim)));
  return [...encodeText(1, name), ...encode(2, encode(1, [...encodeNumber(1, dtype), ...encode(2, shape)]))];
}
