/**
 * Language models compute the logits of all tokens of a prompt, and only those after the last one are read. Of 512 tokens and
 * 49,152 words they are 100 MB, and a quarter of the time.
 */
import { GRAPH_NODE, operatorOf, withInner } from './nodes.js';
import { all, fields, find, numberIn, numbersIn, text } from './protobuf.js';
import { encode, encodeHead, encodeNumber, encodeText, lengthOf, type Pieces } from './protobuf-writer.js';
import { type FieldRange, fieldRanges, type Range, sizeOf, WindowReader } from './ranges.js';

/** Operators that compute each number of their output from one number of their input, and constants. */
const BY_NUMBER = new Set(['Add', 'Cast', 'Div', 'Identity', 'Mul', 'Sub', 'Tanh']);
/** Operators whose output has one row for each row of their first input, which depends on no other row. */
const BY_ROW = new Set(['MatMul', 'MatMulInteger', 'MatMulNBits']);
/** Operators that only lay out or convert weights. */
const OF_WEIGHTS = new Set(['Cast', 'Constant', 'DequantizeLinear', 'Identity', 'Mul', 'Reshape', 'Transpose']);
/** From this version of the operators on, `Gather` counts from the end. */
const MIN_OPSET = 11;
/** `TensorProto.DataType.INT64`, and `AttributeProto.AttributeType.INT`. */
const [INT64, INT] = [7, 2];
/** `TensorProto.DataType.FLOAT`. */
const FLOAT = 1;
/** The names of what is added: no exporter writes a colon after "tabserve". */
const LAST = 'tabserve:last-token';
const [INDEX, PRODUCT, SHAPE] = [`${LAST}-index`, `${LAST}-product`, `${LAST}-shape`];

/** The fields of a node with the names of what it reads and makes. */
const [INPUT, OUTPUT] = [1, 2] as const;
/** The field of a node with its attributes, and that of a graph with its weights. */
const [ATTRIBUTE, INITIALIZER] = [5, 5];
const NOTHING = new Uint8Array();

/** A node in the file. */
interface FileNode {
  readonly bytes: Uint8Array;
  readonly range: Range;
}

/** The last product by weights. */
interface Product {
  readonly node: FileNode;
  /** The node that turns its weights over, if they are a matrix of float32 in the file, and nothing else reads them so. */
  readonly transpose: FileNode | undefined;
}

/**
 * Returns an ONNX model that computes an output `[rows, tokens, …]` only for the last token: the last multiplication
 * by a matrix of weights gets that token alone. All other outputs stay as they are, and so do the numbers, but for
 * rounding; a scale that is computed at run time stays that of all tokens. The file is not read into memory. Field
 * numbers: `onnx.proto` of ONNX (IR version 10).
 *
 * A model whose last weights are those of its tokens turns them over. ONNX Runtime does so when it loads it, and has them
 * three times for a while. On WASM, the product reads them as they are.
 * @returns the file itself if it computes the output in another way, or is damaged
 */
export async function withLastToken(file: Blob, output: string, isWasm: boolean): Promise<Blob> {
  const reader = new WindowReader(file);
  try {
    const graph = await findGraph(reader, file.size);
    const product = graph && (await findProduct(reader, graph.value!, output));
    if (!graph || !product) return file;
    const { node, transpose } = isWasm ? product : { ...product, transpose: undefined };
    const change = { range: node.range, parts: transpose ? ofTurned(node, transpose) : ofLastToken(node) };
    const changes = [change, ...(transpose ? [{ range: transpose.range, parts: [] }] : [])];
    const length = changes.reduce(
      (sum, { range, parts }) => sum - sizeOf(range) + lengthOf(parts),
      sizeOf(graph.value!),
    );
    const pieces: (Blob | Uint8Array)[] = [file.slice(0, graph.from), ...encodeHead(7, length)];
    let at = graph.value!.from;
    for (const { range, parts } of changes.toSorted((a, b) => a.range.from - b.range.from)) {
      pieces.push(file.slice(at, range.from), ...parts);
      at = range.to;
    }
    return new Blob([...pieces, file.slice(at)] as BlobPart[]);
  } catch (error) {
    if (error instanceof RangeError) return file;
    throw error;
  }
}

