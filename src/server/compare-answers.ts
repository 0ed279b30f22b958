/** How two answers to one input differ. */
export interface Difference {
  /** What each answer says: the best label, or the text; undefined for answers without either. */
  readonly labels: readonly [string | undefined, string | undefined];
  /** Whether they say different things, or have different forms: other keys, another length. */
  readonly disagrees: boolean;
  /**
   * The largest absolute difference of two corresponding numbers: of scores with the same label, of elements of a
   * tensor at the same position. 0 if there are none.
   */
  readonly largest: number;
}

/**
 * Compares two answers of any handler. Lists of `{ label, score }` and records of label and score are compared by
 * label, whatever their order; everything else by key and position.
 */
export function compareAnswers(first: unknown, second: unknown): Difference {
  const labels = [labelOf(first), labelOf(second)] as const;
  const scores = [scoresOf(first), scoresOf(second)] as const;
  if (scores[0] && scores[1]) {
    const shared = [...scores[0]].flatMap(([label, score]) =>
      scores[1]!.has(label) ? [Math.abs(score - scores[1]!.get(label)!)] : [],
    );
    return { labels, disagrees: labels[0] !== labels[1], largest: Math.max(0, ...shared) };
  }
  const walk = new Walk();
  walk.compare(first, second, 0);
  return { labels, disagrees: labels[0] !== labels[1] || walk.disagrees, largest: walk.largest };
}

/** Returns the scores by label of a classification, in either form; undefined if it is none. */
function scoresOf(answer: unknown): ReadonlyMap<string, number> | undefined {
  if (Array.isArray(answer)) {
    const isList =
      answer.length > 0 &&
      answer.every(
        (item: unknown) =>
          isRecord(item) && typeof item['label'] === 'string' && typeof item['score'] === 'number' && !('box' in item),
      );
    return isList
      ? new Map((answer as { label: string; score: number }[]).map(({ label, score }) => [label, score]))
      : undefined;
  }
  if (!isRecord(answer)) return undefined;
  const entries = Object.entries(answer);
  const isMap = entries.length > 0 && entries.every(([, score]) => typeof score === 'number');
  return isMap ? new Map(entries as [string, number][]) : undefined;
}

function labelOf(answer: unknown): string | undefined {
  if (typeof answer === 'string') return answer;
  const scores = [...(scoresOf(answer) ?? [])];
  if (scores.length > 0) return scores.reduce((best, one) => (one[1] > best[1] ? one : best))[0];
  const label: unknown = isRecord(answer) ? answer['label'] : undefined;
  return typeof label === 'string' ? label : undefined;
}

/** Answers are compared down to this level of nesting. */
const MAX_DEPTH = 16;

class Walk {
  disagrees = false;
  largest = 0;

  compare(first: unknown, second: unknown, depth: number): void {
    if (typeof first === 'number' && typeof second === 'number') return this.#numbers(first, second);
    if (typeof first === 'bigint' && typeof second === 'bigint') return this.#numbers(Number(first), Number(second));
    if (isList(first) && isList(second)) {
      if (first.length !== second.length) this.disagrees = true;
      else for (let at = 0; at < first.length; at++) this.compare(first[at], second[at], depth + 1);
    } else if (isRecord(first) && isRecord(second)) {
      const keys = Object.keys(first);
      if (keys.length !== Object.keys(second).length || depth > MAX_DEPTH) this.disagrees = true;
      else for (const key of keys) this.compare(first[key], second[key], depth + 1);
    } else if (first !== second) this.disagrees = true;
  }

  #numbers(first: number, second: number): void {
    if (Object.is(first, second)) return;
    const difference = Math.abs(first - second);
    if (Number.isNaN(difference)) this.disagrees = true;
    else this.largest = Math.max(this.largest, difference);
  }
}

function isList(value: unknown): value is ArrayLike<unknown> {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !isList(value);
}
