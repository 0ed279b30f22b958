import { createTarDecoder, type ParsedTarEntry } from 'modern-tar';
import { shorten } from '../../../contract/describe-value.js';
import { isError, messageOf, TabServeError } from '../../../contract/errors.js';
import { MAX_FILES } from '../../../contract/limits.js';
import { listFiles, maxUnpackedBytes, tooLarge, tooMany } from './listing.js';

/**
 * Unpacks a tar file, which can be read only from start to end.
 * @param isGzip whether it is compressed; a server's `Content-Encoding` may have removed that
 * @returns the files by path
 * @throws `model-format` if it is damaged or hostile; `unsupported` if it holds links or devices
 */
export async function unpackTar(name: string, packed: Blob, isGzip: boolean): Promise<Record<string, Blob>> {
  const limit = maxUnpackedBytes(packed.size);
  const tar = isGzip ? packed.stream().pipeThrough(new DecompressionStream('gzip')) : packed.stream();
  const counted = tar.pipeThrough(limitBytes(limit, () => tooLarge(name, packed.size))).pipeThrough(checkTypes(name));
  const entries: [string, Blob][] = [];
  let count = 0;
  const reader = counted.pipeThrough(createTarDecoder({ strict: true })).getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (++count > MAX_FILES) throw tooMany(name);
      const entry = await readEntry(name, next.value);
      if (entry) entries.push(entry);
    }
  } catch (cause) {
    void reader.cancel(cause).catch(() => {});
    if (isError(cause) && cause instanceof TabServeError) throw cause;
    throw new TabServeError(
      'model-format',
      `${name} is a damaged tar file: ${messageOf(cause)}. Download or copy it again, and compare its size with the original's.`,
      { cause },
    );
  }
  return Object.fromEntries(listFiles(name, entries));
}

const BLOCK = 512;
const [SIZE_AT, SIZE_LENGTH, TYPE_AT, MAGIC_AT, MAGIC] = [124, 12, 156, 257, 'ustar'] as const;
/** Links, devices and folders. */
const WITHOUT_CONTENT = new Set('123456');
/** Also files, and the headers of POSIX and GNU for long names. */
const TYPES = new Set([...WITHOUT_CONTENT, ...'0xgLK', '\0']);

/**
 * Returns a stream that ends with an error at a file of a type that tar readers treat as a plain file: a sparse file of
 * GNU, say, whose gaps would be missing. Each file begins with a block that has its type and its size, in octal digits.
 */
function checkTypes(name: string): TransformStream<Uint8Array, Uint8Array> {
  const header = new Uint8Array(BLOCK);
  let [filled, skip] = [0, 0];
  return new TransformStream({
    transform(chunk, controller) {
      for (let at = 0; at < chunk.length;) {
        const part = chunk.subarray(at, at + (skip || BLOCK - filled));
        at += part.length;
        if (skip > 0) {
          skip -= part.length;
          continue;
        }
        header.set(part, filled);
        filled += part.length;
        if (filled < BLOCK) break;
        filled = 0;
        const text = (from: number, length: number): string =>
          String.fromCharCode(...header.subarray(from, from + length));
        const type = text(TYPE_AT, 1);
        if (!TYPES.has(type) && text(MAGIC_AT, MAGIC.length) === MAGIC)
          throw new TabServeError(
            'unsupported',
            `${name} has a file of the type ${JSON.stringify(type)}, such as a sparse file; pack plain files and folders only.`,
          );
        const size = WITHOUT_CONTENT.has(type) ? 0 : Number.parseInt(text(SIZE_AT, SIZE_LENGTH), 8) || 0;
        skip = Math.ceil(size / BLOCK) * BLOCK;
      }
      controller.enqueue(chunk);
    },
  });
}

async function readEntry(name: string, { header, body }: ParsedTarEntry): Promise<[string, Blob] | undefined> {
  if (header.type === 'directory') {
    await body.cancel();
    return undefined;
  }
  if (header.type !== 'file')
    throw new TabServeError(
      'unsupported',
      `${name}: "${shorten(header.name)}" is a ${header.type}; pack files and folders only.`,
    );
  const blob = await new Response(body as ReadableStream<Uint8Array<ArrayBuffer>>).blob();
  return [header.name.replace(/^(\.\/)+/, ''), blob];
}

/** Returns a stream that ends with an error if more than `limit` bytes go through it. */
function limitBytes(limit: number, error: () => Error): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > limit) throw error();
      controller.enqueue(chunk);
    },
  });
}
