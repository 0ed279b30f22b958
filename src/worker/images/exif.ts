/**
 * Finds the orientation tag in a block of EXIF, which is a small TIFF file. In a block that is malformed there is none.
 */
import type { Orientation } from './orientation.js';

/** Bytes from `start` up to `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface OrientationTag {
  readonly value: Orientation;
  /** The position of its two bytes in the file. */
  readonly offset: number;
  readonly littleEndian: boolean;
}

const LITTLE_ENDIAN = 0x4949;
const BIG_ENDIAN = 0x4d4d;
const TIFF_MAGIC = 42;
const ORIENTATION = 0x0112;
const SHORT = 3;
const ENTRY_BYTES = 12;
const PREFIX = [0x45, 0x78, 0x69, 0x66, 0, 0]; // 'Exif\0\0'

/** Returns whether the bytes at `start` are `Exif\0\0`. */
export function hasExifPrefix(bytes: Uint8Array, { start, end }: Span): boolean {
  return end - start >= PREFIX.length && PREFIX.every((byte, i) => bytes[start + i] === byte);
}

/** Returns the tag of the first directory, if its value is in 1..8. */
export function findOrientation(bytes: Uint8Array, span: Span): OrientationTag | undefined {
  const start = hasExifPrefix(bytes, span) ? span.start + PREFIX.length : span.start;
  const size = span.end - start;
  if (size < 8) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset + start, size);
  const order = view.getUint16(0);
  if (order !== LITTLE_ENDIAN && order !== BIG_ENDIAN) return undefined;
  const littleEndian = order === LITTLE_ENDIAN;
  if (view.getUint16(2, littleEndian) !== TIFF_MAGIC) return undefined;
  const directory = view.getUint32(4, littleEndian);
  if (directory + 2 > size) return undefined;
  const entries = view.getUint16(directory, littleEndian);
  for (let i = 0, at = directory + 2; i < entries && at + ENTRY_BYTES <= size; i++, at += ENTRY_BYTES) {
    if (view.getUint16(at, littleEndian) !== ORIENTATION) continue;
    if (view.getUint16(at + 2, littleEndian) !== SHORT || view.getUint32(at + 4, littleEndian) !== 1) return undefined;
    const value = view.getUint16(at + 8, littleEndian);
    return value >= 1 && value <= 8 ? { value: value as Orientation, offset: start + at + 8, littleEndian } : undefined;
  }
  return undefined;
}

/** Sets the tag to "upright", so that no decoder turns the picture by itself. */
export function clearOrientation(bytes: Uint8Array, { offset, littleEndian }: OrientationTag): void {
  new DataView(bytes.buffer, bytes.byteOffset).setUint16(offset, 1, littleEndian);
}
