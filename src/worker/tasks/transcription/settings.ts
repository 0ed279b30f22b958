/** What a request may set for the text of a recording. */
import { TabServeError } from '../../../contract/errors.js';
import { GENERATION_CONFIG, type ModelFacts } from '../../generation/model-facts.js';
import {
  readTextToTextSettings,
  type TextToTextParams,
  type TextToTextSettings,
} from '../../generation/text-to-text-settings.js';
import { checkTokens, readSampling, snakeCase, type TokenId } from '../../generation/settings.js';
import type { Json } from '../../../shared/hugging-face.js';
import type { Alignment } from './alignment.js';
import type { Thresholds } from './quality.js';
import { speechRules } from './rules.js';
import { startTokens, type SpeechTask, type StartFacts } from './start.js';

/**
 * A temperature, or 0 for the most probable tokens.
 * @minimum 0
 */
type Temperature = number;

/**
 * Those that are tried one after another.
 * @minItems 1
 * @maxItems 20
 */
type Temperatures = readonly Temperature[];

/** The `params` of a recording's text. Defaults are those of the repository's `generation_config.json`. */
export interface SpeechParams extends Omit<
  TextToTextParams,
  'srcLang' | 'tgtLang' | 'forcedBosTokenId' | 'decoderStartTokenId' | 'topLogprobs'
> {
  /**
   * What language is spoken: its code, such as en, with or without a region, or its English name. Default: that of generation_config.json,
   * otherwise the model detects it.
   * @minLength 1
   */
  readonly language?: string;
  /**
   * What the text follows, such as a text with names and terms as they are spelled: each window is answered as if it had
   * been said before. The last half of the decoder's positions counts, of Whisper 223 tokens. Not for Moonshine.
   */
  readonly prompt?: string;
  /**
   * Whether the text is in the language that is spoken (transcribe), or in English (translate). Default: that of
   * generation_config.json.
   */
  readonly task?: SpeechTask;
  /**
   * Whether the answer says when each segment or each word was said. The times of words follow from the cross
   * attentions of the decoder, which not every export has. Default: segment if return_timestamps of
   * generation_config.json is true, otherwise it does not.
   */
  readonly timestamps?: 'segment' | 'word';
  /**
   * A window is answered at each of these temperatures until an answer passes the thresholds; the last one counts. At 0,
   * the most probable tokens are taken. OpenAI's Whisper has 0, 0.2, 0.4, 0.6, 0.8 and 1. They take the place of doSample and temperature.
   */
  readonly temperatures?: Temperatures;
  /**
   * An answer does not pass if zlib compresses its tokens by more than this factor: it repeats itself. 2.4 in OpenAI's
   * Whisper. Default: that of generation_config.json.
   * @exclusiveMinimum 0
   */
  readonly compressionRatioThreshold?: number;
  /**
   * An answer does not pass if the mean of the logarithms of its tokens' probabilities is less. −1 in OpenAI's Whisper.
   * Default: that of generation_config.json.
   * @maximum 0
   */
  readonly logprobThreshold?: number;
  /**
   * A window has no text if the probability that nothing is said is more than this, and the answer does not pass
   * logprobThreshold. Without logprobThreshold, the probability alone decides, before anything is written. 0.6 in OpenAI's Whisper.
   * Default: that of generation_config.json.
   * @minimum 0
   * @maximum 1
   */
  readonly noSpeechThreshold?: number;
  /** Tokens that are never written. Default: those of generation_config.json. */
  readonly suppressTokens?: readonly TokenId[];
  /** Tokens that no text begins with. Default: those of generation_config.json. */
  readonly beginSuppressTokens?: readonly TokenId[];
}

/** Params of texts alone: what a recording's text begins with, `language` and `task` say. */
const OF_TEXTS: ReadonlySet<string> = new Set(['srcLang', 'tgtLang', 'forcedBosTokenId', 'decoderStartTokenId']);

/** The settings of the text of one recording. */
export interface SpeechSettings extends TextToTextSettings {
  /** The tokens of the prompt, before those that the decoder begins with. */
  readonly previous: readonly number[];
  /** The tokens that the decoder begins with; undefined stands for that of the language, which is to be detected. */
  readonly start: readonly (number | undefined)[];
  /** Whether times are written. */
  readonly hasTimes: boolean;
  /** How the words' times are found, if they are asked for. */
  readonly alignment: Alignment | undefined;
  /** The temperatures at which a window is answered; undefined for one answer. */
  readonly temperatures: readonly number[] | undefined;
  /** What an answer must pass; undefined if every one counts. */
  readonly thresholds: Thresholds | undefined;
}

/**
 * Returns the settings of the text of one recording.
 * @param param returns what the request or the config sets
 * @param most the most tokens of a text, with those that it begins with
 * @param alignmentOf reads how words are found
 * @param promptOf returns the tokens of a prompt
 * @throws what `readTextToTextSettings` and `startTokens` throw; `invalid-input` for settings that exclude each other
 */
