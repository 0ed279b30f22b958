/** A part of what was said. */
export interface SpokenPart {
  readonly text: string;
  /** Seconds since the recording's start. */
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
