/** The rows of the table. */
import { median, spread } from './statistics.mjs';

/**
 * @typedef {{ readonly text: string, readonly holds: (value: number) => boolean }} Goal
 * @typedef {{ name: string, value: number, unit: string, goal: string | null, holds: boolean | null, spread?: { low:
 *   number, high: number, rounds: number } }} Row
 */

/**
 * Makes a row of what the rounds have said: their median, with their quartiles; or of one value.
 * @param {string} name
 * @param {number | readonly number[]} values
 * @param {string} unit
 * @param {Goal} [goal]
 * @returns {Row}
 */
export function row(name, values, unit, goal) {
  const value = typeof values === 'number' ? values : median(values);
  return {
    name,
    value: Number(value.toPrecision(4)),
    unit,
    goal: goal?.text ?? null,
    holds: goal?.holds(value) ?? null,
    ...(typeof values !== 'number' && values.length > 1 && { spread: spread(values) }),
  };
}

/** @param {number} limit @param {string} unit @returns {Goal} */
export function atMost(limit, unit, text = `<= ${limit} ${unit}`) {
  return { text, holds: (value) => value <= limit };
}

/** @param {number} limit @param {string} unit @returns {Goal} */
export function atLeast(limit, unit) {
  return { text: `>= ${limit} ${unit}`, holds: (value) => value >= limit };
}

export function minus(ours, theirs) {
  return ours - theirs;
}

export function over(ours, theirs) {
  return ours / theirs;
}
