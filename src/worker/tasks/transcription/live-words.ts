/** The words of a live recording's sound, as the model has heard them. */
import type { HeardWord } from '../../outputs/live-words.js';
import type { SpokenDetails, SpokenPart } from '../../../contract/spoken-text.js';
import { splitWords } from './words.js';

/**
 * Returns the words of an answer with times. Words that have no times of their own have those of their segment; of a
 * model without times, those of the sound.
 */
export function liveWords(text: string, spoken: SpokenDetails): readonly HeardWord[] {
  const { duration = 0, parts = text === '' ? [] : [{ text, start: 0, end: duration }], segments = parts } = spoken;
  const words: readonly SpokenPart[] = spoken.segments
    ? parts
    : parts.flatMap(({ start, end, ...part }) =>
        splitWords(part.text, spoken.language).map((word) => ({ text: word, start, end })),
      );
  // The texts of the words and those of the segments are the same text.
  const ends = new Set<number>();
  let length = 0;
  for (const segment of segments) ends.add((length += segment.text.length));
  let at = 0;
  return words.map(({ text: word, start, end }) => {
    at += word.length;
    return { text: word, start, end, endsSegment: ends.has(at) };
  });
}
