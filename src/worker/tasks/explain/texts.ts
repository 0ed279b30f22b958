import { asTabServeError, TabServeError } from '../../../contract/errors.js';
import type { Context } from '../../../contract/handler.js';
import type { TextExplanation, WordWeight } from '../../outputs/explanation.js';
import { readText, type Texts } from '../../text/read-text.js';
import type { ExplainableTexts } from '../../handlers/explain.js';
import { rowContext, unwrap, type Row } from '../../handlers/row.js';
import type { TextInput } from '../../handlers/text-handler.js';
import { scoreVariants } from './score-variants.js';
import { findTarget, type Target } from './target.js';
import { MAX_VARIANTS } from '../../../contract/limits.js';

/** The maximum number of variants of a batch, times the length of the text. */
const MAX_LETTERS = 2 ** 18;

/** Explains each row of a batch: leaves out each of its words in turn. A row whose options do not fit fails alone. */
export async function explainTexts(
  handler: ExplainableTexts,
  data: readonly Row<TextInput>[],
  context: Context,
): Promise<readonly (TextExplanation | undefined)[]> {
  const explanations: (TextExplanation | undefined)[] = [];
  for (const [index, item] of data.entries()) {
    try {
      const failed = context.failures.has(index);
      explanations.push(failed ? undefined : await explainRow(handler, await readText(unwrap(item)), index, context));
    } catch (error) {
      context.fail(index, asTabServeError(error));
      explanations.push(undefined);
    }
  }
  return explanations;
}

async function explainRow(
  handler: ExplainableTexts,
  texts: Texts,
  index: number,
  context: Context,
): Promise<TextExplanation> {
  const scoresOf = async (variants: readonly Texts[]): Promise<readonly ArrayLike<number>[]> => {
    const rows = rowContext(context, index, variants.length);
    const inputs = await handler.preprocess(variants as readonly TextInput[], rows);
    const [failure] = rows.failures.values();
    if (failure) throw failure;
    return handler.scores(await handler.inference(inputs, rows), variants.length);
  };

  const words = [
    ...findWords(texts.text).map((word) => ({ ...word, of: 'text' as const })),
    ...findWords(texts.textPair ?? '').map((word) => ({ ...word, of: 'textPair' as const })),
  ];
  if (words.length > MAX_VARIANTS)
    throw new TabServeError(
      'invalid-input',
      `The text has more than ${MAX_VARIANTS} words, the limit of an explanation. Pass a shorter text.`,
    );
  const [whole] = await scoresOf([texts]);
  const target = findTarget(context.params[index]?.['target'] as Target, whole!, handler.labels);
  const scores = await scoreVariants(
    {
      count: words.length,
      mostRows: Math.floor(MAX_LETTERS / (texts.text.length + (texts.textPair?.length ?? 0))),
      make: (from, rows) => words.slice(from, from + rows),
      async score(left) {
        const answers = await scoresOf(left.map((word) => without(texts, word))).catch((error: unknown) => {
          throw words.length === 1 ? onlyWord(words[0]!, error) : error;
        });
        return answers.map((answer) => answer[target.index]!);
      },
    },
    index,
    context,
  );
  const weights = words.map((word, at): WordWeight => ({ ...word, weight: target.score - scores[at]! }));
  return { ...target, method: 'leave-one-out', words: weights };
}

function without({ text, textPair }: Texts, word: Word & Pick<WordWeight, 'of'>): Texts {
  return word.of === 'text' ? { text: leaveOut(text, word), textPair } : { text, textPair: leaveOut(textPair!, word) };
}

function onlyWord({ word }: Word, cause: unknown): TabServeError {
  return new TabServeError(
    'invalid-input',
    `The text has only the word "${word}", and the model takes no empty text, so no word can be left out. Pass a longer text.`,
    { cause },
  );
}

/** A word or a punctuation mark of a text: `text.slice(start, end)`. */
export interface Word {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/**
 * How many characters are segmented at a time, at least: the time of browsers' segmenters grows with the square of a
 * text's length.
 */
const PIECE = 4096;
/** Matches two characters between which there is a word boundary in any text, so a text may be cut there. */
const BOUNDARY = /\S[ \n。]/g;

/**
 * Returns the words and punctuation marks of a text, by Unicode's word boundaries (UAX 29). White space is none. It
 * stops soon after more than `MAX_VARIANTS`.
 */
export function findWords(text: string): Word[] {
  const segmenter = new Intl.Segmenter('und', { granularity: 'word' });
  const words: Word[] = [];
  for (let from = 0, to; from < text.length && words.length <= MAX_VARIANTS; from = to) {
    BOUNDARY.lastIndex = from + PIECE;
    to = (BOUNDARY.exec(text)?.index ?? text.length) + 1;
    for (const { segment, index } of segmenter.segment(text.slice(from, to)))
      if (segment.trim() !== '') words.push({ word: segment, start: from + index, end: from + index + segment.length });
  }
  return words;
}

/**
 * Returns a text without one of its words and the white space before it; for the first word, the white space after it.
 */
export function leaveOut(text: string, { start, end }: Word): string {
  const before = text.slice(0, start).trimEnd();
  return before === '' ? text.slice(end).trimStart() : before + text.slice(end);
}
