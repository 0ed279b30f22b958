/**
 * Reads the header of a JPEG file (ITU-T T.81, Annex B) as libjpeg reads it: where a marker is expected, everything up
 * to the next one is skipped.
 */
import { hasExifPrefix, type Span } from '../exif.js';
import { larger, type Facts, type Size } from '../facts.js';

const APP1 = 0xe1;
const START_OF_IMAGE = 0xd8;
const END_OF_IMAGE = 0xd9;
const START_OF_SCAN = 0xda;
/** The markers between 0xc0 and 0xcf that do not start a frame: Huffman tables, reserved, arithmetic conditioning. */
const NO_FRAME = new Set([0xc4, 0xc8, 0xcc]);

export function readJpeg(bytes: Uint8Array): Facts | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let first: Size | undefined;
  let largest: Size | undefined;
  let channels: number | undefined;
  let exif: Span | undefined;
  let scans = 0;
  let complete = false;
  for (let at = nextMarker(bytes, 2); at !== undefined; at = nextMarker(bytes, at)) {
    const marker = bytes[at++]!;
    if (marker === END_OF_IMAGE) {
      complete = true;
      break;
    }
    if (isAlone(marker)) continue;
    if (at + 2 > bytes.length) break;
    const start = at + 2;
    // libjpeg skips two bytes even where a segment declares fewer.
    const end = at + Math.max(2, view.getUint16(at));
    if (marker === START_OF_SCAN) scans++;
    if (end > bytes.length) break;
    if (marker === APP1 && scans === 0 && exif === undefined && hasExifPrefix(bytes, { start, end }))
      exif = { start, end };
    if (marker >= 0xc0 && marker <= 0xcf && !NO_FRAME.has(marker) && end - start >= 5) {
      const frame = { height: view.getUint16(start + 1), width: view.getUint16(start + 3) };
      first ??= frame;
      if (end - start >= 6) channels ??= bytes[start + 5];
      largest = larger(frame, largest);
    }
    at = end;
  }
  // A height of zero is given by a later segment, which no browser reads.
  if (!first || !largest || first.width === 0 || first.height === 0) return undefined;
  return { ...first, largest, scans, channels, exif, complete };
}

/** Returns the position of the byte that names the next marker; a zero after 0xff is part of a scan's data. */
export function nextMarker(bytes: Uint8Array, from: number): number | undefined {
  for (let at = bytes.indexOf(0xff, from); at >= 0; at = bytes.indexOf(0xff, at)) {
    while (bytes[at] === 0xff) at++;
    if (at >= bytes.length) return undefined;
    if (bytes[at] !== 0) return at;
  }
  return undefined;
}

/** Returns whether no segment follows the marker: restarts, the start of the image, and those that are not assigned. */
export function isAlone(marker: number): boolean {
  return marker <= 0xbf || (marker >= 0xd0 && marker <= START_OF_IMAGE);
}
