/**
 * Grammars of the texts in which regular expressions find something, as the content of JSON strings. What they cannot say
 * is refused by name.
 */
import { invalidInput } from '../../../contract/errors.js';
import { Alphabet } from './alphabet.js';
import type { CharacterSet } from './characters.js';
import { choice, oneOf, repeat, sequence, type Grammar, type Rule } from './grammar.js';
import { PatternReader, unsupported, type Node } from './pattern-reader.js';
import { both, without, type Budget } from './regular.js';

/** A pattern has at most this many characters. */
const MAX_LENGTH = 5000;
const NOTHING = sequence();

/** How many characters texts have, at least and at most. */
export type Lengths = readonly [min: number, max: number];

/**
 * Returns the texts of this many characters in which all patterns find something; undefined if there are none.
 * @throws `invalid-input` for what is no pattern, or one that is not supported
 */
export function matchingTexts(
  patterns: readonly string[],
  [min, max]: Lengths,
  path: string,
  budget: Budget,
): Grammar | undefined {
  const nodes = patterns.map((pattern) => nodeOf(pattern, path));
  const tooMany = (): Error => unsupported(path, patterns[0]!, 'too many different classes of characters');
  const alphabet = new Alphabet(nodes.flatMap(setsOf), tooMany);
  const any = repeat(alphabet.any, 0);
  const texts = nodes.map((node, at) => new TextsOf(patterns[at]!, path, alphabet, budget).of(node));
  // Lengths are compared only if no pattern says enough of them.
  const lengths = nodes.map((node) => lengthOf(node, true));
  const isLimited = lengths.some(([least]) => least >= min) && lengths.some(([, most]) => most <= max);
  texts.push(isLimited ? any : repeat(alphabet.any, min, max));
  const found = texts.reduce((one, other) => one && other && both(one, other, budget));
  return found && alphabet.decode(found as Rule);
}

function nodeOf(pattern: string, path: string): Node {
  if (pattern.length > MAX_LENGTH) throw unsupported(path, pattern, `more than ${MAX_LENGTH} characters`);
  try {
    void new RegExp(pattern, 'u');
  } catch {
    try {
      void new RegExp(pattern);
    } catch (error) {
      throw invalidInput(`${path}: ${(error as Error).message}.`);
    }
  }
  return new PatternReader(pattern, path).read();
}

/** Makes the grammar of a pattern's texts; undefined stands for none. */
class TextsOf {
  readonly #pattern: string;
  readonly #path: string;
  readonly #alphabet: Alphabet;
  readonly #budget: Budget;
  readonly #any: Grammar;

  constructor(pattern: string, path: string, alphabet: Alphabet, budget: Budget) {
    this.#pattern = pattern;
    this.#path = path;
    this.#alphabet = alphabet;
    this.#budget = budget;
    this.#any = repeat(alphabet.any, 0);
  }

  /** Returns the texts that have a pattern in them. @param isBegun whether they have it at their beginning */
  of(node: Node, isBegun = false): Grammar | undefined {
    const options = node.kind === 'any' ? node.options : [node];
    return oneOfThose(
      options.map((option) => {
        const [parts, isAtBegin, isAtEnd] = anchored(option);
        const found = this.#build({ kind: 'all', parts }, isAtEnd ? NOTHING : this.#any);
        return isAtBegin || isBegun ? found : found && sequence(this.#any, found);
      }),
    );
  }

  /** @param after what follows, to the end of the text */
  #build(node: Node, after: Grammar): Grammar | undefined {
    switch (node.kind) {
      case 'set': {
        const one = this.#alphabet.encode(node.set);
        return one && sequence(one, after);
      }
      case 'all':
        return node.parts.reduceRight<Grammar | undefined>((rest, part) => rest && this.#build(part, rest), after);
      case 'any':
        return oneOfThose(node.options.map((option) => this.#build(option, after)));
      case 'repeat':
        return this.#repeat(node, after);
      case 'look': {
        const seen = this.of(node.item, true);
        if (node.isNegated) return seen ? without(after, seen, this.#budget) : after;
        return seen && both(after, seen, this.#budget);
      }
      case 'begin':
      case 'end':
        throw unsupported(this.#path, this.#pattern, 'an anchor inside');
    }
  }

  #repeat({ item, min, max }: Extract<Node, { kind: 'repeat' }>, after: Grammar): Grammar | undefined {
    if (max === 0) return after;
    if (!hasLook(item)) {
      const one = this.#build(item, NOTHING);
      return one ? sequence(repeat(one, min, max), after) : min === 0 ? after : undefined;
    }
    // What is looked at depends on what follows.
    if (max > 1) throw unsupported(this.#path, this.#pattern, 'a lookahead in a repetition');
    const once = this.#build(item, after);
    return min === 1 ? once : once ? choice(once, after) : after;
  }
}

function oneOfThose(all: readonly (Grammar | undefined)[]): Grammar | undefined {
  const some = all.filter((one) => one !== undefined);
  return some.length === 0 ? undefined : oneOf(some);
}

/** Returns a pattern without its anchors, and whether it has them. */
function anchored(node: Node): readonly [parts: readonly Node[], isAtBegin: boolean, isAtEnd: boolean] {
  const parts = node.kind === 'all' ? node.parts : [node];
  const [isAtBegin, isAtEnd] = [parts[0]?.kind === 'begin', parts.at(-1)?.kind === 'end'];
  return [parts.slice(isAtBegin ? 1 : 0, isAtEnd ? -1 : undefined), isAtBegin, isAtEnd];
}

function partsOf(node: Node): readonly Node[] {
  if (node.kind === 'all') return node.parts;
  if (node.kind === 'any') return node.options;
  return node.kind === 'repeat' || node.kind === 'look' ? [node.item] : [];
}

function setsOf(node: Node): readonly CharacterSet[] {
  return node.kind === 'set' ? [node.set] : partsOf(node).flatMap(setsOf);
}

function hasLook(node: Node): boolean {
  return node.kind === 'look' || partsOf(node).some(hasLook);
}

/** Returns the number of characters of a pattern's texts. @param isWhole whether other characters are around it */
function lengthOf(node: Node, isWhole = false): Lengths {
  if (node.kind === 'begin' || node.kind === 'end') return [0, isWhole ? Infinity : 0];
  if (node.kind === 'any') {
    const all = node.options.map((option) => lengthOf(option, isWhole));
    return [Math.min(...all.map(([min]) => min)), Math.max(...all.map(([, max]) => max))];
  }
  const [parts, isAtBegin, isAtEnd] = anchored(node);
  const isOpen = isWhole && !(isAtBegin && isAtEnd);
  const [min, max] = parts
    .map(partLength)
    .reduce<Lengths>(([least, most], one) => [least + one[0], most + one[1]], [0, 0]);
  return [min, isOpen ? Infinity : max];
}

function partLength(node: Node): Lengths {
  if (node.kind === 'set') return [1, 1];
  if (node.kind === 'look') return [0, 0];
  if (node.kind !== 'repeat') return lengthOf(node);
  const [min, max] = lengthOf(node.item);
  return [min * node.min, max === 0 || node.max === 0 ? 0 : max * node.max];
}
