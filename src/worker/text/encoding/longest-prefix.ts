/**
 * Returns a function that finds the longest of some texts that begins at a position. A tokenizer may have 65,000 added
 * tokens: as one expression, they would take seconds to compile.
 */
export function createPrefixFinder(texts: Iterable<string>): (text: string, at: number) => string | undefined {
  const sorted = [...new Set(texts)].toSorted(byUnits);
  const longest = sorted.reduce((most, { length }) => Math.max(most, length), 0);
  const shorter = prefixesOf(sorted);
  return (text, at) => {
    const rest = text.slice(at, at + longest);
    let index = lastUpTo(rest, sorted);
    // What begins here begins the last text that is not after it.
    const common = index < 0 ? 0 : commonLength(sorted[index]!, rest);
    while (index >= 0 && sorted[index]!.length > common) index = shorter[index]!;
    return sorted[index];
  };
}

/** Returns for each text the index of the longest other one that it begins with; -1 for none. */
function prefixesOf(sorted: readonly string[]): Int32Array {
  const prefixes = new Int32Array(sorted.length);
  const open: number[] = [];
  for (const [index, text] of sorted.entries()) {
    while (open.length > 0 && !text.startsWith(sorted[open.at(-1)!]!)) open.pop();
    prefixes[index] = open.at(-1) ?? -1;
    open.push(index);
  }
  return prefixes;
}

/** Returns the index of the last text that is not after `rest`; -1 for none. */
function lastUpTo(rest: string, sorted: readonly string[]): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (sorted[middle]! <= rest) from = middle + 1;
    else to = middle;
  }
  return from - 1;
}

function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one.charCodeAt(length) === other.charCodeAt(length)) length++;
  return length;
}

function byUnits(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
