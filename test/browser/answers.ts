/** Compares answers with expected ones. */

/** How far an answer is from the expected one. */
export interface Difference {
  /** Of all numbers: in units of 1, or of the expected number if it is larger. */
  readonly largest: number;
  /** What differs that is no number, with its path; undefined if nothing does. */
  readonly wrong: string | undefined;
}

/** What the expected answer does not have, the answer may have. */
export function differenceOf(answer: unknown, expected: unknown, path = 'answer'): Difference {
  const wrong = (): Difference => ({
    largest: 0,
    wrong: `${path} is ${JSON.stringify(answer)?.slice(0, 200)}; expected ${JSON.stringify(expected)?.slice(0, 200)}`,
  });
  if (typeof expected === 'number' && typeof answer === 'number') {
    const largest = Math.abs(answer - expected) / Math.max(1, Math.abs(expected));
    return Number.isNaN(largest) ? wrong() : { largest, wrong: undefined };
  }
  if (typeof expected !== 'object' || expected === null) return answer === expected ? NONE : wrong();
  if (typeof answer !== 'object' || answer === null) return wrong();
  if (Array.isArray(expected) && (!Array.isArray(answer) || answer.length !== expected.length)) return wrong();
  return Object.entries(expected)
    .map(([key, value]) => differenceOf((answer as Record<string, unknown>)[key], value, `${path}.${key}`))
    .reduce((one, other) => ({ largest: Math.max(one.largest, other.largest), wrong: one.wrong ?? other.wrong }), NONE);
}

const NONE: Difference = { largest: 0, wrong: undefined };
