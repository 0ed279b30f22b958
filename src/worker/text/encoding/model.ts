import { TabServeError } from '../../../contract/errors.js';
import { createBytePairs } from './byte-pairs.js';
import { createUnigram } from './unigram.js';
import { createWordPiece } from './word-piece.js';

/** A token of a word, and the UTF-16 units of the word that it stands for. */
export interface Piece {
  readonly id: number;
  readonly start: number;
  readonly end: number;
}

/** Tokenizes one word. */
export type TokenizeWord = (word: string) => readonly Piece[];

/** `model` of a `tokenizer.json`. */
export interface ModelJson {
  readonly type?: string;
  readonly vocab?: unknown;
  readonly merges?: unknown;
  readonly unk_token?: string | null;
  /** Unigram's: the id of the unknown token. */
  readonly unk_id?: number | null;
  readonly max_input_chars_per_word?: number;
  readonly continuing_subword_prefix?: string | null;
  readonly end_of_word_suffix?: string | null;
  readonly ignore_merges?: boolean;
  readonly byte_fallback?: boolean;
  readonly fuse_unk?: boolean;
}

/** The maximum number of words whose tokens are cached, and the most UTF-16 units of each. */
const MAX_CACHED_WORDS = 10_000;
const MAX_CACHED_LENGTH = 256;

/**
 * Returns a function that tokenizes a word as a model of Hugging Face's tokenizers does.
 * @param ids the model's own tokens
 * @throws `unsupported` for another model; `model-format` if one of its values is wrong
 */
export function createModel(json: ModelJson, ids: ReadonlyMap<string, number>): TokenizeWord {
  const tokenize = createUncached(json, ids);
  const cached = new Map<string, readonly Piece[]>();
  return (word) => {
    const known = cached.get(word);
    if (known) return known;
    const pieces = tokenize(word);
    if (cached.size >= MAX_CACHED_WORDS) cached.clear();
    if (word.length <= MAX_CACHED_LENGTH) cached.set(word, pieces);
    return pieces;
  };
}

function createUncached(json: ModelJson, ids: ReadonlyMap<string, number>): TokenizeWord {
  switch (typeOf(json)) {
    case 'WordPiece':
      return createWordPiece(json, ids);
    case 'Unigram':
      return createUnigram(json, ids);
    case 'BPE':
      if (!json.continuing_subword_prefix) return createBytePairs(json, ids);
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
