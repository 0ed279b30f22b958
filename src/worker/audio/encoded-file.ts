/** Audio files that the browser's WebCodecs decode, packet by packet. */
import type { AudioSample, Input, InputAudioTrack } from 'mediabunny';
import { messageOf, TabServeError } from '../../contract/errors.js';
import type { AudioFormat } from '../../shared/audio-format.js';
import { load } from '../libraries/mediabunny.js';
import { isMixed, tagSize } from './mp3-frames.js';
import { unreadable } from './not-decoded.js';
import type { Recording } from './read-audio.js';
import { checkSampleRate, meanOfChannels } from './samples.js';

/** Seconds that the sound may end before the time that the header says, which counts whole packets. */
const MOST_LESS = 0.25;

/** The most bytes of a frame of MP3: 320 kbit/s at 32 kHz, and a byte of padding. */
const MAX_FRAME = 1441;

/**
 * Opens an encoded file. Its first packet is decoded, the others when they are read, so that a long recording takes no
 * memory. What lies before 0 seconds is left out: it is the delay of the encoder. The length is the one that the file's
 * header says, or that of its packets.
 * @throws `invalid-input` if it has no sound, is damaged or encrypted, or of an encoding that this browser does not know;
 *   when its end is read, if it is shorter than its header says
 */
export async function openEncoded(blob: Blob, format: AudioFormat): Promise<Recording> {
  const { ADTS, AudioSampleSink, BlobSource, FLAC, Input, MATROSKA, MP3, MP4, OGG, QTFF, WEBM } = await load();
  const formats = [ADTS, FLAC, MATROSKA, MP3, MP4, OGG, QTFF, WEBM];
  const open = (): Input => new Input({ source: new BlobSource(blob), formats });

  async function* decode(): AsyncGenerator<AudioSample> {
    const input = open();
    try {
      yield* new AudioSampleSink(await trackOf(input, format)).samples();
    } catch (error) {
      throw await failureOf(blob, format, error);
    } finally {
      input.dispose();
    }
  }

  async function* blocks(): AsyncGenerator<Float32Array> {
    let end = 0;
    for await (const sample of decode())
      try {
        end = sample.timestamp + sample.duration;
        const block = meanOf(sample);
        if (block.length === 0) continue;
        if (sample.sampleRate !== sampleRate)
          throw undecodable(format, `its sample rate changes from ${sampleRate} to ${sample.sampleRate}`);
        yield block;
      } finally {
        sample.close();
      }
    if (end < seconds - MOST_LESS)
      throw undecodable(
        format,
        `it is truncated or damaged: it says that it ends after ${seconds.toFixed(1)} s, and its sound ends after ${end.toFixed(1)} s`,
      );
  }

  const seconds = await secondsOf(open(), blob, format);
  const sampleRate = await firstRate(decode(), format);
  return { sampleRate, length: Math.round(seconds * sampleRate), blocks };
}

/** Returns the track of a file's sound. @throws `invalid-input` if there is none that can be decoded */
async function trackOf(input: Input, format: AudioFormat): Promise<InputAudioTrack> {
  const track = await input.getPrimaryAudioTrack();
  if (!track) throw undecodable(format, 'the file has no sound');
  if (await track.canDecode()) return track;
  const encoding = (await track.getCodec()) ?? (await track.getInternalCodecId());
  throw undecodable(format, `this browser does not decode ${encoding ?? 'its encoding'}, or the file is encrypted`);
}

/** Returns when a file's sound ends, and closes the file. @throws `invalid-input` */
async function secondsOf(input: Input, blob: Blob, format: AudioFormat): Promise<number> {
  try {
    if (format === 'MP3' && (await isMixed(blob)))
      throw undecodable(format, 'its sample rate or its number of channels changes');
    const track = await trackOf(input, format);
    const isSaid =
      format === 'MP3'
        ? await saysFrames(blob)
        : // The length in a WebM file is that of its longest track.
          format !== 'WebM' || (await input.getTracks()).length === 1;
    return (isSaid ? await track.getDurationFromMetadata() : null) ?? (await track.computeDuration());
  } catch (error) {
    throw await failureOf(blob, format, error);
  } finally {
    input.dispose();
  }
}

/**
 * Returns whether an MP3 file has a frame that says how many there are. Without one, Mediabunny takes all frames for as large
 * as the first one.
 */
async function saysFrames(blob: Blob): Promise<boolean> {
  const tag = tagSize(new Uint8Array(await blob.slice(0, 10).arrayBuffer()));
  return /Xing|Info/.test(await blob.slice(tag, tag + MAX_FRAME).text());
}

/** Returns the sample rate that the decoder makes, which a header of AAC may not say. @throws `invalid-input` */
async function firstRate(samples: AsyncGenerator<AudioSample>, format: AudioFormat): Promise<number> {
  const { value: first } = await samples.next();
  await samples.return(undefined);
  if (!first) throw undecodable(format, 'it has no packet');
  first.close();
  checkSampleRate(first.sampleRate, `The ${format} file's`);
  return first.sampleRate;
}

/** Returns the mean of the channels, from 0 seconds on. */
function meanOf(sample: AudioSample): Float32Array {
  const { numberOfChannels, numberOfFrames, sampleRate, timestamp } = sample;
  const before = Math.min(numberOfFrames, Math.max(0, Math.round(-timestamp * sampleRate)));
  const channels = Array.from({ length: numberOfChannels }, (_, planeIndex) => {
    const channel = new Float32Array(numberOfFrames - before);
    if (channel.length > 0) sample.copyTo(channel, { planeIndex, format: 'f32-planar', frameOffset: before });
    return channel;
  });
  return meanOfChannels(channels);
}

/** Returns the error for what the reader or the decoder has thrown. */
async function failureOf(blob: Blob, format: AudioFormat, error: unknown): Promise<TabServeError> {
  if (error instanceof TabServeError) return error;
  const isThere = blob.slice(0, 1).arrayBuffer();
  return await isThere.then(() => undecodable(format, error), unreadable);
}

/** @param why words, or what the reader or the decoder has thrown */
function undecodable(format: AudioFormat, why: unknown): TabServeError {
  const words =
    typeof why === 'string'
      ? why
      : `it is damaged, or of an encoding that this browser does not know (${messageOf(why).replace(/\.$/, '')})`;
  return new TabServeError(
    'invalid-input',
    `The sound of the ${format} file cannot be decoded here: ${words}. Convert it to WAV: ffmpeg -i FILE sound.wav`,
    typeof why === 'string' ? {} : { cause: why },
  );
}
