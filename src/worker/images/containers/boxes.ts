/**
 * Reads boxes, of which AVIF and HEIF files consist (ISO/IEC 14496-12, 4.2).
 */
import type { Span } from '../exif.js';

export interface Box extends Span {
  readonly type: string;
}

const HEADER_BYTES = 8;
const LONG_HEADER_BYTES = 16;
/** A grid of the most tiles that its format allows has 65536 items, each with a box. */
const MAX_FILE_BOXES = 100_000;

/**
 * Returns the boxes of a span, in order and without those inside of them.
 * @throws RangeError if a box is longer than the span, or shorter than its own header, or if there are more than
 *   100,000
 */
export function readBoxes(view: DataView, { start, end }: Span): Box[] {
  const boxes: Box[] = [];
  for (let at = start; at + HEADER_BYTES <= end;) {
    const short = view.getUint32(at);
    const header = short === 1 ? LONG_HEADER_BYTES : HEADER_BYTES;
    // Zero: up to the end.
    const size = short === 1 ? Number(view.getBigUint64(at + 8)) : short === 0 ? end - at : short;
    if (size < header || at + size > end) throw new RangeError('a box has an impossible size');
    if (boxes.length === MAX_FILE_BOXES) throw new RangeError('there are too many boxes');
    boxes.push({ type: readType(view, at + 4), start: at + header, end: at + size });
    at += size;
  }
  return boxes;
}

/** Returns four characters: the type of a box, a chunk or an item. */
export function readType(view: DataView, at: number): string {
  return String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3));
}
