/**
 * When an answer of Whisper counts: `_need_fallback` of transformers. An answer that repeats itself, or that the model
 * thinks unlikely, is discarded, and another one is sampled at a higher temperature. Where an unlikely answer is
 * probably to silence, nothing was said.
 */
import type { SegmentQuality } from '../../../contract/spoken-text.js';
import { softmax } from '../../outputs/scores.js';

/** Undefined for what counts whatever it is. */
export interface Thresholds {
  /** The most. */
  readonly compressionRatio: number | undefined;
  /** The least. */
  readonly logprob: number | undefined;
  /** The most. */
  readonly noSpeech: number | undefined;
}

/** Returns whether nothing was said, whatever the answer: as in OpenAI's Whisper, if none is too unlikely. */
export function isSilence(noSpeechProb: number | undefined, { noSpeech, logprob }: Thresholds): boolean {
  return logprob === undefined && isQuiet(noSpeechProb, noSpeech);
}

/** Returns whether an answer counts, or is to be written again, or is to silence. */
export function judge(
  { compressionRatio, avgLogprob, noSpeechProb }: SegmentQuality,
  thresholds: Thresholds,
): 'counts' | 'again' | 'silence' {
  const isUnlikely = avgLogprob < (thresholds.logprob ?? -Infinity);
  if (isUnlikely && isQuiet(noSpeechProb, thresholds.noSpeech)) return 'silence';
  return isUnlikely || compressionRatio > (thresholds.compressionRatio ?? Infinity) ? 'again' : 'counts';
}

function isQuiet(noSpeechProb = 0, most = Infinity): boolean {
  return noSpeechProb > most;
}

/** Returns the probability that nothing is said. @param logits after the token that the decoder begins with */
export function silenceOf(logits: Float32Array, noTimes: number): number {
  // The token before that of no times: <|nospeech|>, or <|nocaptions|>.
  return softmax(logits)[noTimes - 1]!;
}

/** Of each token: as many as transformers takes of a vocabulary of 256 to 65,535 tokens. */
const BYTES = 2;

/**
 * Returns how many times shorter zlib makes the tokens of an answer. Browsers and Node have another zlib than Python: near
 * the usual threshold of 2.4, ratios differ by less than 4%.
 */
export async function compressionRatioOf(tokens: readonly number[]): Promise<number> {
  const bytes = new DataView(new ArrayBuffer(tokens.length * BYTES));
  for (const [at, token] of tokens.entries()) bytes.setUint16(at * BYTES, token, true);
  const compressed = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate'));
  return bytes.byteLength / (await new Response(compressed).arrayBuffer()).byteLength;
}
