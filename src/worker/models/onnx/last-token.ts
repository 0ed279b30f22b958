/**
 * Language models compute the logits of all tokens of a prompt, and only those after the last one are read. Of 512
 * tokens and 49,152 words they are 100 MB; with SmolLM2 they take a sixth of the time to the first token.
 */
import { ATTRIBUTE, INITIALIZER, INPUT, namesOf, ofLastToken, ofTransposed, OUTPUT } from './last-token-nodes.js';
import { GRAPH_NODE, operatorOf, withInner } from './nodes.js';
import { all, fields, find, numberIn, numbersIn, text } from './protobuf.js';
import { encode, encodeHead, lengthOf, type Pieces } from './protobuf-writer.js';
import { type FieldRange, fieldRanges, type Range, sizeOf, WindowReader } from './ranges.js';

/** Operators that compute each number of their output from one number of their input, and constants. */
const BY_NUMBER = new Set(['Add', 'Cast', 'Div', 'Identity', 'Mul', 'Sub', 'Tanh']);
/** Operators whose output has one row for each row of their first input, which depends on no other row. */
const BY_ROW = new Set(['MatMul', 'MatMulInteger', 'MatMulNBits']);
/** Operators that only lay out or convert weights. */
const OF_WEIGHTS = new Set(['Cast', 'Constant', 'DequantizeLinear', 'Identity', 'Mul', 'Reshape', 'Transpose']);
/** Those of them that ONNX Runtime has in a domain of its own. Any other operator there is the file's own function. */
const OF_RUNTIME = new Set(['DequantizeLinear', 'MatMulNBits']);
/** From this version of the operators on, `Gather` counts from the end. */
const MIN_OPSET = 11;
/** `TensorProto.DataType.FLOAT`. */
const FLOAT = 1;

/** The field of an attribute with a branch. */
const BRANCH = 6;
const NOTHING = new Uint8Array();

/** A node, and where its field is. */
interface FileNode {
  readonly bytes: Uint8Array;
  readonly range: Range;
}

/** What replaces a field. */
interface Change {
  readonly range: Range;
  readonly parts: Pieces;
}

/** What is known of the names that a graph reads and does not make. */
interface Scope {
  /** Whether a tensor is the same in every run. */
  readonly isConstant: (name: string) => boolean;
  /** Whether a name is that of weights that are a matrix of float32. */
  readonly isFloatMatrix: (name: string) => Promise<boolean>;
}

/** Nothing is known around the graph of a file. */
const NO_SCOPE: Scope = { isConstant: () => true, isFloatMatrix: async () => false };

/**
 * Returns an ONNX model that computes an output `[rows, tokens, …]` only for the last token: the last multiplication
 * by a matrix of weights gets that token alone, in each branch of a merged decoder. All other outputs stay as they are,
 * and so do the numbers, but for rounding; a scale that is computed at run time stays that of all tokens. The file is not read
 * into memory. Field numbers: `onnx.proto` of ONNX (IR version 10).
 *
 * A model whose last weights are those of its tokens transposes them. ONNX Runtime does so when it loads it, and has
 * them three times for a while. On WASM, the product reads them as they are.
 * @returns the file itself if it computes the output in another way, or is damaged
 */
export async function withLastToken(file: Blob, output: string, isWasm: boolean): Promise<Blob> {
  const reader = new WindowReader(file);
  try {
    const graph = await findGraph(reader, file.size);
    if (!graph) return file;
    const nodes = await readNodes(reader, graph.value!);
    const isOfTokens = nodes.outputs.has(output) && nodes.dims.get(output)!.length === 3;
    const own = { reader, graph: graph.value!, isWasm, ...nodes };
    const changes = isOfTokens ? await changesOf(own, output, NO_SCOPE) : [];
    if (changes.length === 0) return file;
    const parts = spliced((from, to) => file.slice(from, to), graph.value!, changes);
    const head = encodeHead(
      7,
      changes.reduce((sum, { range, parts }) => sum - sizeOf(range) + lengthOf(parts), sizeOf(graph.value!)),
    );
    return new Blob([file.slice(0, graph.from), ...head, ...parts, file.slice(graph.to)] as BlobPart[]);
  } catch (error) {
    if (error instanceof RangeError) return file;
    throw error;
  }
}

