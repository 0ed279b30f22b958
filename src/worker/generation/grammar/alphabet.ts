/** Characters as single bytes, so that patterns are compared without the several bytes of a character. */
import { character, includes, partition, union, type CharacterSet } from './characters.js';
import { oneOf, sequence, type Bytes, type Grammar, type Rule } from './grammar.js';
import { edgesOf } from './regular.js';

/** A byte for each set of characters that are alike in all patterns. */
export class Alphabet {
  readonly any: Bytes;
  readonly #parts: readonly CharacterSet[];

  /** @param tooMany makes the error for more than 256 such sets */
  constructor(sets: readonly CharacterSet[], tooMany: () => Error) {
    this.#parts = partition([...new Map(sets.map((set) => [set.join(), set])).values()]);
    if (this.#parts.length > 256) throw tooMany();
    this.any = { kind: 'bytes', set: Uint8Array.from({ length: 256 }, (_, at) => Number(at < this.#parts.length)) };
  }

  /** Returns the byte of a character in a set; undefined if it has none. */
  encode(set: CharacterSet): Bytes | undefined {
    const bytes = new Uint8Array(256);
    for (const [at, part] of this.#parts.entries()) if (includes(set, part[0]![0])) bytes[at] = 1;
    return bytes.includes(1) ? { kind: 'bytes', set: bytes } : undefined;
  }

  /** Returns a grammar that `both` or `without` has made, with its characters as JSON strings have them. */
  decode(root: Rule): Grammar {
    const characters = new Map<string, Grammar>();
    const rules = new Map<Rule, Rule>();
    const ruleOf = (encoded: Rule): Rule => {
      const known = rules.get(encoded);
      if (known) return known;
      const rule: Rule = { kind: 'rule' };
      rules.set(encoded, rule);
      return rule;
    };
    ruleOf(root);
    // The loop over a map continues with what is added meanwhile.
    for (const [encoded, rule] of rules) {
      const { mayEnd, edges } = edgesOf(encoded);
      const options = edges.map(([set, to]) => {
        const key = set.set.join('');
        const one = characters.get(key) ?? character(union(...this.#parts.filter((_, at) => set.set[at] === 1)));
        characters.set(key, one);
        return sequence(one, ruleOf(to));
      });
      rule.body = oneOf([...(mayEnd ? [sequence()] : []), ...options]);
    }
    return ruleOf(root);
  }
}
