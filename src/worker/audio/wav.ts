import { TabServeError } from '../../contract/errors.js';
import { unreadable } from './not-decoded.js';
import { checkSampleRate } from './samples.js';

/** A WAV file's samples, which are read in blocks. */
export interface Wav {
  readonly sampleRate: number;
  /** Samples of each channel. */
  readonly length: number;
  /** Returns the mean of the channels, block by block. */
  blocks(): AsyncIterable<Float32Array>;
}

/** How a sample is stored. */
interface Format {
  readonly channels: number;
  readonly sampleRate: number;
  readonly bytes: number;
  readonly read: (view: DataView, at: number) => number;
}

const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;

/** The samples by format tag and bits. An integer is divided by its full scale, as libsndfile and torchaudio do. */
const READERS: Readonly<Record<string, Format['read']>> = {
  [`${PCM}/8`]: (view, at) => (view.getUint8(at) - 128) / 2 ** 7,
  [`${PCM}/16`]: (view, at) => view.getInt16(at, true) / 2 ** 15,
  [`${PCM}/24`]: (view, at) => (view.getUint16(at, true) + view.getInt8(at + 2) * 2 ** 16) / 2 ** 23,
  [`${PCM}/32`]: (view, at) => view.getInt32(at, true) / 2 ** 31,
  [`${FLOAT}/32`]: (view, at) => view.getFloat32(at, true),
  [`${FLOAT}/64`]: (view, at) => view.getFloat64(at, true),
};

/** Bytes of a block that is read at once, about. */
const BLOCK = 2 ** 20;

/** The maximum number of chunks before the samples. */
const MAX_CHUNKS = 1000;

/**
 * From this size on, a header does not say how long the data is: programs that write to a pipe put there what they have
 * no number for.
 */
const UNKNOWN_SIZE = 0x7ffff000;

/**
 * Opens a WAV file: PCM of 8, 16, 24 or 32 bits, or floats of 32 or 64 bits, with any number of channels. Its header is
 * read, and nothing else.
 * @throws `invalid-input` if it is no WAV file, of another encoding, damaged, or shorter than its header says
 */
export async function openWav(blob: Blob): Promise<Wav> {
  let format: Format | undefined;
  let at = 12;
  for (let count = 0; count < MAX_CHUNKS; count++) {
    const head = await bytesOf(blob, at, 8);
    if (head.byteLength < 8) break;
    const name = textOf(head.buffer as ArrayBuffer, 0);
    const size = head.getUint32(4, true);
    if (name === 'fmt ') format = formatOf(await bytesOf(blob, at + 8, Math.min(size, 40)));
    if (name === 'data') return wavOf(blob, at + 8, await dataSize(blob, at + 8, size), format);
    at += 8 + size + (size % 2);
  }
  throw damaged('it has no samples: there is no chunk "data" in it');
}

/**
 * Returns the bytes of the samples. A program that writes to a pipe may leave 0 in the header; then the size of the
 * whole file there does not reach the file's end either.
 */
async function dataSize(blob: Blob, start: number, size: number): Promise<number> {
  if (size !== 0 || blob.size === start) return size;
  const whole = (await bytesOf(blob, 4, 4)).getUint32(0, true);
  return whole >= UNKNOWN_SIZE || whole + 8 < blob.size ? UNKNOWN_SIZE : size;
}

function wavOf(blob: Blob, start: number, size: number, format: Format | undefined): Wav {
  if (!format) throw damaged('its chunk "fmt " is missing before its samples');
  const left = blob.size - start;
  if (size > left && size < UNKNOWN_SIZE)
    throw damaged(`it is truncated: its header says ${size} bytes of samples, and it has ${left}`);
  const { channels, sampleRate, bytes } = format;
  const frame = channels * bytes;
  const length = Math.floor(Math.min(size, left) / frame);
  const step = Math.max(1, Math.floor(BLOCK / frame));
  return {
    sampleRate,
    length,
    async *blocks() {
      for (let from = 0; from < length; from += step) {
        const count = Math.min(step, length - from);
        yield meanOf(await bytesOf(blob, start + from * frame, count * frame), count, format);
      }
    },
  };
}

/** Returns the mean of the channels of `count` samples. */
function meanOf(view: DataView, count: number, { channels, bytes, read }: Format): Float32Array {
  const mean = new Float32Array(count);
  let at = 0;
  for (let index = 0; index < count; index++) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel++, at += bytes) sum += read(view, at);
    mean[index] = sum / channels;
  }
  return mean;
}

function formatOf(view: DataView): Format {
  if (view.byteLength < 16) throw damaged(`its chunk "fmt " has ${view.byteLength} bytes, at least 16 are expected`);
  const [tag, channels, sampleRate] = [view.getUint16(0, true), view.getUint16(2, true), view.getUint32(4, true)];
  const [frame, bits] = [view.getUint16(12, true), view.getUint16(14, true)];
  // WAVE_FORMAT_EXTENSIBLE has the tag at the beginning of its subformat.
  const encoding = tag === EXTENSIBLE && view.byteLength >= 26 ? view.getUint16(24, true) : tag;
  // Fewer bits than their bytes have are the upper ones, as 24 bits in four bytes.
  const container = (frame / channels) * 8;
  const isPadded = encoding === PCM && bits > 8 && container > bits && container - bits < 16;
  const read = READERS[`${encoding}/${isPadded ? container : bits}`];
  if (!read)
    throw new TabServeError(
      'invalid-input',
      `The WAV file has the encoding ${encoding} with ${bits} bits, which is not decoded: PCM (1) of 8, 16, 24 or 32 bits is, and floats (3) of 32 or 64. Save it as 16-bit PCM.`,
    );
  if (channels === 0 || (!isPadded && frame !== (channels * bits) / 8))
    throw damaged(`its header says ${channels} channels of ${bits} bits in ${frame} bytes`);
  checkSampleRate(sampleRate, "The WAV file's");
  return { channels, sampleRate, bytes: frame / channels, read };
}

async function bytesOf(blob: Blob, from: number, count: number): Promise<DataView> {
  try {
    return new DataView(await blob.slice(from, from + count).arrayBuffer());
  } catch (cause) {
    throw unreadable(cause);
  }
}

function textOf(bytes: ArrayBuffer, at: number): string {
  return String.fromCharCode(...new Uint8Array(bytes, at, 4));
}

function damaged(why: string): TabServeError {
  return new TabServeError('invalid-input', `The WAV file is damaged: ${why}.`);
}
