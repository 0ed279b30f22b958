/**
 * Hides what an image file says of its colors. Models are trained with Pillow, which does not look at it; WebKit (2.50)
 * converts colors all the same, whatever `colorSpaceConversion` is.
 */
import { isAlone, nextMarker } from './jpeg.js';
import { withoutChunks } from './png.js';
import { chunksOf } from './webp.js';

/** iCCP, gAMA, cHRM, sRGB, cICP. */
const PNG_CHUNKS = new Set([0x69434350, 0x67414d41, 0x6348524d, 0x73524742, 0x63494350]);

const [APP2, START_OF_SCAN, COMMENT] = [0xe2, 0xda, 0xfe];
const ICC_PREFIX = [...'ICC_PROFILE\0'].map((character) => character.charCodeAt(0));

/** The bit of VP8X that says that there is a profile. */
const WEBP_PROFILE = 0x20;

/** Returns the file without its color profile, in the same memory. An AVIF keeps it. */
export function withoutColorProfile(bytes: Uint8Array<ArrayBuffer>, type: string): Uint8Array<ArrayBuffer> {
  if (type === 'image/png') return withoutChunks(bytes, PNG_CHUNKS);
  if (type === 'image/jpeg') hideInJpeg(bytes);
  if (type === 'image/webp') hideInWebp(bytes);
  return bytes;
}

/** Makes the profile's segments comments. */
function hideInJpeg(bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = nextMarker(bytes, 2); at !== undefined; at = nextMarker(bytes, at)) {
    const marker = bytes[at++]!;
    if (marker === START_OF_SCAN) return;
    if (isAlone(marker)) continue;
    if (at + 2 > bytes.length) return;
    if (marker === APP2 && ICC_PREFIX.every((byte, index) => bytes[at! + 2 + index] === byte)) bytes[at - 1] = COMMENT;
    at += Math.max(2, view.getUint16(at));
  }
}

/** Makes the profile's chunk an unknown one, which decoders skip. */
function hideInWebp(bytes: Uint8Array): void {
  for (const { type, start } of chunksOf(bytes)) {
    if (type === 'VP8X' && start < bytes.length) bytes[start]! &= ~WEBP_PROFILE;
    if (type === 'ICCP') bytes.fill(0x58, start - 8, start - 4);
  }
}
