import type { AudioInput } from '../../contract/audio.js';
import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import type { Context } from '../../contract/handler.js';
import { checkKeys } from '../../shared/check-keys.js';
import { audioFormatOf, FORMAT_BYTES, isDecodedInWorkers } from '../../shared/audio-format.js';
import { openEncoded } from './encoded-file.js';
import { notDecoded } from './not-decoded.js';
import { Resampler } from './resampler.js';
import { checkFinite, checkLengths, checkSampleRate, meanOfChannels } from './samples.js';
import { openWav } from './wav.js';

/** Sound of one channel at its own sample rate, as blocks. */
export interface Recording {
  readonly sampleRate: number;
  /** Samples in all; of an encoded file about as many, as it says. */
  readonly length: number;
  blocks(): AsyncIterable<Float32Array> | Iterable<Float32Array>;
}

/**
 * Opens any sound as one channel: the mean of its channels.
 * @throws `invalid-input` if it is no sound, has an unknown key, is of a sample rate outside of 1,000 to 768,000, or a file that cannot be
 *   decoded here
 */
export async function openAudio(input: AudioInput): Promise<Recording> {
  if (typeof Blob !== 'undefined' && input instanceof Blob) return await openFile(input);
  const { sampleRate, ...given } = (typeof input === 'object' && input !== null ? input : {}) as {
    readonly sampleRate?: unknown;
    readonly samples?: unknown;
    readonly channels?: unknown;
  };
  const channels = given.channels ?? [given.samples];
  if (!Array.isArray(channels) || channels.length === 0 || !channels.every((one) => one instanceof Float32Array))
    throw new TabServeError(
      'invalid-input',
      `Expected audio: a Blob or File, an AudioBuffer, a URL object, or { samples, sampleRate } with a Float32Array; got ${describeValue(input)}.`,
    );
  checkKeys(input, given.channels === undefined ? ['samples', 'sampleRate', 'dropped'] : ['channels', 'sampleRate']);
  checkSampleRate(sampleRate, "The audio's");
  checkLengths(channels as Float32Array[]);
  return recordingOfChannels(channels as Float32Array[], sampleRate);
}

/** Samples of a block of sound that is in memory: a longer one would be there twice, and once more resampled. */
const BLOCK = 2 ** 18;

/** Returns the recording of one channel. */
export function recordingOf(samples: Float32Array, sampleRate: number): Recording {
  return recordingOfChannels([samples], sampleRate);
}

/** @param channels of one length, at least one */
function recordingOfChannels(channels: readonly Float32Array[], sampleRate: number): Recording {
  const { length } = channels[0]!;
  return {
    sampleRate,
    length,
    *blocks() {
      for (let at = 0; at < length; at += BLOCK)
        yield meanOfChannels(channels.map((samples) => samples.subarray(at, at + BLOCK)));
    },
  };
}

async function openFile(blob: Blob): Promise<Recording> {
  const start = await blob
    .slice(0, FORMAT_BYTES)
    .arrayBuffer()
    .catch(() => new ArrayBuffer(0));
  const format = audioFormatOf(new Uint8Array(start));
  if (format === 'WAV') return await openWav(blob);
  if (format && isDecodedInWorkers(format)) return await openEncoded(blob, format);
  throw notDecoded(blob, format);
}

/** What ends the work on a recording, and hears that it goes on: to decode an hour may take minutes. */
export type DecodingContext = Pick<Context, 'signal' | 'heartbeat'>;

/**
 * Returns a recording at another sample rate, as blocks.
 * @param mostSeconds a longer recording is refused before it is decoded
 * @throws `invalid-input`; the reason of the context's signal
 */
export async function* resampled(
  recording: Recording,
  rate: number,
  mostSeconds: number,
  context?: DecodingContext,
): AsyncGenerator<Float32Array, void, undefined> {
  checkDuration(recording, mostSeconds);
  const { sampleRate } = recording;
  const resampler = new Resampler(sampleRate, rate);
  let read = 0;
  for await (const block of recording.blocks()) {
    context?.signal.throwIfAborted();
    context?.heartbeat();
    checkFinite(block, read);
    read += block.length;
    checkDuration({ sampleRate, length: read }, mostSeconds, DELAY);
    yield resampler.push(block);
  }
  yield resampler.flush();
}

/** Seconds that an encoded file may have more than it says: the encoder's delay, and the last packet's padding. */
const DELAY = 1;

/**
 * Reads a whole recording at another sample rate. A long file is decoded and resampled block by block, so that it takes
 * memory for its result alone.
 * @param mostSeconds a longer recording is refused before it is decoded
 * @throws `invalid-input`; the reason of the context's signal
 */
export async function readAudio(
  recording: Recording,
  rate: number,
  mostSeconds: number,
  context?: DecodingContext,
): Promise<Float32Array> {
  const { sampleRate, length } = recording;
  let result = new Float32Array(Math.ceil((length * rate) / sampleRate));
  let made = 0;
  for await (const samples of resampled(recording, rate, mostSeconds, context)) {
    if (made + samples.length > result.length) {
      // An encoded file has more than it says.
      const larger = new Float32Array(2 * (made + samples.length));
      larger.set(result);
      result = larger;
    }
    result.set(samples, made);
    made += samples.length;
  }
  return made === result.length ? result : result.slice(0, made);
}

/** @param more seconds that it may have beyond these @throws `invalid-input` for a longer recording */
export function checkDuration({ sampleRate, length }: Omit<Recording, 'blocks'>, mostSeconds: number, more = 0): void {
  if (length > (mostSeconds + more) * sampleRate)
    throw new TabServeError(
      'invalid-input',
      `The audio is ${Math.round(length / sampleRate)} s long; at most ${mostSeconds} s are allowed. Pass a part of it, use a sequence, or raise handler.maxDuration.`,
    );
}
