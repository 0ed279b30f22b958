/** Without a loop, an expression that ends with `$` takes a time that grows with the square of a run of spaces. */

/** Returns the number of UTF-16 units at the end of a text before `end` that are spaces. */
export function spacesBefore(text: string, end: number, isSpace = isWhiteSpace): number {
  let at = end;
  while (at > 0 && isSpace(text[at - 1]!)) at--;
  return end - at;
}

/** Returns the number of UTF-16 units of a text from `start` on that are spaces. */
export function spacesAfter(text: string, start: number, isSpace = isWhiteSpace): number {
  let at = start;
  while (at < text.length && isSpace(text[at]!)) at++;
  return at - start;
}

/** Returns whether a UTF-16 unit is white space, as Unicode defines it. */
export function isWhiteSpace(unit: string): boolean {
  return /^\p{White_Space}$/u.test(unit);
}
