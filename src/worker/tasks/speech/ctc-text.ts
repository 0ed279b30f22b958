/** Decodes the output of a CTC model (Graves et al. 2006) to text, as transformers' `Wav2Vec2CTCTokenizer` does. */

/** The vocabulary of a CTC model. */
export interface CtcVocabulary {
  /** The text of each class. */
  readonly texts: ReadonlyMap<number, string>;
  /** The class that stands for no character: CTC's blank. */
  readonly blank: number;
  /** The text of a class that has none of its own. */
  readonly unknown: string;
  /** The text between words, if there is one, and what replaces it. */
  readonly delimiter: string | undefined;
  readonly space: string;
  readonly isLowerCase: boolean;
}

/** A part of a text: a character or a word. */
export interface TextPart {
  readonly text: string;
  /** Its first frame, and the one after its last. */
  readonly start: number;
  readonly end: number;
}

/** Returns the characters of the frames' likeliest classes: repetitions of a class are one character, and blanks are none. */
export function decodeFrames(classes: ArrayLike<number>, vocabulary: CtcVocabulary): readonly TextPart[] {
  const parts: TextPart[] = [];
  for (let start = 0, end = 0; start < classes.length; start = end) {
    const own = classes[start]!;
    while (end < classes.length && classes[end] === own) end++;
    const text = vocabulary.texts.get(own) ?? vocabulary.unknown;
    if (own !== vocabulary.blank)
      parts.push({ text: text === vocabulary.delimiter ? vocabulary.space : text, start, end });
  }
  return parts;
}

/** Joins characters to a text. */
export function joinText(parts: readonly TextPart[], { isLowerCase }: CtcVocabulary): string {
  const text = parts
    .map((part) => part.text)
    .join('')
    .trim();
  return isLowerCase ? text.toLowerCase() : text;
}

/** Joins characters to words: those between two spaces are one. */
export function joinWords(parts: readonly TextPart[], { space }: CtcVocabulary): readonly TextPart[] {
  const words: TextPart[] = [];
  let isWithin = false;
  for (const { text, start, end } of parts) {
    const last = words.at(-1);
    if (text === space) isWithin = false;
    else if (isWithin) words[words.length - 1] = { text: last!.text + text, start: last!.start, end };
    else {
      words.push({ text, start, end });
      isWithin = true;
    }
  }
  return words;
}
