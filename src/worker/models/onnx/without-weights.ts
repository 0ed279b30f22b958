import { OWN_FILE } from './graph.js';
import { encode, encodeNumber, encodeText, join, type Pieces } from './protobuf-writer.js';
import { type FieldRange, fieldRanges, type Range, sizeOf, WindowReader } from './ranges.js';

/** Smaller tensors stay in the model: ONNX Runtime reads some of them, such as shapes, while it loads the graph. */
const MIN_BYTES = 2 ** 16;

/**
 * Returns what `readGraph` does, of a file of any size. Field numbers: `onnx.proto` of ONNX (IR version 10).
 * @returns undefined if the file is damaged, or no model
 */
export async function withoutWeights(file: Blob): Promise<Uint8Array<ArrayBuffer> | undefined> {
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
  for await (const field of fieldRanges(reader, message)) {
    // One by one: a call takes fewer arguments than a graph may have nodes.
    for (const part of (await change(field)) ?? [await reader.read(field)]) parts.push(part);
  }
  return parts;
}
