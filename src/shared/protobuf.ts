/** One field of a protobuf message. */
export interface Field {
  readonly field: number;
  /** A number for a varint, bytes for a field with a length. */
  readonly value: number | Uint8Array;
}

/** Yields the fields of one protobuf message, whose bytes are not copied. Encoding: protobuf.dev, "Encoding". @throws RangeError if a field runs past the end */
export function* fields(bytes: Uint8Array): Generator<Field> {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      if (byte === undefined || scale > 2 ** 63) throw new RangeError('a number runs past the end');
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const field = Math.floor(tag / 8);
    const wire = tag % 8;
    if (field === 0) throw new RangeError('field 0');
    if (wire === 0) {
      yield { field, value: varint() };
      continue;
    }
    const length = wire === 2 ? varint() : wire === 1 ? 8 : wire === 5 ? 4 : -1;
    if (length < 0 || at + length > bytes.length) throw new RangeError(`field ${field} runs past the end`);
    yield { field, value: bytes.subarray(at, at + length) };
    at += length;
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
