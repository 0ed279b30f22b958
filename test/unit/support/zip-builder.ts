import { crc32, deflateRawSync } from 'node:zlib';

/**
 * A file of a zip archive. What is given is written as it is, right or wrong; the rest follows from `name` and `data`.
 */
export interface ZipFile {
  readonly name: string;
  readonly data?: string | Uint8Array;
  /** 0: stored; 8: deflated. */
  readonly method?: number;
  readonly packed?: Uint8Array;
  readonly crc?: number;
  readonly size?: number;
  readonly flags?: number;
  /** The name in front of the data. */
  readonly localName?: string;
  /** Where the list of files says that the file is. */
  readonly offset?: number;
  readonly externalAttributes?: number;
  /** Writes sizes and offset as 64-bit numbers. */
  readonly zip64?: boolean;
}

/** Writes a zip archive byte by byte (APPNOTE.TXT 6.3.10), so that any part of it can be wrong. */
export function buildZip(
  files: readonly ZipFile[],
  { count = files.length, cut = 0, comment = '' }: { count?: number; cut?: number; comment?: string } = {},
): Uint8Array<ArrayBuffer> {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, data = '', method = 0, flags = 0, localName = name, externalAttributes = 0, ...file } of files) {
    const bytes = Buffer.from(data as string);
    const packed = Buffer.from(file.packed ?? (method === 8 ? deflateRawSync(bytes) : bytes));
    const { crc = crc32(bytes), size = bytes.length, offset = at, zip64 = false } = file;
    const common = (extra: Buffer, path: string): Buffer =>
      numbers(
        [zip64 ? 45 : 20, 2],
        [flags, 2],
        [method, 2],
        [0, 2],
        [33, 2],
        [crc, 4],
        [zip64 ? 0xffffffff : packed.length, 4],
        [zip64 ? 0xffffffff : size, 4],
        [Buffer.byteLength(path), 2],
        [extra.length, 2],
      );
    const localExtra = zip64 ? numbers([1, 2], [16, 2], [size, 8], [packed.length, 8]) : Buffer.alloc(0);
    const extra = zip64 ? numbers([1, 2], [24, 2], [size, 8], [packed.length, 8], [offset, 8]) : Buffer.alloc(0);
    const local = [numbers([0x04034b50, 4]), common(localExtra, localName), Buffer.from(localName), localExtra, packed];
    directory.push(
      numbers([0x02014b50, 4], [0x031e, 2]),
      common(extra, name),
      numbers([0, 2], [0, 2], [0, 2], [externalAttributes, 4], [zip64 ? 0xffffffff : offset, 4]),
      Buffer.from(name),
      extra,
    );
    parts.push(...local);
    at += Buffer.concat(local).length;
  }
  const list = Buffer.concat(directory);
  const end = numbers(
    [0x06054b50, 4],
    [0, 2],
    [0, 2],
    [count, 2],
    [count, 2],
    [list.length, 4],
    [at, 4],
    [comment.length, 2],
  );
  const whole = Buffer.concat([...parts, list, end, Buffer.from(comment)]);
  return Uint8Array.from(whole.subarray(0, whole.length - cut));
}

/** Returns numbers one after the other, little-endian, each of this many bytes. */
function numbers(...values: readonly (readonly [value: number, bytes: number])[]): Buffer {
  return Buffer.concat(
    values.map(([value, bytes]) => {
      const buffer = Buffer.alloc(8);
      buffer.writeBigUInt64LE(BigInt(value));
      return buffer.subarray(0, bytes);
    }),
  );
}
