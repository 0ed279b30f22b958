/** Bytes one after the other. */
export type Pieces = readonly Uint8Array[];

/** Encodes a field with a length: bytes, a text, or a message. Encoding: protobuf.dev, "Encoding". */
export function encode(field: number, parts: Pieces): Pieces {
  return [...encodeHead(field, lengthOf(parts)), ...parts];
}

/** Encodes the beginning of a field with that many bytes, which follow it. */
export function encodeHead(field: number, length: number): Pieces {
  return [encodeVarint(field * 8 + 2), encodeVarint(length)];
}

/** Encodes a field with a number, an integer from 0 on. */
export function encodeNumber(field: number, value: number): Pieces {
  return [encodeVarint(field * 8), encodeVarint(value)];
}

/** Encodes a field with a text. */
export function encodeText(field: number, value: string): Pieces {
  return encode(field, [utf8(value)]);
}

function encodeVarint(value: number): Uint8Array {
  const bytes: number[] = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Uint8Array.of(...bytes, value);
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Returns the number of bytes. */
export function lengthOf(parts: Pieces): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

/** Returns the bytes as one array. */
export function join(parts: Pieces): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(lengthOf(parts));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
