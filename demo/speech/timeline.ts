import type { AudioChunk, SpeechSegment, VoiceActivityUpdate } from '../../src/index.js';

/** A part of a recording that is marked. */
export interface Band extends SpeechSegment {
  /** The CSS variable of its color; undefined: the accent. */
  readonly color?: string | undefined;
}

/** What is drawn of a recording. */
export interface Timeline {
  readonly samples: Float32Array;
  /** Seconds from the left edge to the right one. */
  readonly seconds: number;
  readonly bands: readonly Band[];
  /** The probability of speech, one for each 32 ms. */
  readonly curve: ArrayLike<number>;
}

/** Seconds of the microphone's past that are shown. */
const SHOWN = 10;
const WINDOW_SECONDS = 0.032;
const MAX_WINDOWS = Math.floor(SHOWN / WINDOW_SECONDS);

/** The last seconds of a microphone. Speech appears when its windows are answered. */
export class LiveTimeline implements Timeline {
  readonly seconds = SHOWN;
  samples = new Float32Array(0);
  curve: number[] = Array.from({ length: MAX_WINDOWS }, () => 0);
  #speaks: boolean[] = Array.from({ length: MAX_WINDOWS }, () => false);

  add({ samples, sampleRate }: AudioChunk): void {
    const all = new Float32Array(Math.round(SHOWN * sampleRate));
    const kept = this.samples.subarray(Math.min(samples.length, this.samples.length));
    all.set(kept, all.length - samples.length - kept.length);
    all.set(samples, all.length - samples.length);
    this.samples = all;
  }

  follow({ probabilities, speaking }: VoiceActivityUpdate): void {
    this.curve = [...this.curve, ...probabilities].slice(-MAX_WINDOWS);
    this.#speaks = [...this.#speaks, ...Array.from(probabilities, () => speaking)].slice(-MAX_WINDOWS);
  }

  get bands(): readonly Band[] {
    return this.#speaks.flatMap((speaks, index) =>
      speaks ? [{ start: index * WINDOW_SECONDS, end: (index + 1) * WINDOW_SECONDS }] : [],
    );
  }
}
