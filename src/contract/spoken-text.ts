/** A part of what was said, or is spoken. */
export interface SpokenPart {
  readonly text: string;
  /** Seconds since the start of the sound. */
  readonly start: number;
  readonly end: number;
}

/** What Whisper thinks of its answer to a window of sound. */
export interface SegmentQuality {
  /** The mean of the logarithms of its tokens' probabilities. */
  readonly avgLogprob: number;
  /** How many times shorter zlib makes its tokens. An answer that repeats itself has a large one. */
  readonly compressionRatio: number;
  /** The probability that nothing is said, in 0..1, if the model has a token for it. */
  readonly noSpeechProb: number | undefined;
  /** The temperature at which it was sampled; 0 if the most probable tokens were taken. */
  readonly temperature: number;
}

/** A segment; of Whisper with what it thinks of the window in which the segment ends. */
export interface SpokenSegment extends SpokenPart, Partial<SegmentQuality> {}

/** What was said. */
export interface SpokenText {
  readonly text: string;
  /** The segments, words or characters, in order, if `timestamps` asks for them. */
  readonly parts?: readonly SpokenPart[];
}

/** What somebody says, until somebody else speaks. */
export interface SpokenTurn extends SpokenPart {
  /** As `speaker_diarizer` names the person; undefined if it has heard nobody in the recording. */
  readonly speaker: string | undefined;
}

/** What is known of a recording beside its text. */
export interface SpokenDetails {
  /** The segments, words or characters, in order, if `timestamps` asks for them. */
  readonly parts?: readonly SpokenSegment[];
  /** Seconds of the recording. */
  readonly duration?: number;
  /** With `timestamps: 'word'`, whose parts are words: the segments. */
  readonly segments?: readonly SpokenSegment[];
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
