/** The class that an explanation is about. */
export interface ExplainedClass {
  /** The class's index. */
  readonly index: number;
  readonly label: string;
  /** Its score for the whole input, in 0..1. */
  readonly score: number;
}

/** Says which pixels of an image support a class. */
export interface ImageExplanation extends ExplainedClass {
  readonly method: 'occlusion' | 'rise';
  /** The size of the upright image, in pixels; without a known image, that of the model's input. */
  readonly width: number;
  readonly height: number;
  /**
   * One number for each pixel, row by row. NaN where the model did not see the image, because a crop cut it off.
   * `occlusion`: by how much the score falls if the pixel is covered, −1..1; `rise`: the mean score of the images that
   * show the pixel, about 0..1.
   */
  readonly heat: Float32Array;
  /** The smallest and the largest number of `heat`. */
  readonly low: number;
  readonly high: number;
}

/** A word of a text, and by how much the score falls without it: positive if the word supports the class. */
export interface WordWeight {
  readonly word: string;
  /** The word is `text.slice(start, end)`: UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  /** In −1..1. */
  readonly weight: number;
  /** Which of the two texts of a pair it belongs to. */
  readonly of: 'text' | 'textPair';
}

/** Says which words of a text support a class. */
export interface TextExplanation extends ExplainedClass {
  readonly method: 'leave-one-out';
  /** All words and punctuation marks, in order; those of a pair's second text after those of the first. */
  readonly words: readonly WordWeight[];
}

/** Says which words of a text support the label of one of them. */
export interface TokenExplanation extends TextExplanation {
  /** The word whose label is explained: `text.slice(start, end)`. */
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** A word of a question or of its context, and by how much the answer's scores fall without it. */
export interface AnswerWordWeight extends Omit<WordWeight, 'weight' | 'of'> {
  /** By how much the probability falls that the answer starts where it does, in −1..1. */
  readonly startWeight: number;
  /** By how much the probability falls that it ends where it does, in −1..1. */
  readonly endWeight: number;
  readonly of: 'question' | 'context';
}

/** Says which words support the start of the best answer to a question, and which its end. */
export interface AnswerExplanation {
  readonly method: 'leave-one-out';
  /** The answer: `context.slice(start, end)`. */
  readonly answer: string;
  readonly start: number;
  readonly end: number;
  /** The probability that an answer starts in its first word, in 0..1. */
  readonly startScore: number;
  /** The probability that an answer ends in its last word, in 0..1. */
  readonly endScore: number;
  /** All words and punctuation marks, in order: those of the question, then those of the context. */
  readonly words: readonly AnswerWordWeight[];
}

/** How far an explanation is. */
export interface ExplainProgress {
  /** The variants of the input that the model has answered. */
  readonly done: number;
  readonly total: number;
  /**
   * Of an image, about twice a second: what these variants say so far, as the explanation has it in the end. Pixels that
   * no variant has covered yet are NaN.
   */
  readonly explanation?: ImageExplanation;
}
