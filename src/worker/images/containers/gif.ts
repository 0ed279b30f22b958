/**
 * Reads the header of a GIF file (version 89a) and where its frames lie.
 */
import { larger, type Facts, type Size } from '../facts.js';

const HEADER_BYTES = 13;
const EXTENSION = 0x21;
const IMAGE = 0x2c;

/**
 * Reads a GIF. The picture is as large as the screen, or larger if the first frame does not fit in it, as in browsers
 * and Pillow.
 * @throws RangeError if the file ends within its header or its first frame's
 */
export function readGif(bytes: Uint8Array): Facts | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const screen = { width: view.getUint16(6, true), height: view.getUint16(8, true) };
  let picture: Size | undefined;
  let largest: Size = screen;
  let complete: boolean | undefined;
  for (let at = HEADER_BYTES + tableBytes(view.getUint8(10)); at < bytes.length;) {
    const block = bytes[at++];
    if (block === EXTENSION) {
      at = skipBlocks(bytes, at + 1);
    } else if (block === IMAGE) {
      if (picture && at + 9 > bytes.length) break;
      const extent = {
        width: Math.max(screen.width, view.getUint16(at, true) + view.getUint16(at + 4, true)),
        height: Math.max(screen.height, view.getUint16(at + 2, true) + view.getUint16(at + 6, true)),
      };
      picture ??= extent;
      largest = larger(extent, largest);
      at = skipBlocks(bytes, at + 10 + tableBytes(view.getUint8(at + 8)));
      // Of an animation, the first frame is the picture.
      complete ??= at <= bytes.length;
    } else break;
  }
  if (!picture || picture.width === 0 || picture.height === 0) return undefined;
  return { ...picture, largest, complete };
}

/** Returns the bytes of the color table that the packed fields of a screen or a frame announce. */
function tableBytes(fields: number): number {
  return fields & 0x80 ? 3 * 2 ** ((fields & 7) + 1) : 0;
}

/** Returns the position after blocks of up to 255 bytes, the last of which is empty. */
function skipBlocks(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== 0) at += bytes[at]! + 1;
  return at + 1;
}
