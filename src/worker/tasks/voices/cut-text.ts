import { TabServeError } from '../../../contract/errors.js';

/** Where a sentence ends within a line: after its mark and closing quotes, before a space; after a mark of Chinese. */
const SENTENCES = /(?<=[.!?…]["'”’»)\]]*)\s+|(?<=[。！？｡][」』”’）]*)(?![」』”’）])/u;

/** Where a sentence may be cut that is too long: after a comma and its like, and then at a space. */
const CLAUSES = /(?<=[,;:،؛、，；：—–])/u;
const WORDS = /(?<=\s)/u;

/**
 * Cuts a text into the parts that are spoken one after another: its sentences, and of a sentence that is too long the
 * parts at its commas, or else at its spaces.
 * @param fits whether the model can speak a part at once
 * @throws `invalid-input` for a word that is too long
 */
export function cutText(text: string, fits: (part: string) => boolean): readonly string[] {
  return text
    .split('\n')
    .flatMap((line) => line.split(SENTENCES))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '')
    .flatMap((sentence) => cutAt(sentence, [CLAUSES, WORDS], fits));
}

function cutAt(text: string, [marks, ...others]: readonly RegExp[], fits: (part: string) => boolean): string[] {
  if (fits(text)) return [text];
  if (!marks)
    throw new TabServeError(
      'invalid-input',
      `The word "${text.slice(0, 40)}…" is longer than the model can speak at once. Put spaces or commas into it.`,
    );
  const parts: string[] = [];
  let part = '';
  const end = (): void => {
    if (part.trim() !== '') parts.push(part.trim());
    part = '';
  };
  for (const piece of text.split(marks)) {
    if (!fits((part + piece).trim())) end();
    if (fits(piece.trim())) part += piece;
    else parts.push(...cutAt(piece.trim(), others, fits));
  }
  end();
  return parts;
}
