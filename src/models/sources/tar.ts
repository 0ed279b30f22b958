import { createTarDecoder, type ParsedTarEntry } from 'modern-tar';
import { shorten } from '../../contract/describe-value.js';
import { isError, messageOf, TabServeError } from '../../contract/errors.js';
import { listFiles, MAX_FILES, maxUnpackedBytes, tooLarge, tooMany } from './listing.js';

/**
 * Unpacks a tar file, which can be read only from start to end.
 * @param isGzip whether it is compressed; a server's `Content-Encoding` may have removed that
 * @returns the files by path
 * @throws `model-format` if it is damaged or hostile; `unsupported` if it holds links or devices
 */
export async function unpackTar(name: string, packed: Blob, isGzip: boolean): Promise<Record<string, Blob>> {
  const limit = maxUnpackedBytes(packed.size);
  const tar = isGzip ? packed.stream().pipeThrough(new DecompressionStream('gzip')) : packed.stream();
  const counted = tar.pipeThrough(limitBytes(limit, () => tooLarge(name, packed.size)));
  const entries: [string, Blob][] = [];
  const reader = counted.pipeThrough(createTarDecoder({ strict: true })).getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const entry = await readEntry(name, next.value);
      if (entry && entries.push(entry) > MAX_FILES) throw tooMany(name);
    }
  } catch (cause) {
    void reader.cancel(cause).catch(() => {});
    if (isError(cause) && cause instanceof TabServeError) throw cause;
    const why = isError(cause) ? messageOf(cause) : String(cause);
    throw new TabServeError('model-format', `${name} is a damaged tar file: ${why}`, { cause });
  }
  return Object.fromEntries(listFiles(name, entries));
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
