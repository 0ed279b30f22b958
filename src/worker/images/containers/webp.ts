/**
 * Reads the header of a WebP file (RFC 9649): the size of VP8X, or of VP8 or VP8L, the frames, and EXIF.
 */
import type { Span } from '../exif.js';
import { larger, type Facts, type Size } from '../facts.js';
import { readType } from './boxes.js';

const RIFF_HEADER_BYTES = 12;
const CHUNK_BYTES = 8;
const FRAME_HEADER_BYTES = 16;

/** @throws RangeError if the file ends within the header of its canvas or of a frame */
export function readWebp(bytes: Uint8Array): Facts | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let canvas: Size | undefined;
  let picture: Size | undefined;
  let largest: Size | undefined;
  let exif: Span | undefined;
  const count = (size: Size | undefined): void => {
    if (!size) return;
    picture ??= size;
    largest = larger(size, largest);
  };
  for (const { type, start, end } of chunks(view, RIFF_HEADER_BYTES, bytes.length)) {
    if (type === 'VP8X') canvas ??= uint24Size(view, start + 4);
    else if (type === 'EXIF' && end <= bytes.length) exif ??= { start, end };
    else if (type === 'ANMF') {
      count(uint24Size(view, start + 6));
      for (const inner of chunks(view, start + FRAME_HEADER_BYTES, Math.min(end, bytes.length)))
        count(bitstreamSize(view, inner));
    } else count(bitstreamSize(view, { type, start }));
  }
  const size = canvas ?? picture;
  if (!size || size.width === 0 || size.height === 0) return undefined;
  // The length that the file declares counts from here.
  const complete = view.getUint32(4, true) + CHUNK_BYTES <= bytes.length;
  return { ...size, largest: larger(size, largest), exif, complete };
}

/** Yields the chunks of a file, without those inside of them. */
export function chunksOf(bytes: Uint8Array): Generator<Chunk> {
  return chunks(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), RIFF_HEADER_BYTES, bytes.length);
}

interface Chunk extends Span {
  readonly type: string;
}

function* chunks(view: DataView, start: number, end: number): Generator<Chunk> {
  for (let at = start; at + CHUNK_BYTES <= end;) {
    const length = view.getUint32(at + 4, true);
    const type = readType(view, at);
    yield { type, start: at + CHUNK_BYTES, end: at + CHUNK_BYTES + length };
    at += CHUNK_BYTES + length + (length & 1);
  }
}

/** Returns the size in a chunk of pixels; undefined for any other. */
function bitstreamSize(view: DataView, { type, start }: Pick<Chunk, 'type' | 'start'>): Size | undefined {
  if (type === 'VP8 ')
    return { width: view.getUint16(start + 6, true) & 0x3fff, height: view.getUint16(start + 8, true) & 0x3fff };
  if (type !== 'VP8L') return undefined;
  const bits = view.getUint32(start + 1, true);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}

function uint24Size(view: DataView, at: number): Size {
  const uint24 = (at: number): number => view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
  return { width: uint24(at) + 1, height: uint24(at + 3) + 1 };
}
