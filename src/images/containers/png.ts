/**
 * Reads the header of a PNG file (W3C PNG, third edition): IHDR, and eXIf anywhere in the file.
 */
import type { Facts } from '../header.js';

const SIGNATURE_BYTES = 8;
/** A chunk's length, type and checksum. */
const CHUNK_BYTES = 12;
const IHDR = 0x49484452; // 'IHDR'
const EXIF = 0x65584966; // 'eXIf'

export function readPng(bytes: Uint8Array): Facts {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < SIGNATURE_BYTES + CHUNK_BYTES + 8 || view.getUint32(12) !== IHDR) return {};
  const size = { width: view.getUint32(16), height: view.getUint32(20) };
  for (let at = SIGNATURE_BYTES; at + CHUNK_BYTES <= bytes.length;) {
    const start = at + 8;
    const end = start + view.getUint32(at);
    if (end > bytes.length) break;
    if (view.getUint32(at + 4) === EXIF) return { ...size, exif: { start, end } };
    at = end + 4;
  }
  return size;
}
