/**
 * Reads the headers of a BMP file, and those of the icons that have one inside.
 */
import type { Facts, Size } from '../facts.js';

const FILE_HEADER_BYTES = 14;
/** The oldest kind of header, with 16-bit sides. */
const CORE_HEADER_BYTES = 12;
/** Plain pixels, and pixels with masks. */
const UNCOMPRESSED = new Set([0, 3]);
const JPEG_OR_PNG_INSIDE = new Set([4, 5]);

/** @throws RangeError if the file ends within its header */
export function readBmp(bytes: Uint8Array): Facts | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = readBitmapSize(view, FILE_HEADER_BYTES);
  return size && { ...size, largest: size, complete: hasAllRows(view, size) };
}

/** Returns whether the file has all rows, each of whole 32-bit words; undefined if they are compressed. */
function hasAllRows(view: DataView, { width, height }: Size): boolean | undefined {
  const isCore = view.getUint32(FILE_HEADER_BYTES, true) === CORE_HEADER_BYTES;
  if (!isCore && !UNCOMPRESSED.has(view.getUint32(FILE_HEADER_BYTES + 16, true))) return undefined;
  const bits = view.getUint16(FILE_HEADER_BYTES + (isCore ? 10 : 14), true);
  return view.getUint32(10, true) + Math.ceil((width * bits) / 32) * 4 * height <= view.byteLength;
}

/**
 * Returns the size in the bitmap header at `at`. A negative height means that the top row comes first.
 * @returns undefined if there are no pixels, or if they are in another format
 */
export function readBitmapSize(view: DataView, at: number): Size | undefined {
  const isCore = view.getUint32(at, true) === CORE_HEADER_BYTES;
  const width = isCore ? view.getUint16(at + 4, true) : view.getInt32(at + 4, true);
  const height = isCore ? view.getUint16(at + 6, true) : Math.abs(view.getInt32(at + 8, true));
  const isForeign = !isCore && JPEG_OR_PNG_INSIDE.has(view.getUint32(at + 16, true));
  return width > 0 && height > 0 && !isForeign ? { width, height } : undefined;
}
