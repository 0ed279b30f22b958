/** A part of what was said, or is spoken. */
export interface SpokenPart {
  readonly text: string;
  /** Seconds since the start of the sound. */
  readonly start: number;
  readonly end: number;
}

/** What was said. */
export interface SpokenText {
  readonly text: string;
  /** The segments, words or characters, in order, if `timestamps` asks for them. */
  readonly parts?: readonly SpokenPart[];
}

/** What is known of a recording beside its text. */
export interface SpokenDetails extends Pick<SpokenText, 'parts'> {
  /** Seconds of the recording. */
  readonly duration?: number;
  /** With `timestamps: 'word'`, whose parts are words: the segments. */
  readonly segments?: readonly SpokenPart[];
  /** The code of the language, such as en, if the model has several. */
  readonly language?: string;
  /** The probability of the language, in 0..1, if the model has detected it: of a long recording, at its start. */
  readonly languageProbability?: number;
}

/** What is spoken. */
export interface SpokenAudio {
  /** One channel, full scale −1..1. */
  readonly audio: { readonly samples: Float32Array; readonly sampleRate: number };
  /** The parts that the text was cut into, in seconds since the start. */
  readonly parts: readonly SpokenPart[];
  /** The words, or those that the phonemes are of, if the model tells how long each of its tokens lasts. */
  readonly words?: readonly SpokenPart[];
}
