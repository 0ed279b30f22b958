/**
 * Reads the header of a PNG file (W3C PNG, third edition): IHDR, and eXIf and the frames' fcTL anywhere in the file.
 */
import type { Span } from '../exif.js';
import { larger, type Facts, type Size } from '../facts.js';

const SIGNATURE_BYTES = 8;
/** A chunk's length and type. */
const CHUNK_HEADER_BYTES = 8;
const IHDR = 0x49484452; // 'IHDR'
const IDAT = 0x49444154; // 'IDAT'
const IEND = 0x49454e44; // 'IEND'
const EXIF = 0x65584966; // 'eXIf'
const TRANSPARENCY = 0x74524e53; // 'tRNS'
const FRAME_CONTROL = 0x6663544c; // 'fcTL'
/** acTL. */
const ANIMATION = new Set([0x6163544c]);

/** The color type of a picture that has one channel, and no alpha. */
const GRAY = 0;

/**
 * Returns the file without the chunk that makes it an animation, so that every decoder takes the default image, which
 * need not be the first frame.
 */
export function withoutAnimation(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return withoutChunks(bytes, ANIMATION);
}

/** Returns the file without the chunks of these types that are before its pixels. The bytes are moved, not copied. */
export function withoutChunks(bytes: Uint8Array<ArrayBuffer>, types: ReadonlySet<number>): Uint8Array<ArrayBuffer> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let { length } = bytes;
  for (let at = SIGNATURE_BYTES; at + CHUNK_HEADER_BYTES <= length;) {
    const end = at + CHUNK_HEADER_BYTES + view.getUint32(at) + 4;
    const type = view.getUint32(at + 4);
    if (type === IDAT) break;
    if (!types.has(type)) at = end;
    else {
      bytes.copyWithin(at, end, length);
      length = at + Math.max(0, length - end);
    }
  }
  return bytes.subarray(0, length);
}

/** @throws RangeError if the file ends too early */
export function readPng(bytes: Uint8Array): Facts | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = { width: view.getUint32(16), height: view.getUint32(20) };
  if (view.getUint32(12) !== IHDR || size.width === 0 || size.height === 0) return undefined;
  let exif: Span | undefined;
  let largest: Size = size;
  // The bits of a channel, and what the channels are.
  let isGray = view.getUint8(24) <= 8 && view.getUint8(25) === GRAY;
  let complete = false;
  let hasPixels = false;
  for (let at = SIGNATURE_BYTES; at + CHUNK_HEADER_BYTES <= bytes.length;) {
    const start = at + CHUNK_HEADER_BYTES;
    const end = start + view.getUint32(at);
    const type = view.getUint32(at + 4);
    if (type === FRAME_CONTROL && start + 12 <= bytes.length)
      largest = larger({ width: view.getUint32(start + 4), height: view.getUint32(start + 8) }, largest);
    // Of an animation, the first frame is the picture: another frame follows it.
    if (type === IEND || (type === FRAME_CONTROL && hasPixels)) complete = true;
    if (end > bytes.length) break;
    if (type === TRANSPARENCY) isGray = false;
    if (type === EXIF) exif ??= { start, end };
    if (type === IDAT) hasPixels = true;
    at = end + 4;
  }
  return { ...size, largest, ...(isGray && { channels: 1 }), exif, complete };
}