/** Returns a message with changes in it, as its parts. */
function spliced<T>(
  slice: (from: number, to: number) => T,
  message: Range,
  changes: readonly Change[],
): (T | Uint8Array)[] {
  const pieces: (T | Uint8Array)[] = [];
  let at = message.from;
  for (const { range, parts } of changes.toSorted((a, b) => a.range.from - b.range.from)) {
    pieces.push(slice(at, range.from), ...parts);
    at = range.to;
  }
  return [...pieces, slice(at, message.to)];
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

/** A graph without its weights. */
interface GraphNodes {
  readonly nodes: readonly FileNode[];
  readonly inputs: ReadonlySet<string>;
  /** In their order. */
  readonly outputs: ReadonlySet<string>;
  /** The dims that the file declares for tensors. */
  readonly dims: ReadonlyMap<string, readonly Uint8Array[]>;
}

async function readNodes(reader: WindowReader, graph: Range): Promise<GraphNodes> {
  const nodes: FileNode[] = [];
  const inputs = new Set<string>();
  const outputs = new Set<string>();
  const dims = new Map<string, readonly Uint8Array[]>();
  for await (const { number, value, from, to } of fieldRanges(reader, graph)) {
    if (!value || ![GRAPH_NODE, 11, 12, 13].includes(number)) continue;
    const bytes = (await reader.read(value)).slice();
    if (number === GRAPH_NODE) {
      nodes.push({ bytes, range: { from, to } });
      continue;
    }
    const name = text(find(bytes, 1));
    dims.set(name, dimsOf(bytes));
    if (number === 11) inputs.add(name);
    if (number === 12) outputs.add(name);
  }
  return { nodes, inputs, outputs, dims };
}

/** A graph, and where it is. */
interface Place extends GraphNodes {
  readonly reader: WindowReader;
  readonly graph: Range;
  readonly isWasm: boolean;
}

/**
 * Returns what gives the last token alone to the last product by weights before an output; an empty list if anything else
 * may change with it.
 */
async function changesOf(place: Place, output: string, around: Scope): Promise<readonly Change[]> {
  const { reader, graph, nodes, inputs, outputs, dims, isWasm } = place;
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
    if (!maker) return !inputs.has(name) && around.isConstant(name);
    const op = knownOperator(maker);
    // The scale and the zero point, which belong to all tokens.
    if (op === 'DynamicQuantizeLinear') return name !== namesOf(maker, OUTPUT)[0];
    return op !== undefined && OF_WEIGHTS.has(op) && namesOf(maker, INPUT).every(isConstant);
  };
  const isFloatMatrix = async (name: string): Promise<boolean> =>
    !makers.has(name) &&
    !inputs.has(name) &&
    ((await isMatrixIn(reader, graph, name)) || (await around.isFloatMatrix(name)));
  for (let name = output; ;) {
    const node = makers.get(name);
    if (!node || (users.get(name) ?? 0) > (name === output ? 0 : 1) || (name !== output && outputs.has(name)))
      return [];
    // On the web, ONNX Runtime refuses a model whose dims are others than it says.
    if (hasManyTokens(dims.get(name))) return [];
    const [op, read] = [knownOperator(node.bytes) ?? '', namesOf(node.bytes, INPUT)];
    if (op === 'If' && name === output) {
      const parts = await inBranches(
        node.bytes,
        namesOf(node.bytes, OUTPUT).indexOf(name),
        { isConstant, isFloatMatrix },
        isWasm,
      );
      return parts ? [{ range: node.range, parts }] : [];
    }
    if (BY_ROW.has(op)) {
      if (isConstant(read[0]!) || !read.slice(1).every(isConstant)) return [];
      // ONNX Runtime multiplies the whole numbers themselves, if nothing but names is between the two.
      let maker = makers.get(read[0]!);
      for (let steps = 0; maker && knownOperator(maker.bytes) === 'Identity' && steps < nodes.length; steps++)
        maker = makers.get(namesOf(maker.bytes, INPUT)[0]!);
      if (maker && knownOperator(maker.bytes) === 'DequantizeLinear') return [];
      const transpose = makers.get(read[1]!);
      const isAlone = users.get(read[1]!) === 1 && !outputs.has(read[1]!);
      const weights = isWasm && op === 'MatMul' && transpose && isAlone ? transposedBy(transpose.bytes) : undefined;
      if (!transpose || weights === undefined || !(await isFloatMatrix(weights)))
        return [{ range: node.range, parts: ofLastToken(node.bytes) }];
      return [
        { range: node.range, parts: ofTransposed(node.bytes, weights) },
        { range: transpose.range, parts: [] },
      ];
    }
    const [own, ...others] = read.filter((one) => !isConstant(one));
    if (!BY_NUMBER.has(op) || own === undefined || others.length > 0) return [];
    name = own;
  }
}

