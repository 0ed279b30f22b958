import type { BlobReader, FileEntry } from '@zip.js/zip.js/lib/zip-core-custom.js';
import { shorten } from '../../../contract/describe-value.js';
import { isError, messageOf, TabServeError } from '../../../contract/errors.js';
import { MAX_FILES } from '../../../contract/limits.js';
import { load } from '../../libraries/zip.js';
import { listFiles, maxUnpackedBytes, tooLarge, tooMany } from './listing.js';
import { missingFrom, type Source } from './source.js';

/** The maximum number of bytes of a list of files. */
const MAX_DIRECTORY_BYTES = 2 ** 23;
const STORED = 0;
const DEFLATED = 8;

/**
 * Opens a zip file. Its list of files is read and checked; a file is read, inflated and compared with its checksum when
 * it is asked for. A file that is stored as it is becomes a slice of the packed Blob, without a copy.
 * @throws `model-format` if it is damaged, ambiguous or hostile; `unsupported` if it is encrypted, or uses another
 *   method than store and deflate
 */
export async function openZip(url: string, packed: Blob): Promise<Source> {
  const files = listFiles(
    url,
    (await readDirectory(url, packed)).map((entry) => [entry.filename, entry] as const),
  );
  return {
    url,
    paths: [...files.keys()],
    read: async (path) => {
      const entry = files.get(path);
      return entry && (await extract(url, packed, entry));
    },
    has: (path) => Promise.resolve(files.has(path)),
    missing: (path) => missingFrom(url, path, [...files.keys()]),
  };
}

async function readDirectory(name: string, packed: Blob): Promise<FileEntry[]> {
  const { BlobReader, configure, ZipReader } = await load();
  // A chunk inflates to at most 1032 times its size before it is counted.
  configure({ useWebWorkers: false, useCompressionStream: true, chunkSize: 16_384 });
  const entries: FileEntry[] = [];
  const total = { count: 0, packed: 0, unpacked: 0 };
  try {
    const reader = new ZipReader(bounded(new BlobReader(packed)), { strictness: 'strict' });
    for await (const entry of reader.getEntriesGenerator()) {
      if (++total.count > MAX_FILES) throw tooMany(name);
      if (entry.directory) continue;
      check(name, entry);
      total.packed += entry.compressedSize;
      total.unpacked += entry.uncompressedSize;
      entries.push(entry);
      if (total.unpacked > maxUnpackedBytes(packed.size)) throw tooLarge(name, packed.size);
      if (total.packed > packed.size) throw damaged(name, 'its files overlap');
    }
    checkOverlap(name, entries);
  } catch (error) {
    throw damaged(name, error);
  }
  return entries;
}

function check(name: string, entry: FileEntry): void {
  const { filename, encrypted, symlink, compressionMethod, compressedSize, uncompressedSize } = entry;
  const refused = (why: string): TabServeError =>
    new TabServeError('unsupported', `${name}: "${shorten(filename)}" ${why}.`);
  if (encrypted) throw refused('is encrypted; pack it without a password');
  if (symlink) throw refused('is a link; pack the file itself');
  if (compressionMethod !== STORED && compressionMethod !== DEFLATED)
    throw refused(`is packed by method ${compressionMethod}; pack it with deflate, or store it`);
  if (compressionMethod === STORED && compressedSize !== uncompressedSize)
    throw damaged(name, `"${shorten(filename)}" has two different sizes`);
}

/** Bytes of the header in front of a file, without the name. */
const LOCAL_HEADER_BYTES = 30;

function checkOverlap(name: string, entries: readonly FileEntry[]): void {
  let end = 0;
  for (const { offset, rawFilename, compressedSize } of [...entries].sort((a, b) => a.offset - b.offset)) {
    if (offset < end) throw damaged(name, 'its files overlap');
    end = offset + LOCAL_HEADER_BYTES + rawFilename.length + compressedSize;
  }
}

/** Returns a file, whose bytes have its checksum. */
async function extract(name: string, packed: Blob, entry: FileEntry): Promise<Blob> {
  const options = { checkCrc32: true, checkOverlappingEntry: true, preventClose: false } as const;
  try {
    if (entry.compressionMethod === STORED) {
      await entry.getData(new WritableStream(), options);
      const start = entry.localDirectory!.dataOffset;
      return packed.slice(start, start + entry.compressedSize);
    }
    const { readable, writable } = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>();
    const [blob] = await Promise.all([new Response(readable).blob(), entry.getData(writable, options)]);
    return blob;
  } catch (error) {
    throw damaged(name, error, `"${shorten(entry.filename)}": `);
  }
}

function damaged(name: string, why: unknown, where = ''): TabServeError {
  if (isError(why) && why instanceof TabServeError) return why;
  const { reason, filename } = why as { reason?: unknown; filename?: unknown };
  const details = [reason, filename].filter((one) => typeof one === 'string').map((one) => `: ${shorten(one)}`);
  const text = isError(why) ? `${messageOf(why)}${details.join('')}` : String(why);
  return new TabServeError(
    'model-format',
    `${name} is a damaged zip file: ${where}${text}. Download or copy it again, and compare its size with the original's.`,
    { cause: why },
  );
}

/** Makes a reader refuse what is larger than a list of files may be; the files themselves are streamed. */
function bounded(reader: BlobReader): BlobReader {
  const read = reader.readUint8Array.bind(reader);
  reader.readUint8Array = async (offset, length) => {
    if (length > MAX_DIRECTORY_BYTES) throw new Error(`its list of files has more than ${MAX_DIRECTORY_BYTES} bytes`);
    return await read(offset, length);
  };
  return reader;
}
