/**
 * Reads the header of an AVIF or HEIF file (ISO/IEC 23008-12): the size of its picture, and those of all items that a
 * decoder may combine to it.
 *
 * An AVIF decoder scales what it has decoded to the size that the file declares. So both count: the declared size
 * (`ispe`, and the canvas of a grid), and the size in the AV1 streams. The frames of an animation are not read, because
 * the picture is what is decoded.
 */
import type { Span } from '../exif.js';
import { larger, type Facts, type Size } from '../facts.js';
import { readFrameSizes } from './av1.js';
import { readBoxes, type Box } from './boxes.js';
import { readItems, type Item } from './heif-items.js';

/** The version and flags with which many boxes start. */
const VERSION_BYTES = 4;
/** The version, flags and fields of `av1C` before its own units. */
const AV1_CONFIG_BYTES = 4;

/**
 * @returns undefined also if the picture is one AV1 image of another size than it declares
 * @throws RangeError if a box, or an extent that it names, lies outside of the file or is used twice
 */
export function readHeif(bytes: Uint8Array): Facts | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const metas = readBoxes(view, { start: 0, end: bytes.length }).filter(({ type }) => type === 'meta');
  const [meta] = metas;
  // Which of several a decoder takes is not certain.
  if (!meta || metas.length > 1) return undefined;
  const boxes = inside(view, meta, VERSION_BYTES);
  const properties = children(view, boxes, 'iprp');
  const items = readItems(bytes, boxes);
  const primary = primaryId(view, boxes);
  const property = (type: string): Box | undefined => propertyOf(view, properties, primary, type);
  const [extent, aperture] = [property('ispe'), property('clap')];
  const size = extent && readSize(view, extent.start + VERSION_BYTES);
  if (!size || size.width === 0 || size.height === 0) return undefined;

  const inStreams = items.filter(({ type }) => type === 'av01').flatMap(({ data }) => readFrameSizes(data));
  const isStream = items.some(({ id, type }) => id === primary && type === 'av01');
  if (isStream && !inStreams.some(({ width, height }) => width === size.width && height === size.height))
    return undefined;
  const declared = children(view, properties, 'ipco').flatMap(({ type, start, end }) => {
    if (type === 'ispe') return [readSize(view, start + VERSION_BYTES)];
    return type === 'av1C' ? readFrameSizes(bytes.subarray(start + AV1_CONFIG_BYTES, end)) : [];
  });
  const grids = items.filter(({ type }) => type === 'grid').map(gridSize);
  return {
    ...size,
    cut: aperture && apertureSize(view, aperture),
    largest: [inStreams, declared, grids].flat().reduce<Size>(larger, size),
  };
}

function primaryId(view: DataView, boxes: readonly Box[]): number | undefined {
  const box = boxes.find(({ type }) => type === 'pitm');
  if (!box) return undefined;
  const at = box.start + VERSION_BYTES;
  return view.getUint8(box.start) === 0 ? view.getUint16(at) : view.getUint32(at);
}

/** Returns an item's first property of a type. */
function propertyOf(
  view: DataView,
  properties: readonly Box[],
  item: number | undefined,
  type: string,
): Box | undefined {
  const all = children(view, properties, 'ipco');
  for (const box of properties) {
    if (item === undefined || box.type !== 'ipma') continue;
    const index = associated(view, box, item).find((index) => all[index - 1]?.type === type);
    if (index !== undefined) return all[index - 1];
  }
  return undefined;
}

/** Returns the size of a clean aperture, whose sides are fractions. */
function apertureSize(view: DataView, { start }: Span): Size {
  const fraction = (at: number): number => view.getUint32(at) / view.getUint32(at + 4);
  return { width: fraction(start), height: fraction(start + 8) };
}

/** Returns the indices of an item's properties, from 1 on. */
function associated(view: DataView, { start, end }: Span, item: number): number[] {
  const idBytes = view.getUint8(start) === 0 ? 2 : 4;
  const indexBytes = view.getUint8(start + 3) & 1 ? 2 : 1;
  let at = start + 8;
  for (let left = view.getUint32(start + 4); left > 0; left--) {
    const id = idBytes === 2 ? view.getUint16(at) : view.getUint32(at);
    const first = at + idBytes + 1;
    const count = view.getUint8(first - 1);
    at = first + count * indexBytes;
    if (at > end) throw new RangeError('a box is shorter than what it lists');
    if (id === item)
      return Array.from({ length: count }, (_, i) =>
        indexBytes === 2 ? view.getUint16(first + 2 * i) & 0x7fff : view.getUint8(first + i) & 0x7f,
      );
  }
  return [];
}

/**
 * Returns the canvas of a grid. Its data are version, flags, rows, columns and the sides, which have four bytes if the
 * first flag is set.
 */
function gridSize({ data }: Item): Size {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  return view.getUint8(1) & 1 ? readSize(view, 4) : { width: view.getUint16(4), height: view.getUint16(6) };
}

function readSize(view: DataView, at: number): Size {
  return { width: view.getUint32(at), height: view.getUint32(at + 4) };
}

/** Returns the boxes inside of all boxes of a type. */
function children(view: DataView, boxes: readonly Box[], type: string): Box[] {
  return boxes.filter((box) => box.type === type).flatMap((box) => inside(view, box));
}

function inside(view: DataView, { start, end }: Span, skip = 0): Box[] {
  return readBoxes(view, { start: start + skip, end });
}
