import type { Files } from '../../contract/archive.js';
import { messageOf, TabServeError } from '../../contract/errors.js';
import { checkTemplate, checkTokenizer } from './check-tokenizer.js';
import { findCutPoints } from './cut-points.js';
import { findLanguages, type Languages } from './languages.js';
import { createEncoder, type Encoder, type TokenizerParts } from './encoding/encoder.js';
import { createModel, type ModelJson } from './encoding/model.js';
import { addedTokens, fill, parsePostProcessor, roomOf } from './post-processor.js';
import type { DecoderJson } from './decoders.js';
import { createDetokenizer } from './detokenizer.js';
import { tokenBytes } from './token-bytes.js';
import type { Detokenizer, Encoding, Padding, TextTokenizer } from './tokenizer.js';
import { addedTokensOf, endsOf, readTokenizerConfig } from './tokenizer-config.js';
import { truncate, type Truncation } from './truncate.js';
import { Vocabulary } from './vocabulary.js';

export const TOKENIZER = 'tokenizer.json';

type Steps = TokenizerParts['json'];

/** A `tokenizer.json`. */
interface TokenizerJson extends Steps {
  readonly truncation?: { readonly max_length: number; readonly direction?: string; readonly strategy?: string } | null;
  readonly padding?: {
    readonly strategy?: 'BatchLongest' | { readonly Fixed: number };
    readonly direction?: string;
    readonly pad_to_multiple_of?: number | null;
    readonly pad_id: number;
    readonly pad_type_id: number;
  } | null;
  readonly decoder?: DecoderJson | null;
  readonly model: ModelJson & { readonly vocab: object };
}

/** A tokenizer that tells where in a text tokens stand, as Python's `offset_mapping`, and serves generation. */
export interface HuggingFaceTokenizer extends TextTokenizer, Pick<Encoder, 'locate' | 'windows'> {
  readonly detokenizer: Detokenizer;
  /**
   * Returns the bytes of UTF-8 of each token, by its id, as characters from 0 to 255; undefined for a special token, and
   * for none.
   * @param shown special tokens that have bytes nevertheless, by their ids
   * @throws `invalid-input` if a token's bytes depend on the tokens beside it
   */
  tokenBytes(shown?: ReadonlyMap<number, string>): readonly (string | undefined)[];
  /** Returns the number of a token that is written exactly so in the vocabulary; undefined if there is none. */
  idOf(token: string): number | undefined;
  /** The token that stands for a missing word; undefined if there is none. */
  readonly maskId: number | undefined;
  /** The token of what the vocabulary lacks; undefined if there is none. */
  readonly unknownId: number | undefined;
  /** The token that begins a text, as BERT's; undefined if there is none. */
  readonly classId: number | undefined;
  /** What a token begins with that does not begin a word, such as `##`; empty if nothing tells them apart. */
  readonly wordPrefix: string;
  /** Returns a token as it is written in the vocabulary; undefined for none. */
  tokenOf(id: number): string | undefined;
  /** Returns the text of tokens. @param keepsSpecial whether special tokens are part of it */
  decode(ids: readonly number[], keepsSpecial?: boolean): string;
  /** Undefined for a tokenizer of no particular languages. */
  readonly languages: Languages | undefined;
  /** @param language the id of a text's language; without one, that which the files name */
  encode(text: string, textPair: string | undefined, maxLength: number, language?: number): Encoding;
  /**
   * Returns the first tokens of a text. Special tokens that are written in the text count; none is added.
   * @param most how many are returned; Infinity for all
   */
  tokensOf(text: string, most: number): readonly number[];
}

type SpecialToken = string | { readonly content: string } | null;

interface TokenizerConfig {
  readonly tokenizer_class?: string | null;
  readonly model_max_length?: number | null;
  /** Its old name. */
  readonly max_len?: number | null;
  readonly padding_side?: string;
  readonly truncation_side?: string;
  readonly clean_up_tokenization_spaces?: boolean;
  readonly pad_token?: SpecialToken;
  readonly mask_token?: SpecialToken;
  readonly unk_token?: SpecialToken;
  readonly cls_token?: SpecialToken;
  readonly src_lang?: string | null;
}

