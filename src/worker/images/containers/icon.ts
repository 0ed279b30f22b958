/**
 * Reads the directory of an icon file (.ico), whose pictures are PNG files or bitmaps without a file header.
 */
import { larger, type Facts, type Size } from '../facts.js';
import { readBitmapSize } from './bmp.js';

const HEADER_BYTES = 6;
const ENTRY_BYTES = 16;
const PNG = 0x89504e47;

/**
 * Reads an icon. Of several pictures, the largest is decoded.
 * @throws RangeError if an entry lies outside of the file
 */
export function readIcon(bytes: Uint8Array): Facts | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let listed: Size | undefined;
  let largest: Size | undefined;
  for (let entry = 0; entry < view.getUint16(4, true); entry++) {
    const at = HEADER_BYTES + entry * ENTRY_BYTES;
    // A side of 256 is stored as zero.
    listed = larger({ width: view.getUint8(at) || 256, height: view.getUint8(at + 1) || 256 }, listed);
    const start = view.getUint32(at + 12, true);
    const size =
      view.getUint32(start) === PNG
        ? { width: view.getUint32(start + 16), height: view.getUint32(start + 20) }
        : readBitmapSize(view, start);
    if (!size) return undefined;
    largest = larger(size, largest);
  }
  return listed && { ...listed, largest: larger(listed, largest) };
}
