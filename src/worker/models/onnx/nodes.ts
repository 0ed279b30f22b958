/** The nodes of a graph. Field numbers: `NodeProto` and `AttributeProto` of `onnx.proto` (IR version 10). */
import { encode, encodeNumber, encodeText, type Pieces } from './protobuf-writer.js';
import { all, fields, find, text } from './protobuf.js';
import { inline, readTensor, type OnnxTensor } from './tensors.js';

/** `AttributeProto.AttributeType`. */
const [INT, STRING, TENSOR, INTS] = [2, 3, 4, 7];

/** A node, read from its message. */
export class OnnxNode {
  readonly type: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly #attributes: ReadonlyMap<string, Uint8Array>;

  /** @throws RangeError if the message is damaged */
  constructor(message: Uint8Array) {
    const texts = (field: number): readonly string[] => all(message, field).map((one) => text(one));
    this.type = text(find(message, 4));
    this.inputs = texts(1);
    this.outputs = texts(2);
    this.#attributes = new Map(all(message, 5).map((one) => [text(find(one, 1)), one]));
  }

  /** Returns the tensor of a `Constant`; undefined for other nodes, and for a constant that is no tensor. */
  get constant(): OnnxTensor | undefined {
    const value = this.type === 'Constant' ? this.#find('value', 5) : undefined;
    return value && readTensor(value, new Map());
  }

  has(attribute: string): boolean {
    return this.#attributes.has(attribute);
  }

  /** Returns a text; undefined if there is no such attribute. */
  text(attribute: string): string | undefined {
    const value = this.#find(attribute, 4);
    return value && text(value);
  }

  /** Returns an integer; undefined if there is no such attribute. */
  integer(attribute: string): number | undefined {
    const message = this.#attributes.get(attribute);
    const number = message && [...fields(message)].find(({ field, value }) => field === 3 && typeof value === 'number');
    // The tag is one byte. A negative number has all 64 bits, of which a number would lose the last ones.
    return number && signed(number.whole.subarray(1));
  }

  #find(attribute: string, field: number): Uint8Array | undefined {
    const message = this.#attributes.get(attribute);
    return message && find(message, field);
  }
}

function signed(varint: Uint8Array): number {
  const bits = varint.reduceRight((sum, byte) => (sum << 7n) | BigInt(byte & 127), 0n);
  return Number(BigInt.asIntN(64, bits));
}

type AttributeValue = number | readonly number[] | string;

/**
 * Encodes a node as a field of its graph.
 * @param attributes integers from 0 on, lists of them, and texts
 */
export function encodeNode(
  type: string,
  inputs: readonly string[],
  outputs: readonly string[],
  attributes: Readonly<Record<string, AttributeValue>> = {},
): Pieces {
  return nodeOf(type, inputs, outputs, Object.entries(attributes).flatMap(attribute));
}

/** Encodes a `Constant` as a field of its graph. */
export function encodeConstant(tensor: OnnxTensor, output: string): Pieces {
  const value = [...encodeText(1, 'value'), ...encode(5, inline(tensor)), ...encodeNumber(20, TENSOR)];
  return nodeOf('Constant', [], [output], encode(5, value));
}

function nodeOf(type: string, inputs: readonly string[], outputs: readonly string[], attributes: Pieces): Pieces {
  return encode(1, [
    ...inputs.flatMap((name) => encodeText(1, name)),
    ...outputs.flatMap((name) => encodeText(2, name)),
    ...encodeText(4, type),
    ...attributes,
  ]);
}

function attribute([name, value]: readonly [string, AttributeValue]): Pieces {
  return encode(5, [...encodeText(1, name), ...encodeValue(value)]);
}

function encodeValue(value: AttributeValue): Pieces {
  if (typeof value === 'number') return [...encodeNumber(3, value), ...encodeNumber(20, INT)];
  if (typeof value === 'string') return [...encodeText(4, value), ...encodeNumber(20, STRING)];
  return [...value.flatMap((one) => encodeNumber(8, one)), ...encodeNumber(20, INTS)];
}
