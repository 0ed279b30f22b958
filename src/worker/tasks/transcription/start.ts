/** What Whisper's decoder begins with: the language, the task, and whether it writes times. `_retrieve_init_tokens` of transformers. */
import { shorten } from '../../../contract/describe-value.js';
import { TabServeError } from '../../../contract/errors.js';
import { underivable, type Json } from '../../../shared/hugging-face.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import { isRecord } from '../../../shared/schema.js';
import { argmax } from '../../generation/sample.js';
import { softmax } from '../../outputs/scores.js';
import type { SpokenDetails } from '../../../contract/spoken-text.js';
import { GENERATION_CONFIG, type ModelFacts, isToken } from '../../generation/model-facts.js';

/** What is done with speech: it is written in its language, or in English. */
export const SPEECH_TASKS = ['transcribe', 'translate'] as const;
export type SpeechTask = (typeof SPEECH_TASKS)[number];

/** What the files say of the beginning of all answers. */
export interface StartFacts {
  readonly startTokenId: number;
  /** Tokens by the codes of languages; undefined if the model has one language, or the file is an old one. */
  readonly languages: ReadonlyMap<string, number> | undefined;
  readonly tasks: ReadonlyMap<string, number> | undefined;
  readonly isEnglishOnly: boolean;
  /** The tokens after the first one, where neither language nor task is set; null for one that the model chooses. */
  readonly forced: readonly (number | null)[];
  /** The token of an answer without times; the next ones are times. */
  readonly noTimes: number | undefined;
  /** The defaults. */
  readonly language: string | undefined;
  readonly task: SpeechTask | undefined;
}

/**
 * Reads what the files say.
 * @param model the parsed `config.json`
 * @throws `model-config` naming a key of the wrong type, or if nothing says how the decoder begins
 */
export function readStartFacts({ startTokenId, defaults: generation }: ModelFacts, model: Json): StartFacts {
  if (startTokenId === undefined)
    throw wrong('decoder_start_token_id', startTokenId, 'the token with which the decoder begins');
  const { language, task, no_timestamps_token_id: noTimes, max_initial_timestamp_index: latest } = generation;
  if (!isMissing(language) && typeof language !== 'string') throw wrong('language', language, 'the code of a language');
  if (!isMissing(task) && !SPEECH_TASKS.includes(task as SpeechTask))
    throw wrong('task', task, SPEECH_TASKS.join(' or '));
  if (!isMissing(noTimes) && !isToken(noTimes)) throw wrong('no_timestamps_token_id', noTimes, 'a token');
  if (!isMissing(latest) && !isToken(latest))
    throw wrong('max_initial_timestamp_index', latest, 'how many steps after 0 seconds a first time may lie');
  return {
    startTokenId,
    languages: idsOf(generation, 'lang_to_id'),
    tasks: idsOf(generation, 'task_to_id'),
    isEnglishOnly: generation['is_multilingual'] === false,
    forced: forcedOf(generation['forced_decoder_ids'] ?? model['forced_decoder_ids']),
    noTimes: (noTimes ?? undefined) as number | undefined,
    language: (language ?? undefined) as string | undefined,
    task: (task ?? undefined) as SpeechTask | undefined,
  };
}

/** The language of a recording. */
export type HeardLanguage = Pick<SpokenDetails, 'language' | 'languageProbability'>;

/** Returns the language that an answer begins with, if it names one. */
export function languageOf(start: readonly number[], { languages }: StartFacts): HeardLanguage | undefined {
  const found = [...(languages ?? [])].find(([, token]) => token === start[1]);
  return found && { language: found[0] };
}

/** Returns the likeliest language. @param logits after the first token */
export function detectLanguage(
  logits: Float32Array,
  { languages }: StartFacts,
): { readonly token: number; readonly language: HeardLanguage } {
  const all = [...languages!];
  const probabilities = softmax(all.map(([, token]) => logits[token]!));
  const best = argmax(Float32Array.from(all, ([, token]) => logits[token]!));
  const [language, token] = all[best]!;
  return { token, language: { language, languageProbability: probabilities[best]! } };
}

/** What a request wants of its answer's beginning. */
export interface StartWishes {
  readonly language: string | undefined;
  readonly task: SpeechTask | undefined;
  readonly hasTimes: boolean;
}

/**
 * Returns the tokens that an answer begins with; undefined stands for that of the language, which is to be detected.
 * @throws `invalid-input` for a language or task that the model does not have
 */
export function startTokens(facts: StartFacts, wishes: StartWishes): readonly (number | undefined)[] {
  const { languages, tasks, noTimes } = facts;
  checkWishes(facts, wishes);
  const language = wishes.language ?? facts.language;
  const task = wishes.task ?? facts.task;
  const forced = language === undefined && task === undefined ? facts.forced : [];
  const tokens: (number | null | undefined)[] = [facts.startTokenId, ...forced];
  if (language !== undefined) tokens[1] = languageId(facts, language);
  else if (languages && (tokens[1] ?? null) === null) tokens[1] = undefined;
  if (task !== undefined) tokens.push(taskId(facts, task));
  else if (language !== undefined && tasks) tokens.push(taskId(facts, 'transcribe'));
  if (wishes.hasTimes && tokens.at(-1) === noTimes) tokens.pop();
  if (!wishes.hasTimes && noTimes !== undefined && tokens.at(-1) !== noTimes) tokens.push(noTimes);
  return tokens.filter((token) => token !== null);
}

