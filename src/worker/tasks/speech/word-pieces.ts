/** Texts of word pieces, as SentencePiece makes them: a piece that begins with ▁ begins a word. */
import type { TextPart } from './ctc-text.js';

const SPACE = '\u2581';

/** Returns the text of a piece: ▁ is a space. */
export function textOfPiece(piece: string): string {
  return piece.replaceAll(SPACE, ' ');
}

/** Joins pieces to a text. */
export function joinPieces(parts: readonly TextPart[]): string {
  return parts
    .map(({ text }) => text)
    .join('')
    .trim();
}

/** Joins pieces to words. */
export function joinPieceWords(parts: readonly TextPart[]): readonly TextPart[] {
  const words: TextPart[] = [];
  let isWithin = false;
  for (const { text, start, end } of parts) {
    const own = text.trim();
    const begins = !isWithin || text.startsWith(' ');
    if (own === '') isWithin = false;
    else if (begins) words.push({ text: own, start, end });
    else words[words.length - 1] = { text: words.at(-1)!.text + own, start: words.at(-1)!.start, end };
    if (own !== '') isWithin = true;
  }
  return words;
}
