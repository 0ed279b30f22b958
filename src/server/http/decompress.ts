import { shorten } from '../../contract/describe-value.js';
import { messageOf } from '../../contract/errors.js';
import { GrowingBytes } from '../../shared/growing-bytes.js';
import { badRequest, ServingError } from '../serving-error.js';
import type { ByteStreams, HttpRequest } from './messages.js';

/** What every platform decodes; `deflate` is zlib's format, as HTTP means it. */
const STANDARD: ReadonlyMap<string, CompressionFormat> = new Map([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
]);

/**
 * Returns what decodes a request's body to at most this many bytes.
 * @throws `invalid-input` (415) for an encoding that is not known here; the answer says which are (RFC 7694)
 */
export function decompressorOf(
  { decoders }: HttpRequest,
  encoding: string,
  maxBytes: number,
  tooLarge: () => Error,
): (bytes: ArrayBuffer) => Promise<ArrayBuffer> {
  const format = STANDARD.get(encoding);
  const open = format ? () => new DecompressionStream(format) : decoders?.get(encoding);
  if (!open) {
    const known = ['gzip', 'deflate', ...(decoders?.keys() ?? [])].join(', ');
    const message = `The body is compressed (${shorten(encoding)}): send it as it is, or by one of ${known}.`;
    throw new ServingError('invalid-input', 415, 'BadRequestException', message, undefined, {
      'Accept-Encoding': known,
    });
  }
  return async (bytes) => {
    const wrong = (cause: unknown): Error =>
      badRequest(`The body is not what its Content-Encoding says (${encoding}): ${messageOf(cause)}`, cause);
    const decoded = await readUpTo(bytes, open(), maxBytes).catch((cause: unknown) => {
      throw wrong(cause);
    });
    if (!decoded) throw tooLarge();
    return decoded;
  };
}

/** Returns undefined for more bytes: a kilobyte may become a megabyte, which is never made. */
async function readUpTo(
  bytes: ArrayBuffer,
  { readable, writable }: ByteStreams,
  maxBytes: number,
): Promise<ArrayBuffer | undefined> {
  const writer = writable.getWriter();
  // An error of either is one of the reader, too.
  const written = writer.write(new Uint8Array(bytes)).then(() => writer.close());
  written.catch(() => {});
  const decoded = new GrowingBytes();
  const reader = readable.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    decoded.append(value);
    if (decoded.length <= maxBytes) continue;
    await reader.cancel().catch(() => {});
    return undefined;
  }
  await written;
  return decoded.take().buffer;
}