/** @throws `invalid-input` for what a model that only hears English cannot do, and for times that it does not write */
function checkWishes({ isEnglishOnly, noTimes }: StartFacts, { language, task, hasTimes }: StartWishes): void {
  const name = language !== undefined ? 'language' : task !== undefined ? 'task' : undefined;
  if (isEnglishOnly && name)
    throw new TabServeError(
      'invalid-input',
      `params.${name}: the model is for English alone, and transcribes it (${GENERATION_CONFIG}: is_multilingual is false). Leave it out, or load a multilingual model.`,
    );
  if (hasTimes && noTimes === undefined)
    throw new TabServeError(
      'invalid-input',
      `params.timestamps: the model writes no times: ${GENERATION_CONFIG} has no no_timestamps_token_id, which comes before their tokens. Leave it out.`,
    );
}

/** @throws `invalid-input` */
function languageId({ languages }: StartFacts, given: string): number {
  if (!languages)
    throw new TabServeError(
      'invalid-input',
      `params.language: ${GENERATION_CONFIG} has no lang_to_id, which has the tokens of languages. Leave it out, or take the model's newer file.`,
    );
  const wanted = bare(given.toLowerCase());
  const codes = [wanted, ALIASES[wanted], ...languages.keys()].filter((one) => one !== undefined && languages.has(one));
  const code =
    codes.find((one) => one === wanted || one === ALIASES[wanted] || nameOf(one!) === wanted) ??
    // A tag with a region or a script, such as en-US.
    codes.find((one) => one === /^([a-z]{2,3})[-_]/.exec(wanted)?.[1]);
  if (code !== undefined) return languages.get(code)!;
  throw new TabServeError(
    'invalid-input',
    `params.language: the model has no language "${shorten(given)}". It has ${[...languages.keys()].join(', ')}.`,
  );
}

/** The names that Whisper has for languages which `Intl` calls otherwise. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  bn: 'bengali',
  mi: 'maori',
  my: 'myanmar',
  nn: 'nynorsk',
  tl: 'tagalog',
};

/** Other names of languages, as in OpenAI's Whisper. */
const ALIASES: Readonly<Record<string, string>> = {
  burmese: 'my',
  castilian: 'es',
  flemish: 'nl',
  haitian: 'ht',
  letzeburgesch: 'lb',
  mandarin: 'zh',
  moldavian: 'ro',
  moldovan: 'ro',
  panjabi: 'pa',
  pushto: 'ps',
  sinhalese: 'si',
  valencian: 'ca',
};

/** Returns the English name of a language, in lower case. */
function nameOf(code: string): string | undefined {
  if (Object.hasOwn(OTHER_NAMES, code)) return OTHER_NAMES[code];
  if (!/^[a-z]{2,3}$/.test(code)) return undefined;
  return new Intl.DisplayNames(['en'], { type: 'language' }).of(code)?.toLowerCase();
}

/** @throws `invalid-input` */
function taskId({ tasks }: StartFacts, task: SpeechTask): number {
  const id = tasks?.get(task);
  if (id !== undefined) return id;
  throw new TabServeError(
    'invalid-input',
    `params.task: ${GENERATION_CONFIG} has no token for "${task}" in task_to_id. Leave it out, or take the model's newer file.`,
  );
}

/** Returns tokens by name, without the marks around it: `<|en|>` is `en`. */
function idsOf(generation: Json, key: string): ReadonlyMap<string, number> | undefined {
  const ids = generation[key];
  if (isMissing(ids)) return undefined;
  if (!isRecord(ids) || !Object.values(ids).every(isToken) || Object.keys(ids).length === 0)
    throw wrong(key, ids, 'a mapping of names to tokens, or none');
  return new Map(Object.entries(ids).map(([name, id]) => [bare(name), id as number]));
}

function bare(name: string): string {
  return name.replace(/^<\|(.*)\|>$/, '$1');
}

/** Returns the tokens of `[[1, token], [2, token], …]`. @throws `model-config` if a place is left out */
function forcedOf(pairs: unknown): readonly (number | null)[] {
  if (isMissing(pairs)) return [];
  const isPair = (pair: unknown, at: number): boolean =>
    Array.isArray(pair) && pair[0] === at + 1 && (pair[1] === null || isToken(pair[1]));
  if (Array.isArray(pairs) && pairs.every(isPair))
    return (pairs as [number, number | null][]).map(([, token]) => token);
  throw wrong('forced_decoder_ids', pairs, 'a list of [place, token] with the places 1, 2 and so on');
}

function isMissing(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

function wrong(key: string, value: unknown, expected: string): TabServeError {
  const file = key === 'forced_decoder_ids' ? `${GENERATION_CONFIG} or ${HF_CONFIG}` : GENERATION_CONFIG;
  return underivable(file, key, value, expected, 'Correct the file.');
}
