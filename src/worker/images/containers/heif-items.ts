/**
 * Finds the items of an AVIF or HEIF file and their bytes (ISO/IEC 14496-12, 8.11).
 */
import type { Span } from '../exif.js';
import { readBoxes, readType, type Box } from './boxes.js';

export interface Item {
  readonly id: number;
  readonly type: string;
  readonly data: Uint8Array;
}

/** Where an item's bytes are: in the file, or in the box `idat`. */
const IN_FILE = 0;
const IN_IDAT = 1;

/**
 * Returns the AV1 images and the grids.
 * @throws RangeError if an extent lies outside of the file, if items overlap so that all of them together are longer than
 *   the file, or if they are built from one another
 */
export function readItems(bytes: Uint8Array, inMeta: readonly Box[]): Item[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const types = new Map(inMeta.filter(({ type }) => type === 'iinf').flatMap((box) => readTypes(view, box)));
  const idat = inMeta.find(({ type }) => type === 'idat');
  const items: Item[] = [];
  let left = bytes.length;
  for (const box of inMeta) {
    if (box.type !== 'iloc') continue;
    for (const { id, method, extents } of readLocations(view, box)) {
      const type = types.get(id);
      if (type !== 'av01' && type !== 'grid') continue;
      if (method !== IN_FILE && method !== IN_IDAT) throw new RangeError('an item is built from another item');
      const whole = method === IN_FILE ? { start: 0, end: bytes.length } : idat;
      const parts = extents.map(({ start, end }) => {
        if (!whole || whole.start + end > whole.end) throw new RangeError('an item lies outside of the file');
        // Without a length: up to the end.
        const part = bytes.subarray(whole.start + start, end > start ? whole.start + end : whole.end);
        left -= part.length;
        if (left < 0) throw new RangeError('items overlap');
        return part;
      });
      items.push({ id, type, data: parts.length === 1 ? parts[0]! : join(parts) });
    }
  }
  return items;
}

function readTypes(view: DataView, { start, end }: Span): [id: number, type: string][] {
  const first = start + (view.getUint8(start) === 0 ? 6 : 8);
  return readBoxes(view, { start: first, end }).map(({ start }) => {
    const idBytes = view.getUint8(start) < 3 ? 2 : 4;
    const id = idBytes === 2 ? view.getUint16(start + 4) : view.getUint32(start + 4);
    return [id, readType(view, start + 4 + idBytes + 2)];
  });
}

interface ItemLocation {
  readonly id: number;
  readonly method: number;
  readonly extents: readonly Span[];
}

function* readLocations(view: DataView, { start, end }: Span): Generator<ItemLocation> {
  const version = view.getUint8(start);
  const [offsetBytes, lengthBytes] = [view.getUint8(start + 4) >> 4, view.getUint8(start + 4) & 15];
  const [baseBytes, indexBytes] = [view.getUint8(start + 5) >> 4, version > 0 ? view.getUint8(start + 5) & 15 : 0];
  let at = start + 6;
  const read = (bytes: number): number => {
    let value = 0;
    for (let i = 0; i < bytes; i++) value = value * 256 + view.getUint8(at++);
    if (at > end) throw new RangeError('a box is shorter than what it lists');
    return value;
  };
  const idBytes = version < 2 ? 2 : 4;
  for (let items = read(idBytes); items > 0; items--) {
    const id = read(idBytes);
    const method = version > 0 ? read(2) & 15 : IN_FILE;
    read(2); // data_reference_index
    const base = read(baseBytes);
    const count = read(2);
    // Entries without any bytes would cost time and no space.
    if (count > 1 && offsetBytes + lengthBytes + indexBytes === 0)
      throw new RangeError('an item is listed in parts that are all alike');
    const extents: Span[] = [];
    for (let extent = 0; extent < count; extent++) {
      read(indexBytes);
      const offset = base + read(offsetBytes);
      extents.push({ start: offset, end: offset + read(lengthBytes) });
    }
    yield { id, method, extents };
  }
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