/** A length that means no limit: transformers writes 1e30 for none. */
const NO_LIMIT = 1e9;

/**
 * Loads Hugging Face's `tokenizer.json`, and `tokenizer_config.json` if the archive has one. The limit, the sides and
 * the padding token are those of the second file, and where it has none, those of the first, as in transformers: what
 * `tokenizer.json` has of truncation and padding is what the last call before it was saved has set.
 * @throws `model-config` if the file is not in the archive; `model-format` if it is not a tokenizer; `unsupported` for a
 *   part of it that is not known here
 */
export async function loadHuggingFace(files: Files): Promise<HuggingFaceTokenizer> {
  if (!files.has(TOKENIZER))
    throw new TabServeError(
      'model-config',
      `The archive has no ${TOKENIZER}; list it in the manifest's "extensions". Of a model file alone, it lies beside it, or is called NAME-tokenizer.json.`,
    );
  const given = (await files.json(TOKENIZER)) as TokenizerJson;
  checkTokenizer(given);
  const config = (await readTokenizerConfig(files)) as TokenizerConfig & Record<string, unknown>;
  try {
    const { model } = given;
    const vocabulary = new Vocabulary(model.vocab, given.added_tokens ?? []);
    const idInFile = (token: string): number | undefined => vocabulary.idOf(token);
    const added_tokens = await addedTokensOf(files, config, given.added_tokens ?? [], idInFile);
    vocabulary.add(added_tokens);
    const json = { ...given, added_tokens };
    const template = parsePostProcessor(endsOf(config, idInFile) ?? json.post_processor);
    checkTemplate(template);
    const added = { single: addedTokens(template.single), pair: addedTokens(template.pair) };
    const languages = findLanguages(added_tokens, template, config.src_lang);
    const truncation = truncationOf(json, config);
    const shorten = shortening(json);
    const encoder = createEncoder({
      json,
      tokenizeWord: createModel(model, vocabulary.ids),
      cutPoints: findCutPoints({ ...json }, { ...config }),
      template,
      side: truncation.side,
    });
    const idsOf = (tokens: readonly { readonly id: number }[]): readonly number[] => tokens.map(({ id }) => id);
    const cleansUp = config.clean_up_tokenization_spaces ?? false;
    const detokenizer = createDetokenizer(vocabulary, json.decoder, model.end_of_word_suffix, cleansUp);
    const idOf = (token: string | undefined): number | undefined =>
      token === undefined ? undefined : vocabulary.idOf(token);
    return {
      detokenizer,
      idOf,
      maskId: specialId('mask_token', config, idOf),
      unknownId: specialId('unk_token', config, idOf),
      classId: specialId('cls_token', config, idOf),
      wordPrefix: model.continuing_subword_prefix ?? '',
      decode: (ids, keepsSpecial = false) =>
        detokenizer.join(ids.flatMap((id) => (keepsSpecial ? vocabulary.tokenOf(id) : detokenizer.pieceOf(id)) ?? [])),
      tokenOf: (id) => vocabulary.tokenOf(id),
      tokenBytes: (shown) => tokenBytes(vocabulary, json.decoder, shown),
      tokensOf: (text, most) => idsOf(encoder.read(shorten(text)).take(most)),
      locate: encoder.locate,
      windows: encoder.windows,
      languages,
      addedTokens: added,
      maxLength: limitOf(config) ?? json.truncation?.max_length,
      padding: paddingOf(json, config, idOf),
      encode(text, textPair, maxLength, language) {
        const room = roomOf(template, textPair !== undefined, maxLength);
        const streams = [text, textPair].map((one) => (one === undefined ? undefined : encoder.read(shorten(one))));
        const [first, second] = truncate(streams[0]!, streams[1], room, truncation.strategy);
        return {
          ...fill(languages?.templateFor(language) ?? template, idsOf(first), second && idsOf(second)),
          isTruncated: streams[0]!.hasMoreThan(first.length) || (streams[1]?.hasMoreThan(second!.length) ?? false),
        };
      },
    };
  } catch (cause) {
    if (cause instanceof TabServeError) throw cause;
    throw new TabServeError('model-format', `${TOKENIZER} is not a tokenizer: ${messageOf(cause)}`, { cause });
  }
}

