/** What a request may set for an answer, in the words of transformers' `GenerationConfig`. */
import { TabServeError } from '../../contract/errors.js';
import type { Json } from '../../shared/hugging-face.js';
import { readFileRules, stopStringsOf } from './file-rules.js';
import type { Automaton } from './grammar/automaton.js';
import type { LogitRules, SamplingRules } from './logits.js';
import type { ModelFacts } from './model-facts.js';

/**
 * The number of a token in the vocabulary.
 * @integer
 * @minimum 0
 */
export type TokenId = number;

/**
 * Tokens in a row.
 * @minItems 1
 * @maxItems 100
 */
type Tokens = readonly TokenId[];

/**
 * Sequences of tokens. Each token of an answer is compared with them.
 * @maxItems 10000
 */
type BadWords = readonly Tokens[];

/**
 * Tokens that end an answer.
 * @maxItems 100
 */
type EndTokens = readonly TokenId[];

/**
 * A text that is not empty.
 * @minLength 1
 */
type StopText = string;

/**
 * Several of them.
 * @maxItems 1000
 */
type StopTexts = readonly StopText[];

/** The `params` of a handler that writes text. Defaults are those of the repository's `generation_config.json`. */
export interface GenerationParams {
  /**
   * The maximum number of tokens of the answer. Default: that of generation_config.json, otherwise 256.
   * @integer
   * @minimum 1
   */
  readonly maxNewTokens?: number;
  /**
   * The fewest tokens before one that ends the answer.
   * @integer
   * @minimum 0
   */
  readonly minNewTokens?: number;
  /**
   * Whether each token is sampled by its probability. Otherwise, it is the most probable one. Default: that of
   * generation_config.json, otherwise false.
   */
  readonly doSample?: boolean;
  /**
   * With doSample, the same seed gives the same answer. Without one, each answer has another.
   * @integer
   * @minimum 0
   * @maximum 9007199254740991
   */
  readonly seed?: number;
  /**
   * With doSample: divides the logits; above 1, unlikely tokens become likelier.
   * @exclusiveMinimum 0
   */
  readonly temperature?: number;
  /**
   * With doSample: one of this many most probable tokens is sampled; 0 for all. Default: that of generation_config.json,
   * otherwise 50.
   * @integer
   * @minimum 0
   */
  readonly topK?: number;
  /**
   * With doSample: only the most probable tokens that together have this probability, in 0..1.
   * @minimum 0
   * @maximum 1
   */
  readonly topP?: number;
  /**
   * With doSample: only tokens with this share of the best one's probability, in 0..1.
   * @minimum 0
   * @maximum 1
   */
  readonly minP?: number;
  /**
   * Above 1, tokens that were there become less likely.
   * @exclusiveMinimum 0
   */
  readonly repetitionPenalty?: number;
  /**
   * No sequence of this many tokens occurs twice; 0 for no such rule.
   * @integer
   * @minimum 0
   */
  readonly noRepeatNgramSize?: number;
  /** Sequences of tokens that must not be written. */
  readonly badWordsIds?: BadWords;
  /**
   * Texts at which the answer ends. They are not part of it. Default: stop_strings of generation_config.json. A special
   * token ends the answer if it is one of them.
   */
  readonly stop?: StopText | StopTexts;
  /** The tokens that end the answer. Default: those of generation_config.json. */
  readonly eosTokenId?: TokenId | EndTokens;
  /**
   * Whether the result has the logarithm of the probability of each token.
   * @default false
   */
  readonly returnLogprobs?: boolean;
  /**
   * The result lists the tokens of its text, each with its probability and this many of the most probable alternatives.
   * @integer
   * @minimum 0
   * @maximum 20
   */
  readonly topLogprobs?: number;
}

/** Without a value in `generation_config.json`: as transformers' pipelines have it. */
const MAX_NEW_TOKENS = 256;
/** transformers' own default. */
const TOP_K = 50;

/** The settings of one answer. */
export interface Settings extends LogitRules {
  /** What the answer must be; undefined for any text. */
  readonly grammar?: Automaton | undefined;
  /** Undefined where the most probable token is taken. */
  readonly sampling: (SamplingRules & { readonly seed: number }) | undefined;
  readonly stop: readonly string[];
  readonly returnLogprobs: boolean;
  /** Whether steps have the probabilities of tokens among those that the rules leave, too. */
  readonly returnRuledLogprobs?: boolean | undefined;
  /** How many of the most probable tokens are told in each place; undefined if none of the tokens are. */
  readonly topLogprobs?: number | undefined;
}

