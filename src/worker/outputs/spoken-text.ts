/** Text of what a model that was trained with CTC (Graves et al. 2006) hears, as transformers' `Wav2Vec2CTCTokenizer`. */

/** The letters of a model. */
export interface Letters {
  /** The text of each class. */
  readonly texts: ReadonlyMap<number, string>;
  /** The class that stands for no letter. */
  readonly blank: number;
  /** The text of a class that has none of its own. */
  readonly unknown: string;
  /** The text that stands between words, if one does, and what is written in its place. */
  readonly delimiter: string | undefined;
  readonly space: string;
  readonly isLowerCase: boolean;
}

/** A part of a text: a letter or a word. */
export interface TextPart {
  readonly text: string;
  /** The first frame in which it is heard, and the one after its last. */
  readonly start: number;
  readonly end: number;
}

/** Returns the letters in the likeliest classes of the frames: each run of one class is one letter, and blanks are none. */
export function lettersOf(classes: ArrayLike<number>, letters: Letters): readonly TextPart[] {
  const parts: TextPart[] = [];
  for (let start = 0, end = 0; start < classes.length; start = end) {
    const own = classes[start]!;
    while (end < classes.length && classes[end] === own) end++;
    const text = letters.texts.get(own) ?? letters.unknown;
    if (own !== letters.blank) parts.push({ text: text === letters.delimiter ? letters.space : text, start, end });
  }
  return parts;
}

/** Returns the text of letters. */
export function textOfLetters(parts: readonly TextPart[], { isLowerCase }: Letters): string {
  const text = parts
    .map((part) => part.text)
    .join('')
    .trim();
  return isLowerCase ? text.toLowerCase() : text;
}

/** Returns the words of letters: what stands between spaces. */
export function wordsOf(parts: readonly TextPart[], { space }: Letters): readonly TextPart[] {
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
