/** Finds the end of a JPEG's picture where the file does not mark it (ITU-T T.81, Annexes A, B and F). */

const END_OF_IMAGE = [0xff, 0xd9];
/** Frames whose blocks are each in one scan, with Huffman codes. */
const SEQUENTIAL = new Set([0xc0, 0xc1]);
const HUFFMAN_TABLES = 0xc4;
const START_OF_SCAN = 0xda;
const RESTART_INTERVAL = 0xdd;

interface Component {
  readonly id: number;
  readonly horizontal: number;
  readonly vertical: number;
}

interface Frame {
  readonly width: number;
  readonly height: number;
  readonly components: readonly Component[];
}

/**
 * Returns a file with the marker EOI right after the last block of its picture; undefined if a block is missing, or if
 * the blocks are not counted because the file is progressive. Some cameras write zeros instead of the marker, which
 * libjpeg reads over and browsers do not.
 */
export function withEnd(bytes: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  try {
    const end = endOfBlocks(bytes);
    if (end === undefined) return undefined;
    const whole = new Uint8Array(end + END_OF_IMAGE.length);
    whole.set(bytes.subarray(0, end));
    whole.set(END_OF_IMAGE, end);
    return whole;
  } catch (error) {
    // What lies outside of the file.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** @throws RangeError if the file ends too early, or has a code that its tables do not have */
function endOfBlocks(bytes: Uint8Array): number | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tables = new Map<number, HuffmanTable>();
  const left = new Set<number>();
  let frame: Frame | undefined;
  let interval = 0;
  for (let at = 2; ;) {
    while (view.getUint8(at) !== 0xff) at++;
    while (view.getUint8(at) === 0xff) at++;
    const marker = view.getUint8(at++);
    // Zeros are data; and these markers have no segment.
    if (marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd8)) continue;
    const end = at + view.getUint16(at);
    const start = at + 2;
    at = end;
    if (SEQUENTIAL.has(marker) && !frame) {
      frame = readFrame(view, start);
      for (const { id } of frame.components) left.add(id);
    } else if (marker === HUFFMAN_TABLES) readTables(view, start, end, tables);
    else if (marker === RESTART_INTERVAL) interval = view.getUint16(start);
    else if (marker === START_OF_SCAN) {
      if (!frame) return undefined;
      at = skipScan(new BitReader(view, end), frame, readScan(view, start, frame, tables), interval);
      for (let index = 0; index < view.getUint8(start); index++) left.delete(view.getUint8(start + 1 + index * 2));
      if (left.size === 0) return at;
    }
  }
}

function readFrame(view: DataView, start: number): Frame {
  const components = Array.from({ length: view.getUint8(start + 5) }, (_, index) => {
    const at = start + 6 + index * 3;
    const [horizontal, vertical] = [view.getUint8(at + 1) >> 4, view.getUint8(at + 1) & 15];
    if (horizontal === 0 || vertical === 0) throw new RangeError('a component without samples');
    return { id: view.getUint8(at), horizontal, vertical };
  });
  return { height: view.getUint16(start + 1), width: view.getUint16(start + 3), components };
}

/** A component of a scan, and the tables of its first numbers and of the others. */
interface ScanComponent extends Component {
  readonly dc: HuffmanTable;
  readonly ac: HuffmanTable;
}

function readScan(
  view: DataView,
  start: number,
  { components }: Frame,
  tables: ReadonlyMap<number, HuffmanTable>,
): readonly ScanComponent[] {
  return Array.from({ length: view.getUint8(start) }, (_, index) => {
    const id = view.getUint8(start + 1 + index * 2);
    const chosen = view.getUint8(start + 2 + index * 2);
    const component = components.find((one) => one.id === id);
    const [dc, ac] = [tables.get(chosen >> 4), tables.get(16 + (chosen & 15))];
    if (!component || !dc || !ac) throw new RangeError('a scan without its component or tables');
    return { ...component, dc, ac };
  });
}

