/**
 * Who speaks in a window of sound: what a model of pyannote's segmentation answers. Its speakers are those of the window
 * alone.
 */
import { TabServeError } from '../../../contract/errors.js';
import { softmax } from '../../outputs/scores.js';

/** How windows and their frames lie in a recording. All sizes are samples. */
export interface Frames {
  readonly sampleRate: number;
  readonly window: number;
  /** From one window to the next. */
  readonly windowStep: number;
  /** From one frame to the next. */
  readonly step: number;
  /** How many samples a frame sees, but for `step`. */
  readonly offset: number;
  /** Frames of a window. */
  readonly count: number;
}

/** The speakers of a window, frame by frame. */
export interface Window {
  /** Whether each speaks: 1 or 0, `[frames, speakers]`. */
  readonly active: Uint8Array;
  /** The probability that each speaks. */
  readonly probabilities: Float32Array;
}

/** Returns the speakers of each class: nobody, one, or two at once, in the order of pyannote's powerset. */
export function classSpeakers(classes: number): readonly (readonly number[])[] {
  // 1 + n + n · (n − 1) / 2 classes.
  const speakers = (Math.sqrt(8 * classes - 7) - 1) / 2;
  if (!Number.isInteger(speakers) || speakers < 2)
    throw new TabServeError(
      'model-config',
      `speaker_diarizer needs a model whose classes are nobody, each speaker, and each two speakers at once, as pyannote's segmentation-3.0 has 7 of them for 3 speakers. This model has ${classes}.`,
    );
  const all = Array.from({ length: speakers }, (_, speaker) => speaker);
  const pairs = all.flatMap((one) => all.slice(one + 1).map((other) => [one, other]));
  return [[], ...all.map((one) => [one]), ...pairs];
}

/** Returns how many speakers a window has. */
export function speakerCount(classes: readonly (readonly number[])[]): number {
  return Math.max(...classes.flat()) + 1;
}

/** Reads a window's answer. @param logits `[frames, classes]` */
export function readWindow(logits: Float32Array, classes: readonly (readonly number[])[]): Window {
  const speakers = speakerCount(classes);
  const frames = logits.length / classes.length;
  const [active, probabilities] = [new Uint8Array(frames * speakers), new Float32Array(frames * speakers)];
  for (let frame = 0; frame < frames; frame++) {
    const scores = softmax(logits.slice(frame * classes.length, (frame + 1) * classes.length));
    let best = 0;
    for (const [at, members] of classes.entries()) {
      if (scores[at]! > scores[best]!) best = at;
      for (const speaker of members) probabilities[frame * speakers + speaker]! += scores[at]!;
    }
    for (const speaker of classes[best]!) active[frame * speakers + speaker] = 1;
  }
  return { active, probabilities };
}

/** A speaker of a window who speaks in it. */
export interface LocalSpeaker {
  readonly window: number;
  readonly speaker: number;
}

/** Returns the speakers of windows who speak. */
export function localSpeakers(windows: readonly Window[], speakers: number): readonly LocalSpeaker[] {
  return windows.flatMap(({ active }, window) =>
    Array.from({ length: speakers }, (_, speaker) => ({ window, speaker })).filter(({ speaker }) =>
      active.some((value, at) => value === 1 && at % speakers === speaker),
    ),
  );
}

/**
 * Returns the samples in which a speaker of a window speaks, one after another.
 * @param isAlone whether those are left out in which somebody else speaks, too
 * @param samples of the window: fewer, if the recording ends in it
 */
export function voiceOf(
  samples: Float32Array,
  { active }: Window,
  { speaker, speakers, isAlone }: { readonly speaker: number; readonly speakers: number; readonly isAlone: boolean },
  { window, count }: Frames,
): Float32Array {
  const parts: Float32Array[] = [];
  for (let frame = 0; frame < count; frame++) {
    const own = active.subarray(frame * speakers, (frame + 1) * speakers);
    if (own[speaker] === 0 || (isAlone && own.some((value, other) => value === 1 && other !== speaker))) continue;
    const [from, to] = [frame, frame + 1].map((at) => Math.floor((at * window) / count));
    parts.push(samples.subarray(from, to));
  }
  const voice = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    voice.set(part, at);
    at += part.length;
  }
  return voice;
}
