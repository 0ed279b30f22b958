/** The spoken parts of a text, and the whole that they are joined to. */
import type { SpokenAudio } from '../../../contract/spoken-text.js';
import type { SpokenSound, VoiceToken } from './voice.js';
import { wordTimes } from './word-times.js';

/** Returns a part as an answer of its own, whose times count from the start of the whole. */
export function spokenPart(
  text: string,
  tokens: readonly VoiceToken[],
  { samples, durations }: SpokenSound,
  start: number,
  sampleRate: number,
): SpokenAudio {
  const seconds = samples.length / sampleRate;
  const words = durations && wordTimes(tokens, durations, seconds, start);
  return { audio: { samples, sampleRate }, parts: [{ text, start, end: start + seconds }], ...(words && { words }) };
}

/** Joins parts. @param count how many samples they have together */
export function joinParts(sounds: readonly SpokenAudio[], count: number, sampleRate: number): SpokenAudio {
  const samples = new Float32Array(count);
  let at = 0;
  for (const { audio } of sounds) {
    samples.set(audio.samples, at);
    at += audio.samples.length;
  }
  const words = sounds.flatMap((one) => one.words ?? []);
  return {
    audio: { samples, sampleRate },
    parts: sounds.flatMap(({ parts }) => parts),
    ...(words.length > 0 && { words }),
  };
}

/** Returns a sound after as many samples of silence, which belong to it. */
export function afterPause(sound: SpokenSound, count: number): SpokenSound {
  if (count === 0) return sound;
  const samples = new Float32Array(count + sound.samples.length);
  samples.set(sound.samples, count);
  return { ...sound, samples };
}
