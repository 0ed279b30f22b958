import type { PostProcessor } from '../post-processor.js';

/** Whether a tokenizer leaves the spaces at the ends of a token out of its range, and how. */
export interface Trim {
  /** Whether the tokenizer puts a space before a text: the first token's range has the first space in any case. */
  readonly addsSpace: boolean;
}

/** A space as GPT-2's alphabet writes it, or any other. */
const LEADING = /^[Ġ\p{White_Space}]*/u;
const TRAILING = /[Ġ\p{White_Space}]*$/u;

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
 * @param written the token as the vocabulary writes it
 * @param isFirst whether it is the first of its text's tokens
 */
export function trimRange(
  { start, end }: { readonly start: number; readonly end: number },
  written: string,
  isFirst: boolean,
  { addsSpace }: Trim,
): readonly [start: number, end: number] {
  const leading = LEADING.exec(written)![0].length;
  const trailing = TRAILING.exec(written)![0].length;
  const isKept = leading > 0 && addsSpace && (isFirst || start === 0);
  const from = Math.min(start + leading - (isKept ? 1 : 0), end);
  return [from, end >= trailing ? Math.max(end - trailing, from) : end];
}
