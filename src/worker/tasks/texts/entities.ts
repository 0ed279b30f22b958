import { indexOfLargest } from '../../outputs/scores.js';

/** How tokens become entities: see `TokenClassifierParams`. */
export type AggregationStrategy = 'none' | 'simple' | 'first' | 'average' | 'max';

/** A token of a text, and what a model makes of it. */
export interface ScoredToken {
  /** The token as the vocabulary writes it; an unknown one as the text does. */
  readonly word: string;
  /** The probability of each label, in 0..1. */
  readonly scores: ArrayLike<number>;
  /** Where it begins in the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** Its index among the model's tokens. */
  readonly index: number;
  /** Whether it continues the word of the previous token. */
  readonly continues: boolean;
}

/** A part of a text with a label. */
export interface Entity {
  /** The label: of several tokens without what tells the first from the others, `B-` and `I-`. */
  readonly label: string;
  /** Its probability, in 0..1: of several tokens the mean. */
  readonly score: number;
  /** The token as the vocabulary writes it, or the text of several, as the tokenizer decodes them. */
  readonly word: string;
  /** Where it begins in the text, in UTF-16 units, as `slice` counts. */
  readonly start: number;
  /** Where it ends. */
  readonly end: number;
  /** The token's index among those of the model. With `none` alone. */
  readonly index?: number;
}

/** What the tokens of a model need to become entities. */
export interface EntityOptions {
  readonly strategy: AggregationStrategy;
  readonly labelOf: (index: number) => string;
  /** Returns the text of tokens, or of words. */
  readonly join: (words: readonly string[]) => string;
}

/** Returns the entities of a text's tokens: `aggregate` of transformers' `TokenClassificationPipeline`. */
export function findEntities(tokens: readonly ScoredToken[], options: EntityOptions): readonly Entity[] {
  const { strategy, labelOf } = options;
  const labelled = ({ scores, word, start, end, index }: ScoredToken): Entity => {
    const best = indexOfLargest(scores);
    return { label: labelOf(best), score: scores[best]!, word, start, end, index };
  };
  if (strategy === 'none') return tokens.map(labelled);
  if (strategy === 'simple') return group(tokens.map(labelled), options);
  const words = split(tokens, ({ continues }) => !continues);
  return group(
    words.map((word) => labelWord(word, strategy, options)),
    options,
  );
}

/** Gives the tokens of a word one label. */
function labelWord(
  tokens: readonly ScoredToken[],
  strategy: 'first' | 'average' | 'max',
  { labelOf, join }: EntityOptions,
): Entity {
  const scores =
    strategy === 'first'
      ? tokens[0]!.scores
      : strategy === 'average'
        ? Array.from(tokens[0]!.scores, (_, label) => mean(tokens.map((token) => token.scores[label]!)))
        : tokens[indexOfLargest(tokens.map((token) => token.scores[indexOfLargest(token.scores)]!))]!.scores;
  const best = indexOfLargest(scores);
  return { label: labelOf(best), score: scores[best]!, ...extent(tokens, join) };
}

/** Joins entities in a row that have the same label, unless the second one begins with `B-`. */
function group(entities: readonly Entity[], { join }: EntityOptions): readonly Entity[] {
  const groups = split(entities, ({ label }, before) => label.startsWith('B-') || tagOf(label) !== tagOf(before.label));
  return groups.map((parts) => {
    const [{ label }] = parts as [Entity];
    const at = label.indexOf('-');
    return { label: label.slice(at + 1), score: mean(parts.map(({ score }) => score)), ...extent(parts, join) };
  });
}

function tagOf(label: string): string {
  return /^[BI]-/.test(label) ? label.slice(2) : label;
}

type Part = Pick<Entity, 'word' | 'start' | 'end'>;

function extent(parts: readonly Part[], join: EntityOptions['join']): Part {
  return { word: join(parts.map(({ word }) => word)), start: parts[0]!.start, end: parts.at(-1)!.end };
}

/** Splits a list where `begins` says so. */
function split<Item>(items: readonly Item[], begins: (item: Item, before: Item) => boolean): readonly Item[][] {
  const parts: Item[][] = [];
  for (const [at, item] of items.entries()) {
    if (at === 0 || begins(item, items[at - 1]!)) parts.push([item]);
    else parts.at(-1)!.push(item);
  }
  return parts;
}

/**
 * Returns the entities of windows that overlap, without those that two windows have: of two that overlap the longer one
 * stays, of equally long ones the likelier one. This is `aggregate_overlapping_entities` of transformers.
 */
export function mergeWindows(entities: readonly Entity[]): readonly Entity[] {
  const sorted = entities.toSorted((a, b) => a.start - b.start);
  const merged: Entity[] = [];
  let [previous, ...others] = sorted;
  for (const entity of others) {
    if (entity.start < previous!.end) {
      const more = entity.end - entity.start - (previous!.end - previous!.start);
      if (more > 0 || (more === 0 && entity.score > previous!.score)) previous = entity;
    } else {
      merged.push(previous!);
      previous = entity;
    }
  }
  return previous ? [...merged, previous] : merged;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
