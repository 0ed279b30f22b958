/** Writes the answer to a window of sound: `generate_with_fallback` of transformers. */
import type { SegmentQuality } from '../../../contract/spoken-text.js';
import { NO_TOKEN, type Step } from '../../generation/generate.js';
import { compressionRatioOf, isSilence, judge } from './quality.js';
import type { SpeechSettings } from './settings.js';

/** What was written. */
export interface WindowAnswer {
  /** The tokens, without the one that ended the answer. */
  readonly tokens: readonly number[];
  /** The tokens that the decoder has run on, without those that it began with. */
  readonly fed: readonly number[];
  /** Undefined if neither times nor thresholds are asked for. */
  readonly quality: SegmentQuality | undefined;
}

/**
 * Writes an answer, again at each temperature until it passes the thresholds; the last one counts. With thresholds, all
 * tokens come at the end, when the answer is known to count.
 * @param write starts an answer
 * @param noSpeechProb the probability that nothing is said in the window, if it is asked for
 * @param textOf returns what is text of the tokens so far
 * @returns undefined for silence
 */
export async function* answerWindow(
  write: (settings: SpeechSettings) => AsyncIterable<Step>,
  settings: SpeechSettings,
  noSpeechProb: number | undefined,
  textOf: (tokens: readonly number[]) => readonly number[],
): AsyncGenerator<Step, WindowAnswer | undefined> {
  const { thresholds, temperatures } = settings;
  if (thresholds && isSilence(noSpeechProb, thresholds)) return undefined;
  const attempts = temperatures?.map((temperature) => atTemperature(settings, temperature)) ?? [settings];
  for (const [at, attempt] of attempts.entries()) {
    const [tokens, all, logprobs, ruled]: [number[], number[], number[], number[]] = [[], [], [], []];
    let finishReason: Step['finishReason'];
    for await (const step of write(attempt)) {
      tokens.push(...step.text);
      all.push(...step.tokens);
      logprobs.push(...step.logprobs);
      ruled.push(...(step.ruledLogprobs ?? []));
      ({ finishReason } = step);
      yield thresholds ? NO_TOKEN : { ...step, text: textOf(tokens) };
    }
    const { sampling } = attempt;
    const quality = attempt.returnRuledLogprobs
      ? {
          temperature: sampling ? (sampling.temperature ?? 1) : 0,
          avgLogprob: ruled.reduce((sum, one) => sum + one, 0) / ruled.length,
          compressionRatio: await compressionRatioOf(all),
          noSpeechProb,
        }
      : undefined;
    const verdict = quality && thresholds ? judge(quality, thresholds) : 'counts';
    if (verdict === 'silence') return undefined;
    if (verdict === 'again' && at < attempts.length - 1) continue;
    if (thresholds) yield { tokens: all, text: textOf(tokens), logprobs, finishReason };
    return { tokens, fed: all.slice(0, -1), quality };
  }
  return undefined;
}

/** Returns the settings of an answer at a temperature; at 0, of the most probable one. Beams are for that alone. */
function atTemperature(settings: SpeechSettings, temperature: number): SpeechSettings {
  const { sampling } = settings;
  return temperature === 0
    ? { ...settings, sampling: undefined }
    : { ...settings, sampling: { ...sampling!, temperature }, beams: undefined };
}
