import { TabServeError } from '../../../contract/errors.js';
import { isRecord } from '../../../shared/schema.js';

/** A token of a word, and the units of the word that it stands for. */
export interface Piece {
  readonly id: number;
  readonly start: number;
  readonly end: number;
}

/** Tokenizes one word. */
export type TokenizeWord = (word: string) => readonly Piece[];

/** The model of a tokenizer, as the library has built it. */
export interface BuiltModel {
  /** Returns the tokens of words. Those that the vocabulary lacks are not joined. */
  encode(words: string[]): readonly string[];
  /** Unigram: returns the tokens of a word. */
  tokenize?(word: string): readonly string[];
  readonly tokens_to_ids: Map<string, number>;
  readonly unk_token_id?: number | undefined;
  readonly unk_token?: string | undefined;
  /** Byte-pair encoding: returns a word's symbols, also those that the vocabulary lacks. */
  bpe?(word: string): readonly string[];
}

/** `model` of a `tokenizer.json`. */
export interface ModelJson {
  readonly type?: string;
  readonly vocab?: unknown;
  readonly merges?: unknown;
  readonly continuing_subword_prefix?: string | null;
  readonly end_of_word_suffix?: string | null;
  readonly ignore_merges?: boolean;
  readonly byte_fallback?: boolean;
  readonly fuse_unk?: boolean;
}

/**
 * Returns a function that tokenizes a word with the library's model, and finds where in the word each token stands.
 * @param added the contents of the added tokens
 * @throws `unsupported` for another model
 */
export function createWordTokenizer(json: ModelJson, model: BuiltModel, added: readonly string[]): TokenizeWord {
  switch (typeOf(json)) {
    case 'WordPiece':
      return wordPieces(json, model, added);
    case 'Unigram':
      // Not `encode`, which passes all tokens of a word as arguments of one call: of 120,000, the stack overflows.
      return (word) => pieces(joinUnknown(model.tokenize!(word), model), json, model, true);
    case 'BPE': {
      const { bpe } = model;
      if (!bpe || json.continuing_subword_prefix) break;
      const suffix = json.end_of_word_suffix ?? '';
      return (word) => {
        if (json.ignore_merges && model.tokens_to_ids.has(word))
          return [{ id: model.tokens_to_ids.get(word)!, start: 0, end: word.length }];
        return pieces(bpe.call(model, word), json, model, json.fuse_unk ?? false, suffix);
      };
    }
  }
  throw new TabServeError(
    'unsupported',
    `tokenizer.json has a model that TabServe does not support: ${json.continuing_subword_prefix ? 'BPE with a continuing_subword_prefix' : (json.type ?? 'one without a type')}. It supports WordPiece, BPE without a prefix, and Unigram.`,
  );
}

/** Returns the type of a model. Files of 2021, such as those of GPT-2 and BERT, do not name it. */
function typeOf({ type, vocab, merges, continuing_subword_prefix }: ModelJson): string | undefined {
  if (type !== undefined) return type;
  if (Array.isArray(vocab)) return 'Unigram';
  if (merges !== undefined) return 'BPE';
  return continuing_subword_prefix === undefined ? undefined : 'WordPiece';
}

/** Tokens of a word that begin where the one before ends; one token if the word is not in the vocabulary. */
function wordPieces(
  { continuing_subword_prefix, vocab }: ModelJson,
  model: BuiltModel,
  added: readonly string[],
): TokenizeWord {
  const prefix = (continuing_subword_prefix ?? '##').length;
  // The library finds added tokens within words, too.
  const foreign = added.filter((content) => isRecord(vocab) && !Object.hasOwn(vocab, content));
  const ids = foreign.map((content) => [content, model.tokens_to_ids.get(content)!] as const);
  return (word) => {
    for (const [content] of ids) model.tokens_to_ids.delete(content);
    const tokens = model.encode([word]);
    for (const [content, id] of ids) model.tokens_to_ids.set(content, id);
    let end = 0;
    return tokens.flatMap((token, at) => {
      const id = model.tokens_to_ids.get(token);
      const start = end;
      end = tokens.length === 1 ? word.length : end + token.length - (at > 0 ? prefix : 0);
      return id === undefined ? [] : [{ id, start, end }];
    });
  };
}

/** Returns symbols, where those in a row that the vocabulary lacks are one: Unigram treats them as such. */
function joinUnknown(symbols: readonly string[], { tokens_to_ids, unk_token_id }: BuiltModel): readonly string[] {
  const isKnown = (symbol: string): boolean => (tokens_to_ids.get(symbol) ?? unk_token_id) !== unk_token_id;
  return symbols.reduce<string[]>((all, symbol, at) => {
    if (at > 0 && !isKnown(symbol) && !isKnown(symbols[at - 1]!)) all[all.length - 1] += symbol;
    else all.push(symbol);
    return all;
  }, []);
}

/**
 * Returns the tokens of symbols that together are a word: of those that the vocabulary lacks, their bytes, or the
 * unknown token, which may stand for several in a row.
 * @param suffix the model's mark at the end of each word
 */
function pieces(
  symbols: readonly string[],
  json: ModelJson,
  model: BuiltModel,
  fuses: boolean,
  suffix = '',
): readonly Piece[] {
  const { tokens_to_ids: ids, unk_token_id: unknown } = model;
  const found: Piece[] = [];
  let at = 0;
  let isAfterUnknown = false;
  for (const [index, symbol] of symbols.entries()) {
    const start = at;
    at += symbol.length - (index === symbols.length - 1 ? suffix.length : 0);
    const id = ids.get(symbol);
    const bytes = id === undefined && json.byte_fallback ? bytesOf(symbol, ids) : undefined;
    if (bytes) {
      found.push(...bytes.map((byte) => ({ id: byte, start, end: at })));
      isAfterUnknown = false;
    } else if (id === undefined && isAfterUnknown && fuses) {
      found[found.length - 1] = { ...found.at(-1)!, end: at };
    } else {
      const token = id ?? unknown;
      if (token !== undefined) found.push({ id: token, start, end: at });
      isAfterUnknown = id === undefined && token !== undefined;
    }
  }
  return found;
}

/** Returns the tokens of a symbol's bytes; undefined if the vocabulary lacks one. */
function bytesOf(symbol: string, ids: ReadonlyMap<string, number>): readonly number[] | undefined {
  const found = Array.from(utf8.encode(symbol), (byte) =>
    ids.get(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`),
  );
  return found.every((id) => id !== undefined) ? found : undefined;
}

const utf8 = new TextEncoder();