/**
 * Returns the settings of one answer.
 * @param param returns what the request or the config sets
 * @param room how many tokens fit after the prompt
 * @throws `invalid-input` for a token that the vocabulary does not have; `model-config` for a default of sampling
 *   that is out of range
 */
export function readSettings(
  param: <Name extends keyof GenerationParams>(name: Name) => GenerationParams[Name],
  facts: ModelFacts,
  promptLength: number,
  room: number,
): Settings {
  const { defaults, eosTokenIds } = facts;
  const own = <Name extends keyof GenerationParams>(name: Name): GenerationParams[Name] =>
    param(name) ?? ((defaults[snakeCase(name)] ?? undefined) as GenerationParams[Name]);
  const eos = own('eosTokenId') ?? eosTokenIds;
  const badWordsIds = own('badWordsIds');
  const forcedEos = defaults['forced_eos_token_id'] as number | readonly number[] | null | undefined;
  const settings: Settings = {
    maxNewTokens: Math.min(maxNewTokens(own('maxNewTokens'), defaults, promptLength), room),
    minNewTokens: own('minNewTokens') ?? minNewTokens(defaults, promptLength),
    repetitionPenalty: own('repetitionPenalty'),
    noRepeatNgramSize: own('noRepeatNgramSize'),
    badWordsIds,
    eosTokenIds: [eos].flat(),
    forcedBosTokenId: (defaults['forced_bos_token_id'] ?? undefined) as number | undefined,
    forcedEosTokenIds: forcedEos === undefined || forcedEos === null ? undefined : [forcedEos].flat(),
    sampling: own('doSample') === true ? readSampling(param, facts) : undefined,
    stop: [own('stop') ?? stopStringsOf(defaults)].flat(),
    fileRules: readFileRules(defaults),
    returnLogprobs: own('returnLogprobs') === true,
    topLogprobs: own('topLogprobs'),
  };
  const { forcedBosTokenId, forcedEosTokenIds = [] } = settings;
  const forced = [...(forcedBosTokenId === undefined ? [] : [forcedBosTokenId]), ...forcedEosTokenIds];
  const tokens = [...settings.eosTokenIds, ...(badWordsIds ?? []).flat(), ...forced];
  checkTokens('eosTokenId, badWordsIds, forced_bos_token_id and forced_eos_token_id', tokens, facts);
  return settings;
}

/** Returns how tokens are sampled. @throws `model-config` for a default that is out of range */
export function readSampling(
  param: <Name extends keyof GenerationParams>(name: Name) => GenerationParams[Name],
  { defaults, checkSampling }: ModelFacts,
): NonNullable<Settings['sampling']> {
  checkSampling((name) => param(name) === undefined);
  const own = <Name extends keyof GenerationParams>(name: Name): GenerationParams[Name] =>
    param(name) ?? ((defaults[snakeCase(name)] ?? undefined) as GenerationParams[Name]);
  return {
    temperature: own('temperature'),
    topK: own('topK') ?? TOP_K,
    topP: own('topP'),
    minP: own('minP'),
    seed: own('seed') ?? Math.floor(Math.random() * Number.MAX_SAFE_INTEGER),
  };
}

/** @throws `invalid-input` for a token that the vocabulary does not have, if its size is known */
export function checkTokens(
  keys: string,
  tokens: readonly number[],
  { vocabularySize = Infinity }: Pick<ModelFacts, 'vocabularySize'>,
): void {
  const wrong = tokens.find((token) => token >= vocabularySize);
  if (wrong === undefined) return;
  throw new TabServeError(
    'invalid-input',
    `${keys}: the vocabulary has ${vocabularySize} tokens, and ${wrong} is none of them.`,
  );
}

function maxNewTokens(own: number | undefined, { max_length: all }: Json, promptLength: number): number {
  if (own !== undefined) return own;
  // Old files limit prompt and answer together.
  return typeof all === 'number' && all > promptLength ? all - promptLength : MAX_NEW_TOKENS;
}

/** Returns the minimum of new tokens: old files count prompt and answer together here, too. */
function minNewTokens({ min_length: all }: Json, promptLength: number): number | undefined {
  return typeof all === 'number' ? Math.max(0, all - promptLength) : undefined;
}

/** Returns transformers' own name of a param. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
