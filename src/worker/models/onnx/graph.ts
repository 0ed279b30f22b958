import { readVarint } from './protobuf.js';
import { encode, encodeNumber, encodeText, join, type Pieces } from './protobuf-writer.js';

/**
 * What a graph without its weights calls the file that it was read from. No other file can have this name: a model's
 * may not contain a colon.
 */
export const OWN_FILE = 'tabserve:model';

/** Smaller tensors stay in the model: ONNX Runtime reads some of them, such as shapes, while it loads the graph. */
const MIN_BYTES = 2 ** 16;
/** Smaller models are read as a whole: their memory does not matter. */
const MIN_FILE_BYTES = 2 ** 24;
/** How much of a file is read at once. */
const WINDOW_BYTES = 2 ** 17;
/** The maximum number of bytes of a field's tag, and of its length. */
const MAX_VARINT_BYTES = 10;

/**
 * Reads an ONNX model without its large weights, which become external data in the file itself, `OWN_FILE`. It reads
 * hardly more than it returns. Field numbers: `onnx.proto` of ONNX (IR version 10).
 * @returns undefined if the file is small, damaged, or no model
 */
export async function readGraph(file: Blob): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (file.size < MIN_FILE_BYTES) return undefined;
  const reader = new WindowReader(file);
  try {
    const model = await copy(reader, { from: 0, to: file.size }, async ({ number, value }) =>
      number === 7 && value ? encode(7, await copy(reader, value, (field) => detach(reader, field))) : undefined,
    );
    return join(model);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** A part of the file. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** A field of a message. `value` is missing for a number. */
interface FieldRange extends Range {
  readonly number: number;
  readonly value: Range | undefined;
}

/** Returns a graph's tensor without its data, if it has much; undefined for any other field. */
async function detach(reader: WindowReader, { number, value }: FieldRange): Promise<Pieces | undefined> {
  if (number !== 5 || !value || sizeOf(value) < MIN_BYTES) return undefined;
  let data: Range | undefined;
  let isExternal = false;
  const rest = await copy(reader, value, async (field) => {
    if (field.number === 14) isExternal = true;
    if (field.number !== 9 || !field.value || sizeOf(field.value) < MIN_BYTES) return undefined;
    data = field.value;
    return [];
  });
  if (!data || isExternal) return undefined;
  const where = { location: OWN_FILE, offset: data.from, length: sizeOf(data) };
  const entries = Object.entries(where).map(([key, value]) =>
    encode(13, [...encodeText(1, key), ...encodeText(2, String(value))]),
  );
  // The field 14, data_location, says EXTERNAL.
  return encode(5, [...rest, ...entries.flat(), ...encodeNumber(14, 1)]);
}

/** Copies a message. @param change returns what replaces a field; undefined if the field is copied */
async function copy(
  reader: WindowReader,
  message: Range,
  change: (field: FieldRange) => Promise<Pieces | undefined>,
): Promise<Pieces> {
  const parts: Uint8Array[] = [];
  for (let at = message.from; at < message.to;) {
    const field = await readField(reader, at, message.to);
    // One by one: a call takes fewer arguments than a graph may have nodes.
    for (const part of (await change(field)) ?? [await reader.read(field)]) parts.push(part);
    at = field.to;
  }
  return parts;
}

async function readField(reader: WindowReader, from: number, end: number): Promise<FieldRange> {
  const head = await reader.read({ from, to: Math.min(end, from + 2 * MAX_VARINT_BYTES) });
  let length = 0;
  const varint = (): number => {
    const varint = readVarint(head, length);
    length = varint.end;
    return varint.value;
  };
  const tag = varint();
  const [number, wire] = [Math.floor(tag / 8), tag % 8];
  if (wire === 0) varint();
  const size = wire === 0 ? 0 : wire === 1 ? 8 : wire === 2 ? varint() : wire === 5 ? 4 : NaN;
  const to = from + length + size;
  if (number === 0 || !(to <= end)) throw new RangeError(`field ${number} runs past the end`);
  return { number, from, to, value: wire === 2 ? { from: to - size, to } : undefined };
}

/** Reads parts of a file, most of which follow one another. */
class WindowReader {
  readonly #file: Blob;
  #from = 0;
  #window = new Uint8Array(0);

  constructor(file: Blob) {
    this.#file = file;
  }

  async read({ from, to }: Range): Promise<Uint8Array> {
    if (from < this.#from || to > this.#from + this.#window.length) {
      const end = Math.max(to, from + WINDOW_BYTES);
      this.#window = new Uint8Array(await this.#file.slice(from, end).arrayBuffer());
      this.#from = from;
    }
    return this.#window.subarray(from - this.#from, to - this.#from);
  }
}

function sizeOf({ from, to }: Range): number {
  return to - from;
}