/** Returns the field of the graph; undefined if there is none, or its operators are too old. */
async function findGraph(reader: WindowReader, size: number): Promise<FieldRange | undefined> {
  let graph: FieldRange | undefined;
  let version = 0;
  for await (const field of fieldRanges(reader, { from: 0, to: size })) {
    if (field.number === 7 && field.value) graph = field;
    if (field.number !== 8 || !field.value) continue;
    const set = await reader.read(field.value);
    if (text(find(set, 1)) === '') version = numberIn(set, 2) ?? 0;
  }
  return version >= MIN_OPSET ? graph : undefined;
}

/** Returns the node that multiplies by the last weights before an output; undefined if anything else may change with it. */
async function findProduct(reader: WindowReader, graph: Range, output: string): Promise<Product | undefined> {
  const nodes: FileNode[] = [];
  const inputs = new Set<string>();
  const outputs = new Map<string, number>();
  for await (const { number, value, from, to } of fieldRanges(reader, graph)) {
    if (!value || ![GRAPH_NODE, 11, 12].includes(number)) continue;
    const bytes = (await reader.read(value)).slice();
    if (number === GRAPH_NODE) nodes.push({ bytes, range: { from, to } });
    else if (number === 11) inputs.add(text(find(bytes, 1)));
    else outputs.set(text(find(bytes, 1)), rankOf(bytes));
  }
  if (outputs.get(output) !== 3) return undefined;
  const makers = new Map(nodes.flatMap((node) => namesOf(node.bytes, OUTPUT).map((name) => [name, node] as const)));
  const users = countUsers(nodes);
  const known = new Map<string, boolean>();
  const isConstant = (name: string): boolean => {
    const found = known.get(name) ?? isMade(name);
    known.set(name, found);
    return found;
  };
  const isMade = (name: string): boolean => {
    const maker = makers.get(name)?.bytes;
    if (!maker) return !inputs.has(name);
    const op = knownOperator(maker);
    // The scale and the zero point, which belong to all tokens.
    if (op === 'DynamicQuantizeLinear') return name !== namesOf(maker, OUTPUT)[0];
    return op !== undefined && OF_WEIGHTS.has(op) && namesOf(maker, INPUT).every(isConstant);
  };
  for (let name = output; ;) {
    const node = makers.get(name);
    if (!node || (users.get(name) ?? 0) > (name === output ? 0 : 1) || (name !== output && outputs.has(name)))
      return undefined;
    const [op, read] = [knownOperator(node.bytes) ?? '', namesOf(node.bytes, INPUT)];
    if (BY_ROW.has(op)) {
      if (isConstant(read[0]!) || !read.slice(1).every(isConstant)) return undefined;
      const turned = makers.get(read[1]!);
      const isAlone = users.get(read[1]!) === 1 && !outputs.has(read[1]!);
      const weights = op === 'MatMul' && turned && isAlone ? turnedBy(turned.bytes) : undefined;
      const isMatrix =
        weights !== undefined &&
        !makers.has(weights) &&
        !inputs.has(weights) &&
        (await isFloatMatrix(reader, graph, weights));
      return { node, transpose: isMatrix ? turned : undefined };
    }
    const [own, ...others] = read.filter((one) => !isConstant(one));
    if (!BY_NUMBER.has(op) || own === undefined || others.length > 0) return undefined;
    name = own;
  }
}

/** Returns how often each tensor is read, in branches and loops, too. */
function countUsers(nodes: readonly FileNode[]): ReadonlyMap<string, number> {
  const users = new Map<string, number>();
  for (const { bytes } of nodes)
    for (const node of withInner(bytes))
      for (const name of namesOf(node, INPUT)) users.set(name, (users.get(name) ?? 0) + 1);
  return users;
}

/** Returns the matrix that a node turns over; undefined if it does something else. */
function turnedBy(node: Uint8Array): string | undefined {
  const axes = all(node, ATTRIBUTE).flatMap((one) => numbersIn(one, 8));
  if (knownOperator(node) !== 'Transpose' || !['', '1,0'].includes(axes.join(','))) return undefined;
  return namesOf(node, INPUT)[0];
}

