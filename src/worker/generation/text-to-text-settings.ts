/** What a request may set for an answer of an encoder–decoder model, beside what any generated text has. */
import { TabServeError } from '../../contract/errors.js';
import type { Languages } from '../text/languages.js';
import type { BeamSettings } from './beams.js';
import type { ModelFacts } from './model-facts.js';
import { checkTokens, readSettings, snakeCase, type GenerationParams, type Settings } from './settings.js';

/** The `params` of `text_to_text`. Defaults are those of the repository's `generation_config.json`. */
export interface TextToTextParams extends GenerationParams {
  /**
   * How many answers are followed at once; the one with the best score is returned. Default: that of
   * generation_config.json, otherwise 1.
   * @integer
   * @minimum 1
   * @maximum 64
   */
  readonly numBeams?: number;
  /**
   * With several beams: above 0, longer answers score better; below 0, shorter ones. Default: that of
   * generation_config.json, otherwise 1.
   */
  readonly lengthPenalty?: number;
  /**
   * With several beams: whether the search ends as soon as there are that many complete answers. Otherwise it ends
   * when no better one is likely, and with "never" when none is possible. Default: that of generation_config.json,
   * otherwise false.
   */
  readonly earlyStopping?: boolean | 'never';
  /**
   * The first token of the answer. tgtLang sets it. Default: that of generation_config.json.
   * @integer
   * @minimum 0
   */
  readonly forcedBosTokenId?: number;
  /**
   * The token that the decoder begins with. It is no part of the answer. Default: that of generation_config.json
   * or config.json.
   * @integer
   * @minimum 0
   */
  readonly decoderStartTokenId?: number;
  /**
   * The language of the text, by its code in the tokenizer, such as eng_Latn or en_XX. Default: the tokenizer's
   * own.
   * @minLength 1
   */
  readonly srcLang?: string;
  /**
   * The language of the answer, by its code in the tokenizer.
   * @minLength 1
   */
  readonly tgtLang?: string;
}

/** The settings of one answer. */
export interface TextToTextSettings extends Settings {
  /** The token of the text's language; undefined for the one that the files name. */
  readonly sourceLanguage: number | undefined;
  readonly startTokenId: number;
  /** Undefined if a single answer is followed. */
  readonly beams: BeamSettings | undefined;
}

/**
 * Returns the settings of one answer.
 * @param param returns what the request or the config sets
 * @param room the most tokens of an answer
 * @param promptLength how many tokens the decoder begins with
 * @throws `invalid-input` for a token or a language that the model does not have, and for settings that exclude each
 *   other; `model-config` if nothing says how the decoder begins
 */
export function readTextToTextSettings(
  param: <Name extends keyof TextToTextParams>(name: Name) => TextToTextParams[Name],
  facts: ModelFacts,
  languages: Languages | undefined,
  room: number,
  promptLength = 1,
): TextToTextSettings {
  const own = <Name extends keyof TextToTextParams>(name: Name): TextToTextParams[Name] =>
    param(name) ?? ((facts.defaults[snakeCase(name)] ?? undefined) as TextToTextParams[Name]);
  const settings = readSettings(param, facts, promptLength, room);
  const language = (name: 'srcLang' | 'tgtLang'): number | undefined => {
    const code = param(name);
    return code === undefined ? undefined : languageId(languages, name, code);
  };
  const forcedBosTokenId = language('tgtLang') ?? own('forcedBosTokenId');
  const startTokenId = own('decoderStartTokenId') ?? facts.startTokenId;
  if (startTokenId === undefined)
    throw new TabServeError(
      'model-config',
      'Neither generation_config.json nor config.json has a decoder_start_token_id, with which the decoder begins. Set handler.decoderStartTokenId.',
    );
  checkTokens('decoderStartTokenId, forcedBosTokenId', [startTokenId, forcedBosTokenId ?? 0], facts);
  const numBeams = own('numBeams') ?? 1;
  const beams =
    numBeams === 1
      ? undefined
      : { numBeams, lengthPenalty: own('lengthPenalty') ?? 1, earlyStopping: own('earlyStopping') ?? false };
  const excluded = beams && excludedByBeams(settings);
  if (excluded)
    throw new TabServeError(
      'invalid-input',
      `params.${excluded}: it is not supported with several beams (numBeams is ${numBeams}). Leave it out, or set numBeams to 1.`,
    );
  return { ...settings, sourceLanguage: language('srcLang'), forcedBosTokenId, startTokenId, beams };
}

/** Returns the param that several beams exclude. */
function excludedByBeams({ sampling, stop, topLogprobs }: Settings): string | undefined {
  if (sampling) return 'doSample';
  if (stop.length > 0) return 'stop';
  return topLogprobs === undefined ? undefined : 'topLogprobs';
}

/** @throws `invalid-input` if the tokenizer has no languages, or not this one */
function languageId(languages: Languages | undefined, name: 'srcLang' | 'tgtLang', code: string): number {
  if (languages) return languages.idOf(code, name);
  throw new TabServeError(
    'invalid-input',
    `params.${name}: this model's tokenizer has no codes of languages. Leave it out. Some models, such as T5, are told in the text itself: "translate English to German: …".`,
  );
}