/** Reads a scan's blocks. @returns the position of the byte after them */
function skipScan(bits: BitReader, frame: Frame, scan: readonly ScanComponent[], interval: number): number {
  const most = (side: 'horizontal' | 'vertical'): number => Math.max(...frame.components.map((one) => one[side]));
  const [wide, high] = [most('horizontal'), most('vertical')];
  const [only] = scan;
  if (!only) throw new RangeError('a scan without components');
  const count =
    scan.length === 1
      ? Math.ceil(Math.ceil((frame.width * only.horizontal) / wide) / 8) *
        Math.ceil(Math.ceil((frame.height * only.vertical) / high) / 8)
      : Math.ceil(frame.width / (8 * wide)) * Math.ceil(frame.height / (8 * high));
  for (let unit = 0; unit < count; unit++) {
    if (interval > 0 && unit > 0 && unit % interval === 0) bits.skipRestart();
    for (const { dc, ac, horizontal, vertical } of scan) {
      const blocks = scan.length === 1 ? 1 : horizontal * vertical;
      for (let block = 0; block < blocks; block++) skipBlock(bits, dc, ac);
    }
  }
  return bits.end();
}

function skipBlock(bits: BitReader, dc: HuffmanTable, ac: HuffmanTable): void {
  bits.skip(bits.decode(dc));
  for (let index = 1; index < 64; index++) {
    const symbol = bits.decode(ac);
    const [run, size] = [symbol >> 4, symbol & 15];
    if (size === 0 && run < 15) return;
    index += run;
    bits.skip(size);
  }
}

/** The codes of a length are successive numbers: the symbol of `code` is at `offset + code`, if `code` is below `end`. */
interface HuffmanTable {
  readonly lengths: readonly { readonly end: number; readonly offset: number }[];
  readonly symbols: readonly number[];
}

/** Reads tables, those of first numbers as 0 to 3, the others as 16 to 19. */
function readTables(view: DataView, start: number, end: number, tables: Map<number, HuffmanTable>): void {
  for (let at = start; at < end;) {
    const kind = view.getUint8(at++);
    const counts = Array.from({ length: 16 }, (_, index) => view.getUint8(at + index));
    at += 16;
    let [code, offset] = [0, 0];
    const lengths = counts.map((count) => {
      const length = { end: code + count, offset: offset - code };
      offset += count;
      code = (code + count) * 2;
      return length;
    });
    const first = at;
    tables.set(kind, { lengths, symbols: Array.from({ length: offset }, (_, index) => view.getUint8(first + index)) });
    at += offset;
  }
}

/** Reads the bits of a scan, in whose bytes a zero follows each 0xff. */
class BitReader {
  readonly #view: DataView;
  #at: number;
  #byte = 0;
  #left = 0;

  constructor(view: DataView, start: number) {
    this.#view = view;
    this.#at = start;
  }

  /**
   * Ends the data. An encoder fills up its last byte with ones; zeros fill a file whose download has stopped, and are
   * codes of blocks, too.
   * @returns the position after the data
   * @throws RangeError if it ends in zeros
   */
  end(): number {
    const fill = (1 << this.#left) - 1;
    if ((this.#byte & fill) !== fill || this.#byte === 0) throw new RangeError('the data ends in zeros');
    return this.#at;
  }

  #bit(): number {
    if (this.#left === 0) {
      this.#byte = this.#view.getUint8(this.#at++);
      if (this.#byte === 0xff && this.#view.getUint8(this.#at++) !== 0) throw new RangeError('a marker amid the data');
      this.#left = 8;
    }
    return (this.#byte >> --this.#left) & 1;
  }

  skip(count: number): void {
    for (let bit = 0; bit < count; bit++) this.#bit();
  }

  decode({ lengths, symbols }: HuffmanTable): number {
    let code = 0;
    for (const { end, offset } of lengths) {
      code = code * 2 + this.#bit();
      if (code < end) return symbols[offset + code]!;
    }
    throw new RangeError('a code that the table lacks');
  }

  skipRestart(): void {
    this.#left = 0;
    while (this.#view.getUint8(this.#at) === 0xff) this.#at++;
    const marker = this.#view.getUint8(this.#at++);
    if (marker < 0xd0 || marker > 0xd7) throw new RangeError('no restart marker');
  }
}