/** Returns whether the weights of that name are a matrix of float32. */
async function isFloatMatrix(reader: WindowReader, graph: Range, name: string): Promise<boolean> {
  for await (const { number, value } of fieldRanges(reader, graph)) {
    if (number !== INITIALIZER || !value) continue;
    let [rank, dtype] = [0, 0];
    for await (const field of fieldRanges(reader, value)) {
      // Dims may be packed.
      if (field.number === 1) rank += numbersIn(await reader.read(field), 1).length;
      if (field.number === 2) dtype = numberIn(await reader.read(field), 2) ?? 0;
      if (field.number !== 8 || !field.value) continue;
      if (text(await reader.read(field.value)) === name) return rank === 2 && dtype === FLOAT;
      break;
    }
  }
  return false;
}

/** Returns the number of dims that an output declares. */
function rankOf(info: Uint8Array): number {
  const type = find(find(info, 2) ?? NOTHING, 1) ?? NOTHING;
  return all(find(type, 2) ?? NOTHING, 1).length;
}

function namesOf(node: Uint8Array, field: typeof INPUT | typeof OUTPUT): readonly string[] {
  return all(node, field).map(text);
}

/** Returns the operator's name, if it is one of ONNX or of ONNX Runtime. */
function knownOperator(node: Uint8Array): string | undefined {
  return ['', 'ai.onnx', 'com.microsoft'].includes(text(find(node, 7))) ? operatorOf(node) : undefined;
}

/** Returns the fields of a graph that replace a product: what takes the last token, and the product, which gets it. */
function ofLastToken({ bytes }: FileNode): Pieces {
  const inputs = namesOf(bytes, INPUT);
  const others = [...fields(bytes)].flatMap(({ field, whole }) => (field === INPUT ? [] : [whole]));
  const product = [LAST, ...inputs.slice(1)].flatMap((name) => encodeText(INPUT, name));
  return [
    ...integers(INDEX, [-1], [1]),
    ...nodeOf('Gather', [inputs[0]!, INDEX], LAST, { axis: 1 }),
    ...encode(GRAPH_NODE, [...product, ...others]),
  ];
}

/** Returns the same for a product by weights that were turned over: `Gemm` reads them as they are, and takes a matrix. */
function ofTurned({ bytes }: FileNode, transpose: FileNode): Pieces {
  return [
    ...integers(INDEX, [-1], []),
    ...integers(SHAPE, [0, 1, -1], [3]),
    ...nodeOf('Gather', [namesOf(bytes, INPUT)[0]!, INDEX], LAST, { axis: 1 }),
    ...nodeOf('Gemm', [LAST, turnedBy(transpose.bytes)!], PRODUCT, { transB: 1 }),
    ...nodeOf('Reshape', [PRODUCT, SHAPE], namesOf(bytes, OUTPUT)[0]!, {}),
  ];
}

/** Returns the field of a node with attributes that are integers. */
function nodeOf(op: string, inputs: readonly string[], output: string, attributes: Record<string, number>): Pieces {
  return encode(GRAPH_NODE, [
    ...inputs.flatMap((name) => encodeText(INPUT, name)),
    ...encodeText(OUTPUT, output),
    ...encodeText(3, output),
    ...encodeText(4, op),
    ...Object.entries(attributes).flatMap(([name, value]) =>
      encode(ATTRIBUTE, [...encodeText(1, name), ...encodeNumber(3, value), ...encodeNumber(20, INT)]),
    ),
  ]);
}

/** Returns the field of a constant of int64. */
function integers(name: string, values: readonly number[], dims: readonly number[]): Pieces {
  const bytes = new Uint8Array(BigInt64Array.from(values, BigInt).buffer);
  const sizes = dims.flatMap((size) => encodeNumber(1, size));
  return encode(INITIALIZER, [...sizes, ...encodeNumber(2, INT64), ...encodeText(8, name), ...encode(9, [bytes])]);
}
