/** The frames of an MP3 file, by their headers. */

/** How many bytes of a file are read at once. */
const CHUNK = 2 ** 20;
/** Bytes of the header of a tag, which is longer than that of a frame. */
const HEADER = 10;
/** So many frames in a row are no accident, as one in a picture may be. */
const SURE = 4;

/** kbit/s of layer 3 by their index, of MPEG 1 and of MPEG 2. */
const BIT_RATES = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const;
const SAMPLE_RATES = [44_100, 48_000, 32_000] as const;
/** By the two bits of a header; 1 is reserved. */
const RATE_DIVISORS = [4, undefined, 2, 1] as const;

interface Frame {
  /** The same for frames of one sample rate and one number of channels. */
  readonly kind: string;
  /** In bytes. */
  readonly size: number;
}

/**
 * Returns whether the sample rate or the number of channels changes, as in files that were put together. Mediabunny leaves
 * out the frames that are not like the first one.
 */
export async function isMixed(blob: Blob): Promise<boolean> {
  let first: string | undefined;
  let [kind, count] = ['', 0];
  let [chunk, from] = [new Uint8Array(0), 0];
  for (let at = 0; at + HEADER <= blob.size;) {
    if (at + HEADER > from + chunk.length)
      [chunk, from] = [new Uint8Array(await blob.slice(at, at + CHUNK).arrayBuffer()), at];
    const header = chunk.subarray(at - from, at - from + HEADER);
    const tag = tagSize(header);
    const frame = frameOf(header);
    at += tag || frame?.size || 1;
    if (tag > 0) continue;
    [kind, count] = frame ? [frame.kind, frame.kind === kind ? count + 1 : 1] : ['', 0];
    if (count < SURE) continue;
    first ??= kind;
    if (first !== kind) return true;
  }
  return false;
}

/** Returns the bytes of a tag ID3v2; 0 if there is none. */
export function tagSize(header: Uint8Array): number {
  if (String.fromCharCode(...header.subarray(0, 3)) !== 'ID3') return 0;
  return header.subarray(6, 10).reduce((size, byte) => size * 128 + (byte & 127), 0) + HEADER;
}

/** Reads the header of a frame of layer 3; undefined if it is none. */
function frameOf([first = 0, second = 0, third = 0, fourth = 0]: Uint8Array): Frame | undefined {
  const version = (second >>> 3) & 3;
  const divisor = RATE_DIVISORS[version];
  const isLayer3 = first === 0xff && second >>> 5 === 7 && ((second >>> 1) & 3) === 1;
  const bitRate = BIT_RATES[version === 3 ? 0 : 1][third >>> 4];
  const rate = SAMPLE_RATES[(third >>> 2) & 3];
  if (!isLayer3 || !divisor || !bitRate || !rate) return undefined;
  const sampleRate = rate / divisor;
  const bytes = Math.floor(((version === 3 ? 144_000 : 72_000) * bitRate) / sampleRate);
  return { kind: `${sampleRate} ${fourth >>> 6 === 3}`, size: bytes + ((third >>> 1) & 1) };
}
