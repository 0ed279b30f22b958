import { wrongValue } from '../../../shared/read-options.js';

/** The pairs of tokens that become one. A pair has a rank: that with the least one is merged first. */
export interface Merges {
  /** Returns the rank of a pair; -1 if it is not merged. */
  rankOf(left: number, right: number): number;
  /** Returns the token that the pair of a rank becomes. */
  mergedAt(rank: number): number;
}

/**
 * Reads `merges` of a model: pairs in the order of their ranks, each a list of two tokens, or a text with a space.
 * @param ids the model's tokens
 * @throws `model-format` if a token is not in the vocabulary
 */
export function readMerges(json: unknown, ids: ReadonlyMap<string, number>): Merges {
  if (!Array.isArray(json)) throw wrongMerge('', 'a list', json);
  // A hash table of our own: a Map of 280,000 pairs takes three times as long to fill.
  const mask = 2 ** Math.ceil(Math.log2(2 * json.length + 1)) - 1;
  /** Each slot of the table has a rank plus 1; 0 for none. */
  const table = new Int32Array(mask + 1);
  const [lefts, rights, merged] = [0, 1, 2].map(() => new Int32Array(json.length)) as [
    Int32Array,
    Int32Array,
    Int32Array,
  ];
  const slotOf = (left: number, right: number): number => {
    let slot = Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b);
    for (slot = (slot ^ (slot >>> 15)) & mask; table[slot] !== 0; slot = (slot + 1) & mask) {
      const rank = table[slot]! - 1;
      if (lefts[rank] === left && rights[rank] === right) break;
    }
    return slot;
  };
  let rank = 0;
  for (let at = 0; at < json.length; at++) {
    const pair: unknown = json[at];
    if (typeof pair === 'string' && pair.startsWith('#version')) continue;
    const [first = '', second = '', ...others] = partsOf(pair);
    const [left, right, both] = [ids.get(first), ids.get(second), ids.get(first + second)];
    if (left === undefined || right === undefined || both === undefined || others.length > 0)
      throw wrongMerge(`[${at}]`, 'two tokens of the vocabulary, which has both as one token, too', pair);
    lefts[rank] = left;
    rights[rank] = right;
    merged[rank] = both;
    table[slotOf(left, right)] = ++rank;
  }
  return { rankOf: (left, right) => table[slotOf(left, right)]! - 1, mergedAt: (of) => merged[of]! };
}

function partsOf(pair: unknown): readonly string[] {
  if (typeof pair === 'string') return pair.split(' ');
  return Array.isArray(pair) && pair.every((part) => typeof part === 'string') ? pair : [];
}

function wrongMerge(where: string, expected: string, value: unknown): Error {
  return wrongValue(`tokenizer.json: model.merges${where}`, expected, value, 'model-format');
}
