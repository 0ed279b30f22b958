/**
 * Reads the header of a WebP file (RFC 9649): the size of VP8X, or of VP8 or VP8L, and EXIF.
 */
import type { Span } from '../exif.js';
import type { Facts } from '../header.js';

const CHUNK_BYTES = 8;

export function readWebp(bytes: Uint8Array): Facts {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const uint24 = (at: number): number => view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
  let size: { width: number; height: number } | undefined;
  let exif: Span | undefined;
  for (let at = 12; at + CHUNK_BYTES <= bytes.length;) {
    const start = at + CHUNK_BYTES;
    const length = view.getUint32(at + 4, true);
    const end = start + length;
    const isComplete = start + 10 <= bytes.length;
    switch (String.fromCharCode(...bytes.subarray(at, at + 4))) {
      case 'VP8X':
        if (isComplete) size = { width: uint24(start + 4) + 1, height: uint24(start + 7) + 1 };
        break;
      case 'VP8 ':
        if (isComplete)
          size ??= {
            width: view.getUint16(start + 6, true) & 0x3fff,
            height: view.getUint16(start + 8, true) & 0x3fff,
          };
        break;
      case 'VP8L':
        if (isComplete) {
          const bits = view.getUint32(start + 1, true);
          size ??= { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
        }
        break;
      case 'EXIF':
        if (end <= bytes.length) exif ??= { start, end };
        break;
    }
    at = end + (length & 1);
  }
  return { ...size, exif };
}
