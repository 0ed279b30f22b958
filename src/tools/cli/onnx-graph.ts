import { dtypeInfo, dtypesBy } from '../../contract/dtypes.js';
import { TabServeError } from '../../contract/errors.js';
import type { TensorInfo } from '../../contract/tensors.js';
import { readSignature } from '../../worker/engines/onnx/signature.js';
import { all, fields, find, numberIn, numbersIn, text } from '../../worker/models/onnx/protobuf.js';

/** An operator and how many nodes of the graph, its subgraphs and its functions call it. */
interface OperatorCount {
  /** The operator's name; one of another domain than ONNX's own as `domain.Name`. */
  readonly name: string;
  /** Empty for ONNX's own. */
  readonly domain: string;
  readonly count: number;
}

/** The weights of one dtype. */
interface WeightCount {
  readonly dtype: string;
  readonly tensors: number;
  readonly bytes: number;
}

/** What an ONNX file says of its model. */
export interface OnnxGraph {
  readonly irVersion: number;
  /** The program that made the file, with its version. */
  readonly producer: string;
  /** The version of each operator set, by domain; ONNX's own is `ai.onnx`. */
  readonly opsets: Readonly<Record<string, number>>;
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  /** By name. */
  readonly operators: readonly OperatorCount[];
  /** The largest first. */
  readonly weights: readonly WeightCount[];
}

const NAMES = dtypesBy(({ onnx }) => [onnx]);
/**
 * Dtypes of ONNX that TabServe does not have: name, bytes per element. Numbers: `TensorProto.DataType` in `onnx.proto`.
 */
const OTHER_DTYPES: ReadonlyMap<number, readonly [string, number]> = new Map([
  [14, ['complex64', 8]],
  [15, ['complex128', 16]],
  [16, ['bfloat16', 2]],
  [17, ['float8e4m3fn', 1]],
  [18, ['float8e4m3fnuz', 1]],
  [19, ['float8e5m2', 1]],
  [20, ['float8e5m2fnuz', 1]],
  [21, ['uint4', 0.5]],
  [22, ['int4', 0.5]],
  [23, ['float4e2m1', 0.5]],
]);

/**
 * Reads an ONNX file. Field numbers: `onnx.proto` of ONNX (IR version 10).
 * @throws `model-format` if the bytes are no ONNX model
 */
export function readOnnxGraph(bytes: Uint8Array): OnnxGraph {
  const { quantizesAtRunTime: _, poolsPadding: __, ...signature } = readSignature(bytes);
  try {
    return { ...readModel(bytes), ...signature };
  } catch (cause) {
    throw new TabServeError('model-format', `The ONNX graph is damaged: ${(cause as Error).message}.`, { cause });
  }
}

function readModel(bytes: Uint8Array): Omit<OnnxGraph, 'inputs' | 'outputs'> {
  const opsets: Record<string, number> = {};
  const counts = new Counts();
  let irVersion = 0;
  for (const { field, value } of fields(bytes)) {
    if (field === 1 && typeof value === 'number') irVersion = value;
    if (typeof value === 'number') continue;
    if (field === 7) counts.addGraph(value);
    if (field === 8) opsets[text(find(value, 1)) || 'ai.onnx'] = numberIn(value, 2) ?? 0;
    // A function's nodes are its field 7.
    if (field === 25) for (const node of all(value, 7)) counts.addNode(node);
  }
  return {
    irVersion,
    producer: `${text(find(bytes, 2))} ${text(find(bytes, 3))}`.trim(),
    opsets,
    operators: [...counts.operators.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    weights: [...counts.weights.values()].sort((a, b) => b.bytes - a.bytes),
  };
}

class Counts {
  readonly operators = new Map<string, OperatorCount>();
  readonly weights = new Map<string, WeightCount>();

  addGraph(graph: Uint8Array): void {
    for (const node of all(graph, 1)) this.addNode(node);
    for (const tensor of all(graph, 5)) this.#addWeight(tensor);
  }

  addNode(node: Uint8Array): void {
    const domain = text(find(node, 7)).replace(/^ai\.onnx$/, '');
    const name = domain ? `${domain}.${text(find(node, 4))}` : text(find(node, 4));
    this.operators.set(name, { name, domain, count: (this.operators.get(name)?.count ?? 0) + 1 });
    for (const attribute of all(node, 5)) {
      for (const tensor of [...all(attribute, 5), ...all(attribute, 10)]) this.#addWeight(tensor);
      for (const graph of [...all(attribute, 6), ...all(attribute, 11)]) this.addGraph(graph);
    }
  }

  #addWeight(tensor: Uint8Array): void {
    const code = numberIn(tensor, 2) ?? 0;
    const known = NAMES.get(code);
    const [dtype, size] = known
      ? ([known, dtypeInfo(known)!.array?.BYTES_PER_ELEMENT ?? 0] as const)
      : (OTHER_DTYPES.get(code) ?? ([`dtype ${code}`, 0] as const));
    const bytes = Math.ceil(numbersIn(tensor, 1).reduce((product, dim) => product * dim, size));
    const { tensors, bytes: before } = this.weights.get(dtype) ?? { tensors: 0, bytes: 0 };
    this.weights.set(dtype, { dtype, tensors: tensors + 1, bytes: before + bytes });
  }
}
