/**
 * Reads the header of a JPEG file (ITU-T T.81, Annex B): its segments up to the first frame header.
 */
import { hasExifPrefix, type Span } from '../exif.js';
import type { Facts } from '../header.js';

const APP1 = 0xe1;
const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;
/** The markers between 0xc0 and 0xcf that do not start a frame: Huffman tables, reserved, arithmetic conditioning. */
const NO_FRAME = new Set([0xc4, 0xc8, 0xcc]);

export function readJpeg(bytes: Uint8Array): Facts {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let exif: Span | undefined;
  for (let at = 2; at + 4 <= bytes.length && bytes[at] === 0xff;) {
    const marker = bytes[at + 1]!;
    if (marker === 0xff) {
      at++; // a fill byte
      continue;
    }
    if (marker === START_OF_SCAN || marker === END_OF_IMAGE) break;
    const start = at + 4;
    const end = at + 2 + view.getUint16(at + 2);
    if (end > bytes.length) break;
    if (marker === APP1 && exif === undefined && hasExifPrefix(bytes, { start, end })) exif = { start, end };
    if (marker >= 0xc0 && marker <= 0xcf && !NO_FRAME.has(marker) && end - start >= 5) {
      return { height: view.getUint16(start + 1), width: view.getUint16(start + 3), exif };
    }
    at = end;
  }
  return { exif };
}
