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
