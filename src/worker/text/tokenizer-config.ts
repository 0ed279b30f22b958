/** What a repository says of its tokenizer beside `tokenizer.json`, as transformers reads it. */
import type { Files } from '../../contract/archive.js';
import { wrongValue } from '../../shared/read-options.js';
import { isRecord } from '../../shared/schema.js';
import type { AddedTokenJson } from './encoding/added-tokens.js';
import type { PostProcessor, TemplateItem } from './post-processor.js';
import { defaultTokens } from './tokenizer-classes.js';

export const TOKENIZER_CONFIG = 'tokenizer_config.json';
/** Files of before transformers 4.34. They count where `tokenizer_config.json` has no `added_tokens_decoder`. */
const SPECIAL_TOKENS_MAP = 'special_tokens_map.json';
const ADDED_TOKENS = 'added_tokens.json';

/** The tokens that transformers' tokenizers know by a name, and that templates may write. */
const NAMES = ['bos_token', 'eos_token', 'unk_token', 'sep_token', 'pad_token', 'cls_token', 'mask_token'];

type Config = Readonly<Record<string, unknown>>;

/**
 * Reads `tokenizer_config.json` with the special tokens of `special_tokens_map.json`; empty if there is neither.
 * @throws `model-format` if one of them is no mapping
 */
export async function readTokenizerConfig(files: Files): Promise<Config> {
  const config = await readMapping(files, TOKENIZER_CONFIG);
  if ('added_tokens_decoder' in config) return config;
  return { ...config, ...(await readMapping(files, SPECIAL_TOKENS_MAP)) };
}

async function readMapping(files: Files, path: string): Promise<Config> {
  const value = files.has(path) ? await files.json(path) : {};
  if (!isRecord(value)) throw wrongValue(path, 'a mapping', value, 'model-format');
  return value;
}

/** Returns the text of a token that is written as such, or as a mapping with its `content`. */
function textOf(token: unknown): string | undefined {
  const text = isRecord(token) ? token['content'] : token;
  return typeof text === 'string' ? text : undefined;
}

/** Returns the special tokens by their names, as templates may write them: by the files, or else by the class. */
export function specialTokensOf(config: Config): Readonly<Record<string, unknown>> {
  const { tokenizer_class: type, extra_special_tokens: extra, additional_special_tokens: more } = config;
  const defaults = typeof type === 'string' ? defaultTokens(type) : {};
  const all: Config = { ...defaults, ...config, ...(isRecord(extra) && extra) };
  const names = [...NAMES, ...(isRecord(extra) ? Object.keys(extra) : [])];
  const found = names.flatMap((name) => {
    const text = textOf(all[name]);
    return text === undefined ? [] : [[name, text] as const];
  });
  const others = Array.isArray(more) ? more.flatMap((one) => textOf(one) ?? []) : [];
  return { ...Object.fromEntries(found), ...(others.length > 0 && { additional_special_tokens: others }) };
}

/**
 * Returns the added tokens of `tokenizer.json` with what transformers makes of them: `added_tokens_decoder` or
 * `added_tokens.json` adds to them, and each that is special by its name is special. Of those that are named and are in
 * neither, only a word of the vocabulary has a number.
 * @param known the tokens that `tokenizer.json` adds
 * @param idOf returns the number of a word of the vocabulary
 */
export async function addedTokensOf(
  files: Files,
  config: Config,
  known: readonly AddedTokenJson[],
  idOf: (token: string) => number | undefined,
): Promise<readonly AddedTokenJson[]> {
  const special = new Set(Object.values(specialTokensOf(config)).flat() as string[]);
  const found = new Map(known.map((token) => [token.content, token]));
  const add = (content: string, number: unknown, flags: Config = {}): void => {
    const before = found.get(content);
    const id = before?.id ?? idOf(content) ?? number;
    if (!Number.isSafeInteger(id) || (id as number) < 0) return;
    const isSpecial = special.has(content) || (flags['special'] ?? before?.special) === true;
    found.set(content, { normalized: !isSpecial, ...before, ...flags, content, id: id as number, special: isSpecial });
  };
  const decoder = config['added_tokens_decoder'];
  const old = isRecord(decoder) ? {} : await readMapping(files, ADDED_TOKENS);
  for (const [id, token] of Object.entries(isRecord(decoder) ? decoder : {}))
    if (isRecord(token) && typeof token['content'] === 'string') add(token['content'], Number(id), token);
  for (const [content, id] of Object.entries(old)) add(content, id);
  for (const content of special) add(content, undefined);
  return [...found.values()];
}

/** The classes whose tokenizers make the ends of a text themselves, and whether it begins with `bos_token` by default. */
const ENDS: Readonly<Record<string, boolean>> = {
  CodeLlama: true,
  Cohere: true,
  Gemma: true,
  GPTNeoX: false,
  Llama: true,
};

/**
 * Returns the `post_processor` that transformers makes of `add_bos_token` and `add_eos_token`; undefined for a class that
 * leaves that of `tokenizer.json`, and where a token that it needs is missing.
 */
export function endsOf(config: Config, idOf: (token: string) => number | undefined): PostProcessor | undefined {
  const { tokenizer_class: type, add_bos_token: bos, add_eos_token: eos } = config;
  const name = typeof type === 'string' ? type.replace(/Tokenizer(Fast)?$/, '') : '';
  if (!Object.hasOwn(ENDS, name)) return undefined;
  const tokens = specialTokensOf(config);
  const [begins, ends] = [typeof bos === 'boolean' ? bos : ENDS[name]!, eos === true];
  const wanted = [begins ? tokens['bos_token'] : undefined, ends ? tokens['eos_token'] : undefined] as (
    | string
    | undefined
  )[];
  const ids = new Map(wanted.filter((token) => token !== undefined).map((token) => [token, idOf(token)]));
  const isMissing = (begins && wanted[0] === undefined) || (ends && wanted[1] === undefined);
  if (isMissing || [...ids.values()].includes(undefined)) return undefined;
  const part = (token: string | undefined, type_id: number): TemplateItem[] =>
    token === undefined ? [] : [{ SpecialToken: { id: token, type_id } }];
  const text = (id: 'A' | 'B', type_id: number): TemplateItem[] => [
    ...part(wanted[0], type_id),
    { Sequence: { id, type_id } },
    ...part(wanted[1], type_id),
  ];
  return {
    type: 'TemplateProcessing',
    single: text('A', 0),
    pair: [...text('A', 0), ...text('B', 1)],
    special_tokens: Object.fromEntries([...ids].map(([token, id]) => [token, { ids: [id!] }])),
  };
}
