import type { AudioInput } from '../../contract/audio.js';
import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import { checkKeys } from '../../shared/check-keys.js';
import { Resampler } from './resampler.js';
import { checkFinite, checkSampleRate, meanOfChannels } from './samples.js';
import { isWav, notWav, openWav } from './wav.js';

/** Sound of one channel at its own sample rate, as blocks. */
export interface Recording {
  readonly sampleRate: number;
  /** Samples in all. */
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
  const samples = meanOfChannels(channels as Float32Array[]);
  return { sampleRate, length: samples.length, blocks: () => [samples] };
}

async function openFile(blob: Blob): Promise<Recording> {
  const start = await blob
    .slice(0, 12)
    .arrayBuffer()
    .catch(() => new ArrayBuffer(0));
  if (!isWav(start)) throw notWav(blob, start);
  return await openWav(blob);
}

/**
 * Reads a whole recording at another sample rate. A long file is decoded and resampled block by block, so that it takes
 * memory for its result alone.
 * @param mostSeconds a longer recording is refused before it is decoded
 * @throws `invalid-input`
 */
export async function readAudio(
  { sampleRate, length, blocks }: Recording,
  rate: number,
  mostSeconds: number,
): Promise<Float32Array> {
  checkDuration({ sampleRate, length }, mostSeconds);
  const resampler = new Resampler(sampleRate, rate);
  const result = new Float32Array(Math.ceil((length * rate) / sampleRate));
  let read = 0;
  let made = 0;
  const add = (samples: Float32Array): void => {
    result.set(samples, made);
    made += samples.length;
  };
  for await (const block of blocks()) {
    checkFinite(block, read);
    read += block.length;
    add(resampler.push(block));
  }
  add(resampler.flush());
  return result;
}

/** @throws `invalid-input` for a longer recording */
export function checkDuration({ sampleRate, length }: Omit<Recording, 'blocks'>, mostSeconds: number): void {
  if (length > mostSeconds * sampleRate)
    throw new TabServeError(
      'invalid-input',
      `The audio is ${Math.round(length / sampleRate)} s long; at most ${mostSeconds} s are allowed. Pass a part of it, use a sequence, or raise handler.maxDuration.`,
    );
}
