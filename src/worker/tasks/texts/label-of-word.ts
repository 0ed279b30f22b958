/** The label of a word of a text, for its explanation. */
import { invalidInput } from '../../../contract/errors.js';
import type { Word } from '../../handlers/explain.js';
import type { ScoredToken } from './entities.js';

/** A word, the mean probability of each label over its tokens, and the label to explain unless another is named. */
export interface LabelledWord {
  readonly word: Word;
  readonly scores: readonly number[];
  /** Undefined if every label is ignored. */
  readonly label: number | undefined;
}

export interface FindWordOptions {
  /** Where in the text the word is; undefined for the word with the highest score. */
  readonly position: number | undefined;
  readonly isIgnored: (label: number) => boolean;
}

/**
 * Finds the word whose label is explained: the one at a position, or the one with the highest score of a label that is
 * not ignored.
 * @param windows the tokens of each window of the text
 * @throws `invalid-input` if there is no such word, or the model has not read it
 */
export function findWord(
  words: readonly Word[],
  windows: readonly (readonly ScoredToken[])[],
  { position, isIgnored }: FindWordOptions,
): LabelledWord {
  const meant = words.filter(({ start, end }) => position === undefined || (start <= position && position < end));
  if (meant.length === 0)
    throw invalidInput(
      position === undefined
        ? 'The text has no word, so there is none to explain. Pass a text with words.'
        : `position: there is no word at ${position}. Pass the start of an entity in the answer.`,
    );
  const found = meant.flatMap((word): LabelledWord[] => {
    const scores = wordScores(word, windows);
    if (!scores) return [];
    const labels = [...scores.keys()].filter((label) => !isIgnored(label));
    const label = labels.reduce((best, one) => (scores[one]! > scores[best]! ? one : best), labels[0]!);
    return [{ word, scores, label }];
  });
  const [first, ...others] = found;
  if (!first)
    throw invalidInput(
      'The model has not read this word: the text has more tokens than the limit. Set stride to read all.',
    );
  const scoreOf = ({ scores, label }: LabelledWord): number => (label === undefined ? 0 : scores[label]!);
  return others.reduce((best, one) => (scoreOf(one) > scoreOf(best) ? one : best), first);
}

/**
 * Returns the mean probability of each label over the tokens of a word, in the first window that has the most of
 * them; undefined if the model has not read it.
 */
export function wordScores(
  { start, end }: Pick<Word, 'start' | 'end'>,
  windows: readonly (readonly ScoredToken[])[],
): readonly number[] | undefined {
  const parts = windows.map((tokens) => tokens.filter((token) => token.start < end && token.end > start));
  const most = Math.max(...parts.map(({ length }) => length));
  const tokens = parts.find(({ length }) => length === most)!;
  if (most === 0) return undefined;
  const labels = tokens[0]!.scores.length;
  return Array.from({ length: labels }, (_, label) => {
    return tokens.reduce((sum, { scores }) => sum + scores[label]!, 0) / tokens.length;
  });
}
