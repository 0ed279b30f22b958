/** The blank of CTC: the first class. */
const BLANK = 0;

/** What a recognizer has read in one line. */
export interface ReadText {
  readonly text: string;
  /** The mean of the characters' probabilities, in 0..1; 0 for an empty text. */
  readonly score: number;
}

/**
 * Reads the likeliest text: at each step the likeliest class, without repetitions and blanks. (Greedy CTC decoding,
 * Graves et al. 2006.)
 * @param scores probabilities, [steps, classes], of which the first class is the blank
 * @param characters the character of each further class
 */
export function decodeCtc(scores: ArrayLike<number>, classes: number, characters: readonly string[]): ReadText {
  let [text, sum, count, before] = ['', 0, 0, BLANK];
  for (let from = 0; from < scores.length; from += classes) {
    let best = 0;
    for (let index = 1; index < classes; index++) if (scores[from + index]! > scores[from + best]!) best = index;
    if (best !== BLANK && best !== before) {
      text += characters[best - 1]!;
      sum += scores[from + best]!;
      count += 1;
    }
    before = best;
  }
  return { text, score: count === 0 ? 0 : sum / count };
}
