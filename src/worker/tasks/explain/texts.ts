import { asTabServeError, invalidInput, TabServeError } from '../../../contract/errors.js';
import type { Context } from '../../../contract/handler.js';
import type { Tensors } from '../../../contract/tensors.js';
import { rowContext, unwrap, type Row } from '../../handlers/row.js';
import type { ExplainableTexts, Variant, Word } from '../../handlers/explain.js';
import { scoreVariants } from './score-variants.js';
import { MAX_VARIANTS } from '../../../contract/limits.js';
import type { TextExplanation, WordWeight } from '../../outputs/explanation.js';

export { findTarget } from './target.js';

/** The maximum number of variants of a batch, times the length of the text. */
const MAX_LETTERS = 2 ** 18;

/** What was explained, and by how much each of its scores falls without each word. */
export interface ExplainedTexts<About> {
  readonly about: About;
  /** Its scores for the whole input. */
  readonly scores: readonly number[];
  readonly words: readonly (Word & { readonly falls: readonly number[] })[];
}

/** Explains each row of a batch: leaves out each of its words in turn. A row whose options do not fit fails alone. */
export async function explainTexts<Input, About>(
  handler: ExplainableTexts<Input, About>,
  data: readonly Row<Input>[],
  context: Context,
): Promise<readonly (ExplainedTexts<About> | undefined)[]> {
  const explanations: (ExplainedTexts<About> | undefined)[] = [];
  for (const [index, item] of data.entries()) {
    try {
      const failed = context.failures.has(index);
      explanations.push(failed ? undefined : await explainRow(handler, unwrap(item), index, context));
    } catch (error) {
      context.fail(index, asTabServeError(error));
      explanations.push(undefined);
    }
  }
  return explanations;
}

async function explainRow<Input, About>(
  handler: ExplainableTexts<Input, About>,
  input: Input,
  index: number,
  context: Context,
): Promise<ExplainedTexts<About>> {
  const run = async (variants: readonly Variant['texts'][]): Promise<{ outputs: Tensors; rows: Context }> => {
    const rows = rowContext(context, index, variants.length);
    const inputs = await handler.preprocess(variants as readonly Row<Input>[], rows);
    const [failure] = rows.failures.values();
    if (failure) throw failure;
    return { outputs: await handler.inference(inputs, rows), rows };
  };

  const texts = await handler.read(input);
  const words = Object.entries(texts).flatMap(([of, text]) => findWords(text).map((word) => ({ ...word, of })));
  if (words.length > MAX_VARIANTS)
    throw invalidInput(
      `The text has more than ${MAX_VARIANTS} words, the limit of an explanation. Pass a shorter text.`,
    );
  const whole = await run([texts]);
  const { about, scores: score } = handler.choose(whole.outputs, words, context.params[index] ?? {}, whole.rows);
  const [scores] = score(whole.outputs, [{ texts, find: (part) => part }], whole.rows) as [readonly number[]];
  const letters = Object.values(texts).reduce((sum, text) => sum + text.length, 0);
  const others = await scoreVariants(
    {
      count: words.length,
      mostRows: Math.floor(MAX_LETTERS / letters),
      make: (from, rows) => words.slice(from, from + rows),
      async score(left) {
        const variants = left.map((word) => without(texts, word));
        const { outputs, rows } = await run(variants.map((variant) => variant.texts)).catch((error: unknown) => {
          const [{ word, of }] = left as [Word];
          throw left.length === 1 && variants[0]!.texts[of] === '' ? onlyWord(word, error) : error;
        });
        return score(outputs, variants, rows);
      },
    },
    index,
    context,
  );
  const falls = words.map((word, at) => ({ ...word, falls: scores.map((one, n) => one - others[at]![n]!) }));
  return { about, scores, words: falls };
}

/** Returns the explanation of one score: each word has a weight. */
export function wordWeights<About>({
  about,
  words,
}: ExplainedTexts<About>): About & Omit<TextExplanation, keyof About> {
  const weights = words.map(({ falls: [weight], ...word }) => ({ ...word, weight }) as WordWeight);
  return { ...about, method: 'leave-one-out', words: weights } as never;
}

/** Leaves a word out of its text. */
function without(texts: Variant['texts'], word: Word): Variant {
  const text = texts[word.of]!;
  const { from, to } = partOf(text, word);
  return {
    texts: { ...texts, [word.of]: text.slice(0, from) + text.slice(to) },
    find({ start, end, of }) {
      if (of !== word.of || end <= from) return { start, end };
      return start < to ? undefined : { start: start - (to - from), end: end - (to - from) };
    },
  };
}

function onlyWord(word: string, cause: unknown): TabServeError {
  return new TabServeError(
    'invalid-input',
    `The text has only the word "${word}", and the model takes no empty text, so no word can be left out. Pass a longer text.`,
    { cause },
  );
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
export function findWords(text: string): Omit<Word, 'of'>[] {
  const segmenter = new Intl.Segmenter('und', { granularity: 'word' });
  const words: Omit<Word, 'of'>[] = [];
  for (let from = 0, to; from < text.length && words.length <= MAX_VARIANTS; from = to) {
    BOUNDARY.lastIndex = from + PIECE;
    to = (BOUNDARY.exec(text)?.index ?? text.length) + 1;
    for (const { segment, index } of segmenter.segment(text.slice(from, to)))
      if (segment.trim() !== '') words.push({ word: segment, start: from + index, end: from + index + segment.length });
  }
  return words;
}

/**
 * Returns the part of a text that a word is left out with: the white space before it; for the first word, that after
 * it.
 */
export function partOf(text: string, { start, end }: Pick<Word, 'start' | 'end'>): { from: number; to: number } {
  const from = text.slice(0, start).trimEnd().length;
  return from > 0 ? { from, to: end } : { from, to: text.length - text.slice(end).trimStart().length };
}
