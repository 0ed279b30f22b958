/** Which tokens Whisper may write next: transformers' `WhisperTimeStampLogitsProcessor`, and those that suppress tokens. */
import { logSumExp } from '../../generation/sample.js';
import { maxOf, type Progress } from '../../generation/logits.js';

export interface SpeechRules {
  /** The tokens that are never written. */
  readonly suppressTokens: readonly number[];
  /** The tokens that no answer begins with. */
  readonly beginSuppressTokens: readonly number[];
  /** Undefined for an answer without times. */
  readonly times:
    | {
        /** The token of 0 seconds; those after it are later. */
        readonly begin: number;
        /** The first token that is no text. */
        readonly textEnd: number;
        /** The latest time that an answer begins with, counted from `begin`; Infinity for any. */
        readonly mostAtBegin: number;
      }
    | undefined;
}

/** Returns a function that rules tokens out: their logits become −∞. */
export function speechRules({
  suppressTokens,
  beginSuppressTokens,
  times,
}: SpeechRules): (logits: Float32Array, progress: Progress) => void {
  return (logits, { tokens, newTokens }) => {
    if (newTokens === 0) for (const token of beginSuppressTokens) logits[token] = -Infinity;
    for (const token of suppressTokens) logits[token] = -Infinity;
    if (times) keepTimesInPairs(logits, tokens.slice(tokens.length - newTokens), times);
  };
}

/** Times stand in pairs, the end of a segment and the start of the next one, and none is before the one before it. */
function keepTimesInPairs(
  logits: Float32Array,
  written: readonly number[],
  { begin, textEnd, mostAtBegin }: NonNullable<SpeechRules['times']>,
): void {
  const isTime = (token: number | undefined): boolean => token !== undefined && token >= begin;
  const ruleOut = (from: number, to: number): void => {
    logits.fill(-Infinity, from, to);
  };
  // The token before that of 0 seconds: <|notimestamps|>.
  logits[begin - 1] = -Infinity;
  const isAfterTime = isTime(written.at(-1));
  const isAfterPair = isAfterTime && (written.length < 2 || isTime(written.at(-2)));
  if (isAfterPair) ruleOut(begin, logits.length);
  else if (isAfterTime) ruleOut(0, textEnd);
  const last = written.findLast(isTime);
  // The start of a segment may be the end of the one before, and no segment has a length of 0.
  if (last !== undefined) ruleOut(begin, isAfterTime && !isAfterPair ? last : last + 1);
  if (written.length === 0) {
    ruleOut(0, begin);
    if (begin + mostAtBegin + 1 < logits.length) ruleOut(begin + mostAtBegin + 1, logits.length);
  }
  // If some time is likelier than each text, a time it is.
  if (logSumExp(logits.subarray(begin)) > maxOf(logits.subarray(0, begin))) ruleOut(0, begin);
}
