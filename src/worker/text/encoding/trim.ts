import type { PostProcessor } from '../post-processor.js';
import { isWhiteSpace, spacesAfter, spacesBefore } from './spaces.js';

/** Whether a tokenizer leaves the spaces at the ends of a token out of its range, and how. */
export interface Trim {
  /** Whether the tokenizer puts a space before a text: the first token's range has the first space in any case. */
  readonly addsSpace: boolean;
}

/** Returns whether it is a space as GPT-2's alphabet writes it, or any other. */
const isSpace = (unit: string): boolean => unit === 'Ġ' || isWhiteSpace(unit);

/** Returns how a `post_processor` trims ranges; undefined if it does not. */
export function findTrim(json: PostProcessor | null | undefined): Trim | undefined {
  if (json?.type === 'Sequence') return json.processors.map(findTrim).find((trim) => trim !== undefined);
  if (json?.type !== 'ByteLevel' && json?.type !== 'RobertaProcessing') return undefined;
  const { trim_offsets = true, add_prefix_space = true } = json as {
    readonly trim_offsets?: boolean;
    readonly add_prefix_space?: boolean;
  };
  return trim_offsets ? { addsSpace: add_prefix_space } : undefined;
}

/**
 * Returns a token's range without the spaces at its ends, as `process_offsets` of Hugging Face's tokenizers does.
 * @param text the text that the range is in
 * @param written the token as the vocabulary writes it
 * @param isFirst whether it is the first of its text's tokens
 */
export function trimRange(
  text: string,
  [start, end]: readonly [start: number, end: number],
  written: string,
  isFirst: boolean,
  { addsSpace }: Trim,
): readonly [start: number, end: number] {
  const leading = spacesAfter(written, 0, isSpace);
  const trailing = spacesBefore(written, written.length, isSpace);
  // A single space at the beginning may be the one that the tokenizer has added.
  const isKept = leading === 1 && addsSpace && isFirst;
  // A space that was added stands for the character after it, which may have two units.
  const from = isKept ? start : Math.min(move(text, start, leading), end);
  return [from, Math.max(move(text, end, -trailing), from)];
}

/** Returns the position that is this many characters after another, or before it. */
function move(text: string, from: number, count: number): number {
  let at = from;
  for (let moved = 0; moved < count && at < text.length; moved++) at += text.codePointAt(at)! > 0xffff ? 2 : 1;
  for (let moved = 0; moved > count && at > 0; moved--) at -= at > 1 && text.codePointAt(at - 2)! > 0xffff ? 2 : 1;
  return at;
}
