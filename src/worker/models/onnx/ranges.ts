/** Reads the fields of a file's messages without reading all of it. */
import { readVarint } from './protobuf.js';

/** How much of a file is read at once: little where something was left out, and twice as much each time where not. */
const [MIN_WINDOW, MAX_WINDOW] = [2 ** 12, 2 ** 17];
/** A smaller file is read as a whole: in a browser, each read takes about a millisecond, however short it is. */
const MAX_WHOLE = 2 ** 22;
/** The maximum number of bytes of a field's tag, and of its length. */
const MAX_VARINT_BYTES = 10;

/** A part of the file. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** A field of a message. `value` is missing for a number. */
export interface FieldRange extends Range {
  readonly number: number;
  readonly value: Range | undefined;
}

/** Reads parts of a file, most of which follow one another. */
export class WindowReader {
  readonly #file: Blob;
  #from = 0;
  #window = new Uint8Array(0);
  #bytes = MIN_WINDOW;

  constructor(file: Blob) {
    this.#file = file;
  }

  async read({ from, to }: Range): Promise<Uint8Array> {
    const read = this.#from + this.#window.length;
    if (from < this.#from || to > read) {
      const isWhole = this.#file.size <= MAX_WHOLE;
      this.#bytes = from <= read ? Math.min(2 * this.#bytes, MAX_WINDOW) : MIN_WINDOW;
      this.#from = isWhole ? 0 : from;
      const end = isWhole ? this.#file.size : Math.max(to, from + this.#bytes);
      this.#window = new Uint8Array(await this.#file.slice(this.#from, end).arrayBuffer());
    }
    return this.#window.subarray(from - this.#from, to - this.#from);
  }
}

/** Yields the fields of a message. @throws RangeError if a field runs past the end */
export async function* fieldRanges(reader: WindowReader, message: Range): AsyncGenerator<FieldRange> {
  for (let at = message.from; at < message.to;) {
    const field = await readField(reader, at, message.to);
    yield field;
    at = field.to;
  }
}

async function readField(reader: WindowReader, from: number, end: number): Promise<FieldRange> {
  const head = await reader.read({ from, to: Math.min(end, from + 2 * MAX_VARINT_BYTES) });
  let length = 0;
  const varint = (): number => {
    const varint = readVarint(head, length);
    length = varint.end;
    return varint.value;
  };
  const tag = varint();
  const [number, wire] = [Math.floor(tag / 8), tag % 8];
  if (wire === 0) varint();
  const size = wire === 0 ? 0 : wire === 1 ? 8 : wire === 2 ? varint() : wire === 5 ? 4 : NaN;
  const to = from + length + size;
  if (number === 0 || !(to <= end)) throw new RangeError(`field ${number} runs past the end`);
  return { number, from, to, value: wire === 2 ? { from: to - size, to } : undefined };
}

export function sizeOf({ from, to }: Range): number {
  return to - from;
}
