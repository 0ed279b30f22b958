/** The fields of a graph that are put in place of its last product by weights. */
import { GRAPH_NODE } from './nodes.js';
import { all, fields, text } from './protobuf.js';
import { encode, encodeNumber, encodeText, type Pieces } from './protobuf-writer.js';

/** `TensorProto.DataType.INT64`, and `AttributeProto.AttributeType.INT`. */
const [INT64, INT] = [7, 2];
/** The names of what is added: no exporter writes a colon after "tabserve". */
const LAST = 'tabserve:last-token';
const [INDEX, PRODUCT, SHAPE] = [`${LAST}-index`, `${LAST}-product`, `${LAST}-shape`];

/** The fields of a node with the names of what it reads and makes, and with its attributes. */
export const [INPUT, OUTPUT, ATTRIBUTE] = [1, 2, 5] as const;
/** The field of a graph with its weights. */
export const INITIALIZER = 5;

/** Returns the names of what a node reads, or of what it makes. */
export function namesOf(node: Uint8Array, field: typeof INPUT | typeof OUTPUT): readonly string[] {
  return all(node, field).map(text);
}

/** Returns the fields of a graph that replace a product: what takes the last token, and the product, which gets it. */
export function ofLastToken(product: Uint8Array): Pieces {
  const inputs = namesOf(product, INPUT);
  const others = [...fields(product)].flatMap(({ field, whole }) => (field === INPUT ? [] : [whole]));
  const read = [LAST, ...inputs.slice(1)].flatMap((name) => encodeText(INPUT, name));
  return [
    ...integers(INDEX, [-1], [1]),
    ...nodeOf('Gather', [inputs[0]!, INDEX], LAST, { axis: 1 }),
    ...encode(GRAPH_NODE, [...read, ...others]),
  ];
}

/** Returns the same for a product by transposed weights: `Gemm` reads them as they are, and takes a matrix. */
export function ofTransposed(product: Uint8Array, weights: string): Pieces {
  return [
    ...integers(INDEX, [-1], []),
    ...integers(SHAPE, [0, 1, -1], [3]),
    ...nodeOf('Gather', [namesOf(product, INPUT)[0]!, INDEX], LAST, { axis: 1 }),
    ...nodeOf('Gemm', [LAST, weights], PRODUCT, { transB: 1 }),
    ...nodeOf('Reshape', [PRODUCT, SHAPE], namesOf(product, OUTPUT)[0]!, {}),
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
