import { checkReplaced } from '../limits.js';

/**
 * A character of a changed text. `change` says what it stands for: 0, the next character of the text before; 1, none,
 * it was inserted after the one before it; -n, the next one, and the n after it are removed.
 */
export type Change = readonly [character: string, change: number];

/** A stretch of a text, in UTF-16 units, and whether a pattern matches it. */
export type Match = readonly [start: number, end: number, matches: boolean];

/** What becomes of the matches of a pattern at which a text is split, as Hugging Face's tokenizers name it. */
export const BEHAVIORS = ['Removed', 'Isolated', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous'] as const;
export type SplitBehavior = (typeof BEHAVIORS)[number];

/**
 * A text that a tokenizer has changed, and for each UTF-16 unit of it the range of the original text that it stands for:
 * `NormalizedString` of Hugging Face's tokenizers, which counts bytes of UTF-8 instead. Both halves of a surrogate pair
 * have the same range. Is never changed.
 */
export class AlignedText {
  /**
   * @param starts for each unit of `text`, where its range begins in the original
   * @param ends for each unit, where its range ends
   * @param origin where the part of the original that this text was made of begins
   */
  private constructor(
    readonly text: string,
    private readonly starts: readonly number[],
    private readonly ends: readonly number[],
    readonly origin: number,
  ) {}

  /** Returns an unchanged text. @param origin where in the original it begins */
  static of(text: string, origin = 0): AlignedText {
    const starts: number[] = [];
    const ends: number[] = [];
    for (const character of text) {
      const start = origin + starts.length;
      for (let unit = 0; unit < character.length; unit++) {
        starts.push(start);
        ends.push(start + character.length);
      }
    }
    return new AlignedText(text, starts, ends, origin);
  }

  get length(): number {
    return this.text.length;
  }

  /** Returns the range of the original text that the units from `start` to `end` stand for. They are at least one. */
  rangeOf(start: number, end: number): readonly [start: number, end: number] {
    return [this.starts[start]!, this.ends[end - 1]!];
  }

  slice(start: number, end: number): AlignedText {
    const origin = start < end ? this.starts[start]! : this.origin;
    return new AlignedText(
      this.text.slice(start, end),
      this.starts.slice(start, end),
      this.ends.slice(start, end),
      origin,
    );
  }

  /** Returns the text that consists of other characters. */
  transform(changes: Iterable<Change>): AlignedText {
    const before = this.text[Symbol.iterator]();
    const next = (): number => (before.next().value as string | undefined)?.length ?? 0;
    const starts: number[] = [];
    const ends: number[] = [];
    let text = '';
    let at = 0;
    for (const [character, change] of changes) {
      const from = change > 0 ? at - 1 : at;
      for (let unit = 0; unit < character.length; unit++) {
        starts.push(this.starts[from] ?? this.origin);
        ends.push(this.ends[from] ?? this.origin);
      }
      if (change <= 0) at += next();
      for (let removed = change; removed < 0; removed++) at += next();
      text += character;
    }
    return new AlignedText(text, starts, ends, this.origin);
  }

  /** Returns the text without some of its characters. */
  filter(keeps: (character: string) => boolean): AlignedText {
    const starts: number[] = [];
    const ends: number[] = [];
    let text = '';
    let at = 0;
    for (const character of this.text) {
      if (keeps(character)) {
        text += character;
        for (let unit = at; unit < at + character.length; unit++) {
          starts.push(this.starts[unit]!);
          ends.push(this.ends[unit]!);
        }
      }
      at += character.length;
    }
    return text.length === this.length ? this : new AlignedText(text, starts, ends, this.origin);
  }

  /**
   * Returns the text with `content` instead of each match. The content stands for the last character of the match.
   * @throws `invalid-input` if it is too long
   */
  replace(pattern: RegExp, content: string): AlignedText {
    const starts: number[] = [];
    const ends: number[] = [];
    let text = '';
    let at = 0;
    const copy = (end: number): void => {
      for (let unit = at; unit < end; unit++) {
        starts.push(this.starts[unit]!);
        ends.push(this.ends[unit]!);
      }
      text += this.text.slice(at, end);
      at = end;
    };
    for (const { 0: match, index } of this.text.matchAll(pattern)) {
      copy(index);
      at += match.length;
      checkReplaced(starts.length + content.length);
      for (let unit = 0; unit < content.length; unit++) {
        starts.push(this.starts[at - 1] ?? this.origin);
        ends.push(this.ends[at - 1] ?? this.origin);
      }
      text += content;
    }
    copy(this.length);
    return new AlignedText(text, starts, ends, this.origin);
  }

  /** Returns the text after `content`, which stands for the first character together with it. An empty text stays empty. */
  prepend(content: string): AlignedText {
    if (this.length === 0) return this;
    checkReplaced(this.length + content.length);
    const [first, ...rest] = this.text;
    const prepended = Array.from(content, (character, at): Change => [character, at > 0 ? 1 : 0]);
    return this.transform([...prepended, [first!, 1], ...rest.map((character): Change => [character, 0])]);
  }

  /**
   * Returns the parts into which a pattern splits the text, without empty ones.
   * @param matches stretches that together are the text
   */
  split(matches: readonly Match[], behavior: SplitBehavior): readonly AlignedText[] {
    return joined(matches, behavior).flatMap(([start, end]) => (start < end ? [this.slice(start, end)] : []));
  }
}

/** Returns the stretches of a text of the given length: those that a pattern matches, and those between. */
export function findMatches(text: string, pattern: RegExp): readonly Match[] {
  const found: Match[] = [];
  let at = 0;
  for (const { 0: match, index } of text.matchAll(pattern)) {
    if (at < index) found.push([at, index, false]);
    found.push([index, index + match.length, true]);
    at = index + match.length;
  }
  if (at < text.length) found.push([at, text.length, false]);
  return found;
}

function joined(matches: readonly Match[], behavior: SplitBehavior): readonly Match[] {
  if (behavior === 'Isolated') return matches;
  if (behavior === 'Removed') return matches.filter(([, , isMatch]) => !isMatch);
  const isReversed = behavior === 'MergedWithNext';
  const parts: Match[] = [];
  let previous = false;
  for (const match of isReversed ? matches.toReversed() : matches) {
    const [start, end, isMatch] = match;
    const last = parts.at(-1);
    const joins = behavior === 'Contiguous' ? isMatch === previous : isMatch && !previous;
    if (last && joins) parts[parts.length - 1] = isReversed ? [start, last[1], false] : [last[0], end, false];
    else parts.push(match);
    previous = isMatch;
  }
  return isReversed ? parts.toReversed() : parts;
}