/**
 * Returns the field of an `If` whose branches compute an output for the last token alone; undefined if none does.
 * @param at the output's place among those of each branch
 */
async function inBranches(node: Uint8Array, at: number, scope: Scope, isWasm: boolean): Promise<Pieces | undefined> {
  let isChanged = false;
  const parts: Uint8Array[] = [];
  for (const { field, value, whole } of fields(node)) {
    const branch = field === ATTRIBUTE && typeof value !== 'number' ? find(value, BRANCH) : undefined;
    if (!branch) {
      parts.push(whole);
      continue;
    }
    const graph = { from: 0, to: branch.length };
    const reader = new WindowReader(new Blob([branch as Uint8Array<ArrayBuffer>]));
    const own = { reader, graph, isWasm, ...(await readNodes(reader, graph)) };
    const output = [...own.outputs][at];
    const changes = output === undefined ? [] : await changesOf(own, output, scope);
    isChanged ||= changes.length > 0;
    const changed = encode(
      BRANCH,
      spliced((from, to) => branch.subarray(from, to), graph, changes),
    );
    const others = [...fields(value as Uint8Array)].flatMap((one) => (one.field === BRANCH ? [] : [one.whole]));
    parts.push(...encode(ATTRIBUTE, [...others, ...changed]));
  }
  return isChanged ? encode(GRAPH_NODE, parts) : undefined;
}

/** Returns how often each tensor is read, in branches and loops, too. */
function countUsers(nodes: readonly FileNode[]): ReadonlyMap<string, number> {
  const users = new Map<string, number>();
  for (const { bytes } of nodes)
    for (const node of withInner(bytes))
      for (const name of namesOf(node, INPUT)) users.set(name, (users.get(name) ?? 0) + 1);
  return users;
}

/** Returns the matrix that a node transposes; undefined if it does something else. */
function transposedBy(node: Uint8Array): string | undefined {
  const axes = all(node, ATTRIBUTE).flatMap((one) => numbersIn(one, 8));
  if (knownOperator(node) !== 'Transpose' || !['', '1,0'].includes(axes.join(','))) return undefined;
  return namesOf(node, INPUT)[0];
}

/** Returns whether a graph has weights of that name that are a matrix of float32. */
async function isMatrixIn(reader: WindowReader, graph: Range, name: string): Promise<boolean> {
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

/** Returns the dims that the file declares for a tensor. */
function dimsOf(info: Uint8Array): readonly Uint8Array[] {
  const type = find(find(info, 2) ?? NOTHING, 1) ?? NOTHING;
  return all(find(type, 2) ?? NOTHING, 1);
}

/** Returns whether the second dim is a number other than 1. Older exporters write a free one as −1, close to 2⁶⁴. */
function hasManyTokens([, tokens]: readonly Uint8Array[] = []): boolean {
  const size = (tokens && numberIn(tokens, 1)) ?? 1;
  return Number.isSafeInteger(size) && size !== 1;
}

/** Returns the operator's name, if it is one of ONNX or of ONNX Runtime. */
function knownOperator(node: Uint8Array): string | undefined {
  const [domain, op] = [text(find(node, 7)), operatorOf(node)];
  const isKnown = ['', 'ai.onnx'].includes(domain) || (domain === 'com.microsoft' && OF_RUNTIME.has(op));
  return isKnown ? op : undefined;
}
