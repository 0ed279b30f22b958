/** A WAV file of samples: PCM of 16 bits, one channel. */
import type { OnArrayBuffer } from '../contract/tensors.js';

/** One channel of sound, full scale −1..1. */
export interface Samples {
  readonly samples: Float32Array;
  readonly sampleRate: number;
}

const HEADER = 44;

/**
 * Returns a WAV file of one channel, 16 bits. Samples beyond full scale are clamped.
 * `new Blob([toWav(audio)], { type: 'audio/wav' })` is its file.
 */
export function toWav({ samples, sampleRate }: Samples): OnArrayBuffer<Uint8Array> {
  const bytes = new Uint8Array(HEADER + samples.length * 2);
  bytes.set(wavHeader(sampleRate, samples.length * 2));
  bytes.set(toPcm(samples), HEADER);
  return bytes;
}

/** Returns samples as PCM: integers of 16 bits, the low byte first. */
export function toPcm(samples: Float32Array): OnArrayBuffer<Uint8Array> {
  const bytes = new Uint8Array(samples.length * 2);
  const view = new DataView(bytes.buffer);
  for (const [index, sample] of samples.entries())
    view.setInt16(index * 2, Math.max(-0x8000, Math.min(0x7fff, Math.round(sample * 0x8000))), true);
  return bytes;
}

/** Returns what stands before the samples. @param size bytes of the samples; unknown for a file that is being written */
export function wavHeader(sampleRate: number, size = 0xffff_ffff - HEADER): OnArrayBuffer<Uint8Array> {
  const bytes = new Uint8Array(HEADER);
  const view = new DataView(bytes.buffer);
  const text = (at: number, value: string): void => bytes.set(new TextEncoder().encode(value), at);
  text(0, 'RIFF');
  view.setUint32(4, HEADER - 8 + size, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, sampleRate * 2, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  text(36, 'data');
  view.setUint32(40, size, true);
  return bytes;
}
