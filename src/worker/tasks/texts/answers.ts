import { softmax } from '../../outputs/scores.js';

/** A part of a text that answers a question. */
export interface Answer {
  /** The part of the context; empty if the context has no answer. */
  readonly answer: string;
  /** Its probability, in 0..1, the sum for all of its positions. */
  readonly score: number;
  /** Where it begins in the context, in UTF-16 units, as `slice` counts. */
  readonly start: number;
  /** Where it ends. */
  readonly end: number;
}

/** What a model makes of a part of a context. */
export interface AnswerWindow {
  /** For each token how likely an answer begins with it. */
  readonly startLogits: Float32Array;
  /** For each token how likely an answer ends with it. */
  readonly endLogits: Float32Array;
  /** For each token where in the context it stands, and in which word; undefined for one that is not part of it. */
  readonly spans: readonly (ContextSpan | undefined)[];
  /**
   * The tokens that stand for "no answer", such as BERT's first. They share the probability with those of the context.
   */
  readonly classTokens: readonly number[];
}

interface ContextSpan {
  readonly word: number;
  readonly start: number;
  readonly end: number;
}

export interface AnswerOptions {
  readonly topK: number;
  /** The largest number of tokens in an answer. */
  readonly maxAnswerLength: number;
  /** Whether "no answer" is one. */
  readonly handleImpossibleAnswer: boolean;
  /** Whether answers begin and end with words. */
  readonly alignToWords: boolean;
}

/** Tokens from the first to the last, and how likely they are an answer. */
interface Span {
  readonly first: number;
  readonly last: number;
  readonly score: number;
}

/**
 * Returns the likeliest answers in a context that a model has read in windows: `postprocess` of transformers'
 * `QuestionAnsweringPipeline`. Answers with the same letters are one.
 */
export function findAnswers(
  context: string,
  windows: readonly AnswerWindow[],
  options: AnswerOptions,
): readonly Answer[] {
  const { topK, alignToWords, handleImpossibleAnswer } = options;
  // Of answers that are aligned, several may be one.
  const count = alignToWords ? topK * 2 + 10 : topK;
  const found = new Map<string, Answer>();
  let leastNone = Infinity;
  for (const window of windows) {
    const [starts, ends] = [window.startLogits, window.endLogits].map((logits) => probabilities(logits, window)) as [
      Float64Array,
      Float64Array,
    ];
    leastNone = Math.min(leastNone, starts[0]! * ends[0]!);
    for (const { first, last, score } of bestSpans(starts, ends, window, options.maxAnswerLength, count)) {
      const [start, end] = alignToWords
        ? [wordOf(window, first).start, wordOf(window, last).end]
        : [window.spans[first]!.start, window.spans[last]!.end];
      const answer = context.slice(start, end);
      const same = found.get(answer.toLowerCase());
      found.set(answer.toLowerCase(), same ? { ...same, score: same.score + score } : { answer, score, start, end });
    }
  }
  const none: readonly Answer[] = handleImpossibleAnswer ? [{ answer: '', score: leastNone, start: 0, end: 0 }] : [];
  return [...found.values(), ...none].toSorted((a, b) => b.score - a.score).slice(0, topK);
}

/**
 * Returns the probabilities that an answer starts in the word at `start` of the context, and that it ends in the word
 * before `end`: each in the window that gives it the most.
 */
export function endScores(windows: readonly AnswerWindow[], start: number, end: number): readonly [number, number] {
  const best = (logitsOf: (window: AnswerWindow) => Float32Array, at: number): number =>
    Math.max(
      0,
      ...windows.map((window) => {
        const word = window.spans.find((span) => span && span.start <= at && at < span.end)?.word;
        if (word === undefined) return 0;
        return probabilities(logitsOf(window), window).reduce(
          (sum, score, token) => (window.spans[token]?.word === word ? sum + score : sum),
          0,
        );
      }),
    );
  return [best(({ startLogits }) => startLogits, start), best(({ endLogits }) => endLogits, end - 1)];
}

/** Computes the softmax over the tokens of the context and those that stand for "no answer"; others get 0. */
function probabilities(logits: Float32Array, { spans, classTokens }: AnswerWindow): Float64Array {
  const isOpen = (at: number): boolean => spans[at] !== undefined || classTokens.includes(at);
  return softmax(logits.map((logit, at) => (isOpen(at) ? logit : -Infinity)));
}

/** Returns the likeliest spans of the context, best first. */
function bestSpans(
  starts: Float64Array,
  ends: Float64Array,
  { spans }: AnswerWindow,
  longest: number,
  count: number,
): readonly Span[] {
  let best: Span[] = [];
  const keepBest = (): void => {
    best = best.sort((a, b) => b.score - a.score || a.first - b.first || a.last - b.last).slice(0, count);
  };
  for (const [first, span] of spans.entries()) {
    if (!span) continue;
    for (let last = first; last < Math.min(first + longest, spans.length); last++) {
      const score = starts[first]! * ends[last]!;
      if (!spans[last] || score === 0) continue;
      best.push({ first, last, score });
    }
    if (best.length > 8 * count) keepBest();
  }
  keepBest();
  return best;
}

/** Returns the range of the word that a token is part of, as far as its tokens are in this window. */
function wordOf({ spans }: AnswerWindow, token: number): { readonly start: number; readonly end: number } {
  const { word } = spans[token]!;
  const own = spans.filter((span) => span?.word === word);
  return { start: own[0]!.start, end: own.at(-1)!.end };
}
