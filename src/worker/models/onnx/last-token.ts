/**
 * Language models compute the logits of all tokens of a prompt, and only those after the last one are read. Of 512 tokens and
 * 49,152 words they are 100 MB, and a quarter of the time.
 */
import { GRAPH_NODE, operatorOf, withInner } from './nodes.js';
import { all, fields, find, numberIn, text } from './protobuf.js';
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
/** The names of what is added: no exporter writes a colon after "tabserve". */
const [LAST, INDEX] = ['tabserve:last-token', 'tabserve:last-token-index'];

/** The fields of a node with the names of what it reads and makes. */
const [INPUT, OUTPUT] = [1, 2] as const;
const NOTHING = new Uint8Array();

/** A node in the file. */
interface FileNode {
  readonly bytes: Uint8Array;
  readonly range: Range;
}

/**
 * Returns an ONNX model that computes an output `[rows, tokens, …]` only for the last token: the last multiplication
 * by a matrix of weights gets that token alone. All other outputs stay as they are, and so do the numbers, but for
 * rounding; a scale that is computed at run time stays that of all tokens. The file is not read into memory. Field
 * numbers: `onnx.proto` of ONNX (IR version 10).
 * @returns the file itself if it computes the output in another way, or is damaged
 */
export async function withLastToken(file: Blob, output: string): Promise<Blob> {
  const reader = new WindowReader(file);
  try {
    const graph = await findGraph(reader, file.size);
    const node = graph && (await findProduct(reader, graph.value!, output));
    if (!graph || !node) return file;
    const added = ofLastToken(node.bytes);
    const length = sizeOf(graph.value!) - sizeOf(node.range) + lengthOf(added);
    const parts = [
      file.slice(0, graph.from),
      ...encodeHead(7, length),
      file.slice(graph.value!.from, node.range.from),
      ...added,
      file.slice(node.range.to),
    ];
    return new Blob(parts as BlobPart[]);
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
async function findProduct(reader: WindowReader, graph: Range, output: string): Promise<FileNode | undefined> {
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
    if (BY_ROW.has(op)) return read.slice(1).every(isConstant) && !isConstant(read[0]!) ? node : undefined;
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

/** Returns the fields of a graph that replace the one of a node: what takes the last token, and the node, which gets it. */
function ofLastToken(node: Uint8Array): Pieces {
  const inputs = namesOf(node, INPUT);
  const others = [...fields(node)].flatMap(({ field, whole }) => (field === INPUT ? [] : [whole]));
  const axis = [...encodeText(1, 'axis'), ...encodeNumber(3, 1), ...encodeNumber(20, INT)];
  const gather = [
    ...encodeText(INPUT, inputs[0]!),
    ...encodeText(INPUT, INDEX),
    ...encodeText(OUTPUT, LAST),
    ...encodeText(3, LAST),
    ...encodeText(4, 'Gather'),
    ...encode(5, axis),
  ];
  const last = new Uint8Array(BigInt64Array.of(-1n).buffer);
  const index = [...encodeNumber(1, 1), ...encodeNumber(2, INT64), ...encodeText(8, INDEX), ...encode(9, [last])];
  const product = [LAST, ...inputs.slice(1)].flatMap((name) => encodeText(INPUT, name));
  return [...encode(GRAPH_NODE, gather), ...encode(GRAPH_NODE, [...product, ...others]), ...encode(5, index)];
}
