import type { AudioSamples } from '../../contract/audio.js';
import { describeValue } from '../../contract/describe-value.js';
import { messageOf, TabServeError } from '../../contract/errors.js';
import { withinLimit } from '../../shared/limit.js';
import { nativeRate } from './native-rate.js';

/** Milliseconds for which the browser may decode one file. */
const MOST_MS = 120_000;

/** The sample rate of a format whose header does not say it, and of Opus. */
const USUAL_RATE = 48_000;

/** Bytes in which the sample rate is looked for. */
const HEADER_BYTES = 2 ** 18;

/**
 * Decodes an audio file with the browser's decoder: MP3, AAC, FLAC, Ogg Vorbis, Opus, and whatever else it knows. A WAV file is returned as it is. The decoder resamples to the rate that
 * it is given, so it gets the file's own rate, where its header says it.
 * @throws `invalid-input` if the browser cannot decode it
 */
export async function decodeAudio(file: Blob): Promise<Blob | AudioSamples> {
  const bytes = await file.arrayBuffer().catch((cause: unknown) => {
    throw new TabServeError('invalid-input', 'The audio file cannot be read: it has been changed, moved or removed.', {
      cause,
    });
  });
  const start = new Uint8Array(bytes, 0, Math.min(bytes.byteLength, HEADER_BYTES));
  if (textAt(start, 0) === 'RIFF' && textAt(start, 8) === 'WAVE') return file;
  if (typeof OfflineAudioContext === 'undefined')
    throw new TabServeError('unsupported', 'There is no audio decoder here: pass a WAV file, or samples.');
  const context = contextOf(nativeRate(start) ?? USUAL_RATE);
  try {
    const buffer = await withinLimit("The browser's audio decoder", () => context.decodeAudioData(bytes), {
      milliseconds: MOST_MS,
    });
    const channels = Array.from({ length: buffer.numberOfChannels }, (_, index) => buffer.getChannelData(index));
    return { channels, sampleRate: buffer.sampleRate };
  } catch (cause) {
    if (cause instanceof TabServeError) throw cause;
    throw new TabServeError(
      'invalid-input',
      `The audio file of type ${describeValue(file.type)} and ${file.size} bytes could not be decoded: ${messageOf(cause)}. It is damaged, no audio, or of a format that this browser does not know.`,
      { cause },
    );
  }
}

/** A browser may not support a file's rate. */
function contextOf(rate: number): OfflineAudioContext {
  try {
    return new OfflineAudioContext(1, 1, rate);
  } catch {
    return new OfflineAudioContext(1, 1, USUAL_RATE);
  }
}

function textAt(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}
