/** One field of a protobuf message. */
export interface Field {
  readonly field: number;
  /** A number for a varint, bytes for a field with a length. */
  readonly value: number | Uint8Array;
  /** The whole field, with its tag and length. */
  readonly whole: Uint8Array;
}

/** Reads a varint. Returns it with the position after it. @throws RangeError if it runs past the end */
export function readVarint(bytes: Uint8Array, at: number): { readonly value: number; readonly end: number } {
  let value = 0;
  for (let scale = 1; ; scale *= 128) {
    const byte = bytes[at++];
    if (byte === undefined || scale > 2 ** 63) throw new RangeError('a number runs past the end');
    value += (byte & 127) * scale;
    if (byte < 128) return { value, end: at };
  }
}

/**
 * Yields the fields of one protobuf message, whose bytes are not copied. Encoding: protobuf.dev, "Encoding".
 * @throws RangeError if a field runs past the end
 */
export function* fields(bytes: Uint8Array): Generator<Field> {
  let at = 0;
  const varint = (): number => {
    const { value, end } = readVarint(bytes, at);
    at = end;
    return value;
  };
  while (at < bytes.length) {
    const from = at;
    const tag = varint();
    const field = Math.floor(tag / 8);
    const wire = tag % 8;
    if (field === 0) throw new RangeError('field 0');
    if (wire === 0) {
      const value = varint();
      yield { field, value, whole: bytes.subarray(from, at) };
      continue;
    }
    const length = wire === 2 ? varint() : wire === 1 ? 8 : wire === 5 ? 4 : -1;
    if (length < 0 || at + length > bytes.length) throw new RangeError(`field ${field} runs past the end`);
    const to = at + length;
    yield { field, value: bytes.subarray(at, to), whole: bytes.subarray(from, to) };
    at = to;
  }
}

/** Returns the first field of that number that has bytes. */
export function find(bytes: Uint8Array, wanted: number): Uint8Array | undefined {
  for (const { field, value } of fields(bytes)) if (field === wanted && typeof value !== 'number') return value;
  return undefined;
}

/** Returns bytes as UTF-8 text; those of a missing field as an empty text. */
export function text(bytes: Uint8Array | undefined): string {
  return new TextDecoder().decode(bytes);
}

/** Returns every field of that number that has bytes. */
export function all(bytes: Uint8Array, wanted: number): readonly Uint8Array[] {
  return [...fields(bytes)].flatMap(({ field, value }) =>
    field === wanted && typeof value !== 'number' ? [value] : [],
  );
}

/** Returns a list of numbers, written as one field each or packed into one. */
export function numbersIn(bytes: Uint8Array, wanted: number): readonly number[] {
  return [...fields(bytes)].flatMap((one) => (one.field === wanted ? unpack(one) : []));
}

/** Returns the first number of a field; undefined if there is none. */
export function numberIn(bytes: Uint8Array, wanted: number): number | undefined {
  return numbersIn(bytes, wanted)[0];
}

function unpack({ value }: Field): readonly number[] {
  if (typeof value === 'number') return [value];
  const numbers: number[] = [];
  let [number, scale] = [0, 1];
  for (const byte of value) {
    number += (byte & 127) * scale;
    scale *= 128;
    if (byte >= 128) continue;
    numbers.push(number);
    [number, scale] = [0, 1];
  }
  return numbers;
}
