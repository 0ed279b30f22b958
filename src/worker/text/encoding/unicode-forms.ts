import { checkMarks } from '../limits.js';
import type { AlignedText, Change } from './aligned-text.js';

export type UnicodeForm = 'NFC' | 'NFD' | 'NFKC' | 'NFKD';

/** Returns a text in a form of Unicode normalization, with the alignment that Hugging Face's tokenizers give it. */
export function toUnicodeForm(aligned: AlignedText, form: UnicodeForm): AlignedText {
  // A step before may have added marks.
  checkMarks(aligned.text);
  if (aligned.text.normalize(form) === aligned.text) return aligned;
  const composes = form === 'NFC' || form === 'NFKC';
  const parts = decompose(aligned.text, form === 'NFC' || form === 'NFD' ? 'NFD' : 'NFKD');
  return aligned.transform(composes ? compose(parts) : parts);
}

/** Returns the parts of all characters, in canonical order. The first part of a character stands for it. */
function decompose(text: string, form: 'NFD' | 'NFKD'): readonly Change[] {
  const parts = [...text].flatMap((character) =>
    Array.from(character.normalize(form), (part, at): Change => [part, at > 0 ? 1 : 0]),
  );
  // The order is stable, and equal parts have equal classes: the next of those that are equal is the one.
  const isTaken: boolean[] = [];
  let first = 0;
  return Array.from(text.normalize(form), (part): Change => {
    while (isTaken[first]) first++;
    let at = first;
    while (isTaken[at] || parts[at]![0] !== part) at++;
    isTaken[at] = true;
    return parts[at]!;
  });
}

/** Composes parts. A character of several parts stands for those of the text's characters that they stand for. */
function compose(parts: readonly Change[]): readonly Change[] {
  const found: Change[] = [];
  /** The character that is being composed, and the marks after it that are no part of it. */
  let base: Change | undefined;
  let marks: Change[] = [];
  const end = (): void => {
    if (base) found.push(base, ...marks);
    marks = [];
  };
  for (const part of parts) {
    const isMark = isReordered(part[0]);
    if (!base) {
      if (isMark) found.push(part);
      else base = part;
      continue;
    }
    const last = marks.at(-1);
    const isBlocked = last !== undefined && (!isMark || !precedes(last[0], part[0]));
    const composed = isBlocked ? undefined : compositionOf(base[0], part[0]);
    if (composed !== undefined) base = [composed, base[1] + part[1] - 1];
    else if (isMark) marks.push(part);
    else {
      end();
      base = part;
    }
  }
  end();
  return found;
}

function compositionOf(first: string, second: string): string | undefined {
  const composed = (first + second).normalize('NFC');
  return composed.length === String.fromCodePoint(composed.codePointAt(0)!).length ? composed : undefined;
}

/** Returns whether a mark's canonical combining class is less than another's. Both are more than 0. */
function precedes(first: string, second: string): boolean {
  return (second + first).normalize('NFD') !== second + first;
}

const reordered = new Map<string, boolean>();

/** Returns whether a character's canonical combining class is more than 0: whether marks swap positions with it. */
function isReordered(character: string): boolean {
  if (character < '\u0300') return false;
  let known = reordered.get(character);
  // U+0334 has the least class, 1, and U+0345 the greatest, 240.
  known ??= precedes('\u0334', character) || precedes(character, '\u0345');
  reordered.set(character, known);
  return known;
}
