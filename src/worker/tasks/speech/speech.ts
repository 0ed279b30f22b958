/**
 * From the probabilities of a voice activity detector to speech: the rules of silero-vad's `get_speech_timestamps`, for
 * a whole recording, and of its `VADIterator`, for a live one (https://github.com/snakers4/silero-vad, MIT).
 */

/** Speech in a recording: from `start` to `end`, in seconds. */
export interface SpeechSegment {
  readonly start: number;
  readonly end: number;
}

/** What counts as speech. The names and the defaults are silero-vad's. */
export interface SpeechRules {
  /** Speech begins with a window whose probability is at least this. */
  readonly threshold: number;
  /** Speech may end with a window whose probability is below this. */
  readonly negThreshold: number;
  /** Milliseconds: shorter speech is dropped. */
  readonly minSpeechDurationMs: number;
  /** Seconds: longer speech is divided, at its longest silence if there is one. */
  readonly maxSpeechDurationS: number;
  /** Milliseconds: a shorter silence does not end speech. */
  readonly minSilenceDurationMs: number;
  /** Milliseconds that are added to speech on both sides. */
  readonly speechPadMs: number;
}

/** Milliseconds of silence at which speech that is too long may be divided. */
const MIN_SILENCE_AT_MAX_SPEECH_MS = 98;

/** The size of the windows, and the samples per second. */
export interface Windows {
  readonly size: number;
  readonly rate: number;
}

/** Speech in samples. */
interface Span {
  start: number;
  end: number;
}

/** A silence in speech that goes on: where it begins, and its length, in samples. */
interface Silence {
  readonly at: number;
  readonly length: number;
}

/**
 * Finds the speech in a recording.
 * @param probabilities one for each window
 * @param samples the recording's length, which the last window may exceed
 */
export function findSpeech(
  probabilities: ArrayLike<number>,
  samples: number,
  rules: SpeechRules,
  { size, rate }: Windows,
): SpeechSegment[] {
  const minSpeech = (rate * rules.minSpeechDurationMs) / 1000;
  const minSilence = (rate * rules.minSilenceDurationMs) / 1000;
  const pad = (rate * rules.speechPadMs) / 1000;
  const maxSpeech = rate * rules.maxSpeechDurationS - size - 2 * pad;
  const dividing = (rate * MIN_SILENCE_AT_MAX_SPEECH_MS) / 1000;
  const spans: Span[] = [];
  let start: number | undefined;
  /** Where the silence began in which the speech may end; undefined outside of a silence. */
  let silentFrom: number | undefined;
  let silences: Silence[] = [];
  const end = (at: number): void => {
    spans.push({ start: start!, end: at });
    start = silentFrom = undefined;
  };
  for (let index = 0; index < probabilities.length; index++) {
    const probability = probabilities[index]!;
    const now = index * size;
    const isSpeech = probability >= rules.threshold;
    if (isSpeech && silentFrom !== undefined) {
      if (now - silentFrom > dividing) silences.push({ at: silentFrom, length: now - silentFrom });
      silentFrom = undefined;
    }
    if (start === undefined) {
      if (isSpeech) start = now;
      continue;
    }
    if (now - start > maxSpeech) {
      const longest = silences.reduce<Silence | undefined>(
        (best, one) => (best && best.length >= one.length ? best : one),
        undefined,
      );
      if (!longest) {
        end(now);
        silences = [];
        continue;
      }
      const next = longest.at + longest.length;
      end(longest.at);
      start = next;
      silences = silences.filter(({ at }) => at > next);
    }
    if (probability < rules.negThreshold) {
      silentFrom ??= now;
      if (now - silentFrom < minSilence) continue;
      if (silentFrom - start > minSpeech) end(silentFrom);
      start = silentFrom = undefined;
      silences = [];
    }
  }
  if (start !== undefined && samples - start > minSpeech) end(samples);
  padSpeech(spans, samples, pad);
  return spans.map((span) => ({ start: span.start / rate, end: span.end / rate }));
}

/** Adds `pad` samples on both sides of each span. Where two would meet, each gets half of the silence between them. */
function padSpeech(spans: readonly Span[], samples: number, pad: number): void {
  for (const [index, span] of spans.entries()) {
    if (index === 0) span.start = Math.trunc(Math.max(0, span.start - pad));
    const next = spans[index + 1];
    const silence = next ? next.start - span.end : Infinity;
    if (next && silence < 2 * pad) {
      span.end += Math.floor(silence / 2);
      next.start = Math.trunc(Math.max(0, next.start - Math.floor(silence / 2)));
    } else {
      span.end = Math.trunc(Math.min(samples, span.end + pad));
      if (next) next.start = Math.trunc(Math.max(0, next.start - pad));
    }
  }
}

/** Speech begins or ends, `time` seconds after the beginning of the recording. */
export interface SpeechEvent {
  readonly type: 'start' | 'end';
  readonly time: number;
}

/** Where a live recording is. */
export interface SpeechProgress {
  /** Windows so far. */
  readonly windows: number;
  readonly speaking: boolean;
  /** Where the silence began in which the speech may end, in samples; undefined outside of a silence. */
  readonly silentFrom: number | undefined;
}

export const SPEECH_START: SpeechProgress = { windows: 0, speaking: false, silentFrom: undefined };

/** Goes on by one window. Returns the new progress, and what has happened, if anything has. */
export function followSpeech(
  { windows: before, speaking, silentFrom }: SpeechProgress,
  probability: number,
  { threshold, negThreshold, minSilenceDurationMs, speechPadMs }: SpeechRules,
  { size, rate }: Windows,
): { readonly progress: SpeechProgress; readonly event?: SpeechEvent } {
  const windows = before + 1;
  const now = windows * size;
  const pad = (rate * speechPadMs) / 1000;
  const at = (sample: number): number => Math.trunc(sample) / rate;
  if (probability >= threshold) {
    const progress = { windows, speaking: true, silentFrom: undefined };
    return speaking ? { progress } : { progress, event: { type: 'start', time: at(Math.max(0, now - pad - size)) } };
  }
  if (!speaking || probability >= negThreshold) return { progress: { windows, speaking, silentFrom } };
  const from = silentFrom ?? now;
  if (now - from < (rate * minSilenceDurationMs) / 1000) return { progress: { windows, speaking, silentFrom: from } };
  const event: SpeechEvent = { type: 'end', time: at(from + pad - size) };
  return { progress: { windows, speaking: false, silentFrom: undefined }, event };
}
