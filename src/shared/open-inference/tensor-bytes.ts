/**
 * The elements of a tensor as bytes, after Triton's binary tensor data extension: little-endian, row by row. A string
 * is its length (uint32) and its UTF-8.
 */
import { DTYPES } from '../../contract/dtypes.js';
import type { DType, Tensor, TensorDataMap } from '../../contract/tensors.js';
import { Fault } from './fault.js';

const LENGTH_BYTES = 4;

/** Returns a tensor's elements as bytes: for any dtype but string, a view of its data. */
export function dataToBytes({ dtype, data }: Tensor): Uint8Array {
  if (dtype !== 'string') {
    const { buffer, byteOffset, byteLength } = data as ArrayBufferView;
    return new Uint8Array(buffer, byteOffset, byteLength);
  }
  const texts = (data as readonly string[]).map((text) => new TextEncoder().encode(text));
  const bytes = new Uint8Array(texts.reduce((sum, { length }) => sum + LENGTH_BYTES + length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const text of texts) {
    view.setUint32(at, text.length, true);
    bytes.set(text, at + LENGTH_BYTES);
    at += LENGTH_BYTES + text.length;
  }
  return bytes;
}

/**
 * Reads a tensor's elements from a copy of its bytes.
 * @param size the number of elements that the dims make
 * @throws `Fault` for another number of bytes, a BOOL that is neither 0 nor 1, a text that is not UTF-8
 */
export function dataFromBytes(
  bytes: Uint8Array,
  dtype: DType,
  dims: readonly number[],
  size: number,
): TensorDataMap[DType] {
  const { array } = DTYPES[dtype];
  if (!array) return readTexts(bytes, size);
  if (bytes.length !== size * array.BYTES_PER_ELEMENT)
    throw new Fault(
      `it has ${bytes.length} bytes, and its shape [${dims.join(', ')}] needs ${size * array.BYTES_PER_ELEMENT}`,
    );
  if (dtype === 'bool' && bytes.some((value) => value > 1)) throw new Fault('a byte of its BOOL is neither 0 nor 1');
  return new array(bytes.slice().buffer as ArrayBuffer);
}

function readTexts(bytes: Uint8Array, size: number): readonly string[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const texts: string[] = [];
  let at = 0;
  while (at < bytes.length) {
    const from = at + LENGTH_BYTES;
    at = from > bytes.length ? Infinity : from + view.getUint32(at, true);
    if (at > bytes.length) throw new Fault(`its text ${texts.length} runs past the end of its ${bytes.length} bytes`);
    try {
      texts.push(decoder.decode(bytes.subarray(from, at)));
    } catch (cause) {
      throw new Fault(`its text ${texts.length} is not UTF-8`, { cause });
    }
    if (texts.length > size) break;
  }
  if (texts.length !== size)
    throw new Fault(
      `it has ${texts.length} texts${texts.length > size ? ' or more' : ''}, and its shape needs ${size}`,
    );
  return texts;
}