export function readSpeechSettings(
  param: <Name extends keyof SpeechParams>(name: Name) => SpeechParams[Name],
  facts: ModelFacts,
  startFacts: StartFacts,
  most: number,
  alignmentOf: (defaults: Json) => Alignment,
  promptOf: (text: string) => readonly number[],
): SpeechSettings {
  const { defaults } = facts;
  const timestamps = param('timestamps');
  const hasTimes = timestamps !== undefined || defaults['return_timestamps'] === true;
  const start = startTokens(startFacts, { language: param('language'), task: param('task'), hasTimes });
  checkTokens(
    'language, task and no_timestamps_token_id',
    start.filter((token) => token !== undefined),
    facts,
  );
  const prompt = param('prompt');
  const previous = prompt === undefined ? [] : promptOf(prompt);
  const promptLength = previous.length + start.length;
  const temperatures = param('temperatures');
  const thresholds = readThresholds(param, facts, startFacts);
  const ofWriting = (name: string): unknown => {
    if (OF_TEXTS.has(name)) return undefined;
    if (name === 'maxNewTokens') return param(name) ?? maxNewTokens(defaults, promptLength, most);
    // The temperatures decide whether tokens are sampled.
    if (temperatures && name === 'doSample') return false;
    return temperatures && name === 'temperature' ? undefined : param(name as never);
  };
  const settings = readTextToTextSettings(ofWriting as never, facts, undefined, most - promptLength, promptLength);
  const sampling = temperatures?.some((one) => one > 0) ? readSampling(ofWriting as never, facts) : settings.sampling;
  if (hasTimes && settings.stop.length > 0)
    throw new TabServeError(
      'invalid-input',
      'params.stop: it is not supported with timestamps. Leave one of them out.',
    );
  if (settings.topLogprobs !== undefined)
    throw new TabServeError(
      'invalid-input',
      "params.topLogprobs: it is not supported for a recording's text. returnLogprobs returns the probabilities of its tokens.",
    );
  const tokens = (own: 'suppressTokens' | 'beginSuppressTokens', key: string): readonly number[] => {
    const found = param(own) ?? ((defaults[key] ?? []) as readonly number[]);
    checkTokens(own, found, facts);
    return found;
  };
  const begin = hasTimes ? startFacts.noTimes! + 1 : Infinity;
  const latest = defaults['max_initial_timestamp_index'];
  const ruleOut = speechRules({
    suppressTokens: tokens('suppressTokens', 'suppress_tokens'),
    beginSuppressTokens: tokens('beginSuppressTokens', 'begin_suppress_tokens'),
    times: hasTimes
      ? {
          begin,
          textEnd: Math.min(begin, ...settings.eosTokenIds),
          mostAtBegin: typeof latest === 'number' ? latest : Infinity,
        }
      : undefined,
  });
  // `ruleOut` has them, because a request may set them.
  const fileRules = settings.fileRules && { ...settings.fileRules, suppressTokens: [], beginSuppressTokens: [] };
  const alignment = timestamps === 'word' ? alignmentOf(defaults) : undefined;
  const returnRuledLogprobs = hasTimes || thresholds !== undefined;
  const ofWindows = { temperatures, thresholds, returnRuledLogprobs };
  return { ...settings, sampling, fileRules, previous, start, hasTimes, alignment, ruleOut, ...ofWindows };
}

/** Returns the most tokens of an answer by the files: `max_length` leaves out what it begins with, as in transformers. */
function maxNewTokens(
  { max_new_tokens: own, max_length: length }: Json,
  promptLength: number,
  most: number,
): number | undefined {
  if (typeof own === 'number' || typeof length !== 'number') return undefined;
  return Math.min(length + Math.min(promptLength - 1, Math.floor(most / 2) - 1), most) - promptLength;
}

/** @throws `invalid-input` for a threshold of silence, if the model has no token for it */
function readThresholds(
  param: <Name extends keyof SpeechParams>(name: Name) => SpeechParams[Name],
  { defaults }: ModelFacts,
  { noTimes }: StartFacts,
): Thresholds | undefined {
  const own = (name: 'compressionRatioThreshold' | 'logprobThreshold' | 'noSpeechThreshold'): number | undefined =>
    param(name) ?? ((defaults[snakeCase(name)] ?? undefined) as number | undefined);
  const [compressionRatio, logprob, noSpeech] = [
    own('compressionRatioThreshold'),
    own('logprobThreshold'),
    own('noSpeechThreshold'),
  ];
  if (noSpeech !== undefined && noTimes === undefined)
    throw new TabServeError(
      'invalid-input',
      `params.noSpeechThreshold: the model has no token of silence, which comes before no_timestamps_token_id of ${GENERATION_CONFIG}. Leave it out.`,
    );
  const all = { compressionRatio, logprob, noSpeech };
  return Object.values(all).every((one) => one === undefined) ? undefined : all;
}
