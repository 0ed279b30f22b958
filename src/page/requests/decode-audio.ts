import type { AudioSamples } from '../../contract/audio.js';
import { describeValue } from '../../contract/describe-value.js';
import { messageOf, TabServeError } from '../../contract/errors.js';
import { audioFormatOf, FORMAT_BYTES, isDecodedInWorkers } from '../../shared/audio-format.js';
import { withinLimit } from '../../shared/limit.js';

/** Milliseconds for which the browser may decode one file. */
const MAX_MS = 120_000;

/** The sample rate of a format whose header does not say it, and of Opus. */
const USUAL_RATE = 48_000;

/** Bytes in which the sample rate is looked for. */
const HEADER_BYTES = 2 ** 18;

/**
 * Decodes an audio file with the browser's decoder: AIFF, CAF, whatever else it knows, and in a browser without
 * WebCodecs also MP3, AAC, FLAC, Ogg Vorbis and Opus. A file that a worker decodes is returned as it is. The decoder resamples to the rate that it is given, so it gets the file's own rate, where
 * its header says it.
 * @throws `invalid-input` if the browser cannot decode it
 */
export async function decodeAudio(file: Blob): Promise<Blob | AudioSamples> {
  if (isDecodedInWorkers(audioFormatOf(await bytesOf(file.slice(0, FORMAT_BYTES))))) return file;
  const { buffer: bytes } = await bytesOf(file);
  const start = new Uint8Array(bytes, 0, Math.min(bytes.byteLength, HEADER_BYTES));
  if (typeof OfflineAudioContext === 'undefined')
    throw new TabServeError(
      'unsupported',
      'There is no audio decoder here, only that of WAV. Convert the file: ffmpeg -i FILE sound.wav',
    );
  const context = contextOf(nativeRate(start) ?? USUAL_RATE);
  try {
    const buffer = await withinLimit("The browser's audio decoder", () => context.decodeAudioData(bytes), {
      milliseconds: MAX_MS,
    });
    const channels = Array.from({ length: buffer.numberOfChannels }, (_, index) => buffer.getChannelData(index));
    return { channels, sampleRate: buffer.sampleRate };
  } catch (cause) {
    if (cause instanceof TabServeError) throw cause;
    throw new TabServeError(
      'invalid-input',
      `The audio file of type ${describeValue(file.type)} and ${file.size} bytes could not be decoded: ${messageOf(cause)}. It is damaged, encrypted, no audio, or of a format that this browser does not know. Convert it to WAV: ffmpeg -i FILE sound.wav`,
      { cause },
    );
  }
}

/** Returns a context with a file's sample rate, or with the usual one if the browser does not support that rate. */
function contextOf(rate: number): OfflineAudioContext {
  try {
    return new OfflineAudioContext(1, 1, rate);
  } catch {
    return new OfflineAudioContext(1, 1, USUAL_RATE);
  }
}

/** @throws `invalid-input` */
async function bytesOf(file: Blob): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch (cause) {
    throw new TabServeError('invalid-input', 'The audio file cannot be read: it has been changed, moved or removed.', {
      cause,
    });
  }
}

/**
 * Reads the sample rate in the header of an audio file.
 */

const MPEG_RATES = [44_100, 48_000, 32_000];
const AAC_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];

/**
 * Returns the sample rate of MP3, AAC, FLAC, Ogg Vorbis and MP4 with AAC; undefined for other formats, and for a header
 * that does not say it.
 * @param bytes the file's beginning
 */
export function nativeRate(bytes: Uint8Array): number | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = (at: number, length = 4): string => String.fromCharCode(...bytes.subarray(at, at + length));
  try {
    // The 20 bits after the block and frame sizes of STREAMINFO.
    if (text(0) === 'fLaC') return view.getUint32(18) >>> 12;
    if (text(0) === 'OggS') {
      const packet = 27 + view.getUint8(26);
      return text(packet + 1, 6) === 'vorbis' ? view.getUint32(packet + 12, true) : undefined;
    }
    if (text(4) === 'ftyp') return mp4Rate(view, text);
    return mpegRate(view, text(0, 3) === 'ID3' ? 10 + syncSafe(view, 6) : 0);
  } catch {
    // The header ends too early.
    return undefined;
  }
}

/** Returns the sample rate of an MPEG file's first frame, which begins with eleven bits set. */
function mpegRate(view: DataView, at: number): number | undefined {
  const head = view.getUint32(at);
  if (head >>> 21 !== 0x7ff) return undefined;
  const [version, layer] = [(head >>> 19) & 3, (head >>> 17) & 3];
  if (layer === 0) return AAC_RATES[(head >>> 10) & 15];
  const rate = MPEG_RATES[(head >>> 10) & 3];
  // MPEG 1, 2 and 2.5.
  return rate === undefined || version === 1 ? undefined : rate / (version === 3 ? 1 : version === 2 ? 2 : 4);
}

/** Returns the sample rate in the sample entry `mp4a`, a number of 16.16 bits. */
function mp4Rate(view: DataView, text: (at: number) => string): number | undefined {
  for (let at = 0; at + 32 <= view.byteLength; at++)
    if (view.getUint8(at) === 0x6d && text(at) === 'mp4a') return view.getUint32(at + 28) >>> 16 || undefined;
  return undefined;
}

function syncSafe(view: DataView, at: number): number {
  return [0, 1, 2, 3].reduce((size, index) => size * 128 + (view.getUint8(at + index) & 127), 0);
}