/** Returns the limit of `tokenizer_config.json`, if it has one. */
function limitOf({ model_max_length, max_len }: TokenizerConfig): number | undefined {
  const limit = model_max_length ?? max_len;
  return typeof limit === 'number' && limit < NO_LIMIT ? limit : undefined;
}

function truncationOf({ truncation }: TokenizerJson, { truncation_side }: TokenizerConfig): Truncation {
  const strategies: Readonly<Record<string, Truncation['strategy']>> = {
    OnlyFirst: 'only_first',
    OnlySecond: 'only_second',
  };
  return {
    strategy: strategies[truncation?.strategy ?? ''] ?? 'longest_first',
    side: sideOf(truncation_side ?? truncation?.direction),
  };
}

function paddingOf(
  { padding }: TokenizerJson,
  config: TokenizerConfig,
  idOf: (token: string | undefined) => number | undefined,
): Padding {
  const { padding_side, pad_token } = config;
  return {
    id: idOf(contentOf(pad_token)) ?? padding?.pad_id ?? idOf('[PAD]') ?? idOf('<pad>') ?? 0,
    typeId: padding?.pad_type_id ?? 0,
    side: sideOf(padding_side ?? padding?.direction),
    // A length that is less than the limit was set for some batch.
    length: typeof padding?.strategy === 'object' && limitOf(config) === undefined ? padding.strategy.Fixed : undefined,
    multipleOf: padding?.pad_to_multiple_of ?? 1,
  };
}

/** What transformers' classes of tokenizers call their special tokens. */
const USUAL = {
  mask_token: ['[MASK]', '<mask>'],
  unk_token: ['[UNK]', '<unk>'],
  cls_token: ['[CLS]', '<cls>', '<s>'],
} as const;

/** The classes that have no special tokens of their own. */
const PLAIN = new Set<string | null | undefined>(['PreTrainedTokenizerFast', 'TokenizersBackend']);

/**
 * Returns the id of a special token. Where `tokenizer_config.json` does not name it, as in repositories of before
 * transformers 4, it has its usual name.
 */
function specialId(
  name: keyof typeof USUAL,
  config: TokenizerConfig,
  idOf: (token: string | undefined) => number | undefined,
): number | undefined {
  const { [name]: token, tokenizer_class: type } = config;
  if (token !== undefined || PLAIN.has(type)) return idOf(contentOf(token));
  return USUAL[name].map(idOf).find((id) => id !== undefined);
}

function contentOf(token: SpecialToken | undefined): string | undefined {
  return typeof token === 'object' ? token?.content : token;
}

function sideOf(direction: string | undefined): 'left' | 'right' {
  return direction?.toLowerCase() === 'left' ? 'left' : 'right';
}

/**
 * Returns a function that shortens words which a WordPiece model calls unknown because of their length, if its texts
 * are split only at spaces and punctuation. A shortened word is still too long, so its token is the same.
 */
function shortening({ model, pre_tokenizer }: TokenizerJson): (text: string) => string {
  if (model.type !== 'WordPiece' || pre_tokenizer?.type !== 'BertPreTokenizer') return (text) => text;
  const most = (model.max_input_chars_per_word ?? 100) + 10;
  return (text) => {
    // A loop: a regular expression has no room on its stack for a run of millions.
    let [short, run, from] = ['', 0, 0];
    for (let at = 0; at <= text.length; at++)
      if (at < text.length && isLetterOrDigit(text.charCodeAt(at))) run += 1;
      else {
        if (run > most) [short, from] = [short + text.slice(from, at - run + most), at];
        run = 0;
      }
    return from === 0 ? text : short + text.slice(from);
  };
}

/** Returns whether a code unit is one of A–Z, a–z and 0–9. */
function isLetterOrDigit(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}
