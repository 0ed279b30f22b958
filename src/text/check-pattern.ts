import { shorten } from '../contract/describe-value.js';
import { TabServeError } from '../contract/errors.js';

/** The most characters of a pattern. Those of published tokenizers have up to about 400. */
const LONGEST_PATTERN = 2_000;

/** The most repetitions without an upper limit in one branch of a pattern: each multiplies the time by the length of the text. Published patterns have two. */
const MOST_REPETITIONS = 3;

/** The most ways in which one branch can be matched by its other parts: `a?` has two, `(a|b|c)` three. GPT-4o's pattern has sixteen. */
const MOST_WAYS = 1_000;

/** `*`, `+`, `?`, `{n}`, `{n,}`, `{n,m}` or `{,m}`, with the mark of a lazy or possessive one; behind braces, `+` would repeat once more. */
const QUANTIFIER = /^(?:[*+?][?+]?|\{\d*(?:,\d*)?\}\??)/;
/** Look-around, flags and comments, which match no character. */
const WITHOUT_WIDTH = /^\(\?(?:<?[=!]|#|[a-z-]+\))/i;
/** Anchors and references, which may match no character. */
const ESCAPE_WITHOUT_WIDTH = /^\\[bBAzZGKkg\d]/;
const BRACED_ESCAPE = /^\\[pPxuk]\{[^}]*\}/;

/** What is known about a branch. */
interface Branch {
  /** Repetitions without an upper limit. */
  repetitions: number;
  ways: number;
  /** The fewest characters that it matches. */
  length: number;
}

/** A group that is open: the branch that is read, and those before it. */
interface Group {
  readonly hasWidth: boolean;
  branch: Branch;
  readonly before: Branch[];
}

/**
 * Checks a regular expression of a `tokenizer.json`, which decides how long each text takes, and which no browser can stop: a repeated part must not itself
 * match in several ways. `(a+)+` and `(a|aa)*` try a number of ways that doubles with each character. The patterns of GPT-2, CLIP, Bloom, Llama 3, GPT-4o,
 * Qwen, DeepSeek and Falcon pass. What is left takes, at worst, a power of the text's length.
 * @returns the fewest characters that the pattern matches
 * @throws `unsupported` for such a pattern; `model-format` if it is too long
 */
export function checkPattern(key: string, pattern: string): number {
  if (pattern.length > LONGEST_PATTERN)
    throw new TabServeError(
      'model-format',
      `tokenizer.json: ${key} has ${pattern.length} characters, and may have ${LONGEST_PATTERN}.`,
    );
  // In Oniguruma's syntax a class of characters may contain others, in JavaScript's it may not: neither reading may hide a repetition.
  const lengths = [true, false].map((nested) => {
    const read = readPattern(pattern, nested);
    if (typeof read === 'number') return read;
    throw new TabServeError(
      'unsupported',
      `tokenizer.json: ${key} is the pattern ${shorten(pattern)}, ${read}: it may take endless time on some texts. Write it without.`,
    );
  });
  return Math.min(...lengths);
}

/** Returns the fewest characters that a pattern matches, or what is wrong with it. */
function readPattern(pattern: string, nested: boolean): number | string {
  const groups = [openGroup(true)];
  for (let at = 0; at < pattern.length;) {
    const rest = pattern.slice(at);
    if (rest.startsWith('(')) {
      groups.push(openGroup(!WITHOUT_WIDTH.test(rest)));
      // The mark of a group's kind is no quantifier.
      at += rest[1] === '?' ? 2 : 1;
      continue;
    }
    if (rest.startsWith('|')) {
      const group = groups.at(-1)!;
      group.before.push(group.branch);
      group.branch = emptyBranch();
      at += 1;
      continue;
    }
    let part: Branch = {
      repetitions: 0,
      ways: 1,
      length: /^[$^]/.test(rest) || ESCAPE_WITHOUT_WIDTH.test(rest) ? 0 : 1,
    };
    if (rest.startsWith(')') && groups.length > 1) {
      part = closeGroup(groups.pop()!);
      at += 1;
    } else if (rest.startsWith('[')) at += lengthOfClass(rest, nested);
    else if (rest.startsWith('\\')) at += BRACED_ESCAPE.exec(rest)?.[0].length ?? 2;
    else at += 1;

    const [quantifier] = QUANTIFIER.exec(pattern.slice(at)) ?? [];
    if (quantifier !== undefined) {
      at += quantifier.length;
      if (QUANTIFIER.test(pattern.slice(at))) return 'with two quantifiers in a row';
      const [least, most] = rangeOf(quantifier);
      if (most > 1 && (part.ways > 1 || part.repetitions > 0))
        return 'in which a repeated group has a repetition or branches';
      if (most === Infinity) part.repetitions += 1;
      else part.ways += most - least;
      part.length *= least;
    }
    const { branch } = groups.at(-1)!;
    branch.repetitions += part.repetitions;
    branch.ways *= part.ways;
    branch.length += part.length;
    if (branch.repetitions > MOST_REPETITIONS) return `with more than ${MOST_REPETITIONS} repetitions in a row`;
    if (branch.ways > MOST_WAYS) return `with more than ${MOST_WAYS} ways to match`;
  }
  return Math.min(...groups.flatMap(({ branch, before }) => [branch, ...before]).map(({ length }) => length));
}

function emptyBranch(): Branch {
  return { repetitions: 0, ways: 1, length: 0 };
}

function openGroup(hasWidth: boolean): Group {
  return { hasWidth, branch: emptyBranch(), before: [] };
}

function closeGroup({ hasWidth, branch, before }: Group): Branch {
  const branches = [branch, ...before];
  return {
    repetitions: Math.max(...branches.map(({ repetitions }) => repetitions)),
    ways: branches.reduce((sum, { ways }) => sum + ways, 0),
    length: hasWidth ? Math.min(...branches.map(({ length }) => length)) : 0,
  };
}

function lengthOfClass(rest: string, nested: boolean): number {
  let depth = 0;
  for (let at = 0; at < rest.length; at++) {
    if (rest[at] === '\\') at += 1;
    else if (rest[at] === '[' && (nested || at === 0)) depth += 1;
    else if (rest[at] === ']' && --depth === 0) return at + 1;
  }
  return rest.length;
}

/** Returns the least and the largest number of times that a quantifier stands for. */
function rangeOf(quantifier: string): readonly [number, number] {
  if (quantifier.startsWith('*')) return [0, Infinity];
  if (quantifier.startsWith('+')) return [1, Infinity];
  if (quantifier.startsWith('?')) return [0, 1];
  const [least = '', most = least] = quantifier.replace(/[{}?]/g, '').split(',');
  return [Number(least), most === '' ? Infinity : Number(most)];
}
