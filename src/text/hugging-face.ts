import type { Files } from '../contract/archive.js';
import { messageOf, TabServeError } from '../contract/errors.js';
import { load } from '../libraries/tokenizers.js';
import { checkTemplate, checkTokenizer } from './check-tokenizer.js';
import { findCutPlaces } from './cut-places.js';
import { checkLength, checkMarks } from './limits.js';
import { addedTokens, fill, parsePostProcessor, type PostProcessor } from './post-processor.js';
import type { Padding, TextTokenizer } from './tokenizer.js';
import { TokenStream } from './token-stream.js';
import { truncate, type Truncation } from './truncate.js';

export const TOKENIZER = 'tokenizer.json';
const TOKENIZER_CONFIG = 'tokenizer_config.json';

/** The parts of a `tokenizer.json` that `@huggingface/tokenizers` does not do. */
interface TokenizerJson {
  readonly truncation?: { readonly max_length: number; readonly direction?: string; readonly strategy?: string } | null;
  readonly padding?: {
    readonly strategy?: 'BatchLongest' | { readonly Fixed: number };
    readonly direction?: string;
    readonly pad_to_multiple_of?: number | null;
    readonly pad_id: number;
    readonly pad_type_id: number;
  } | null;
  readonly normalizer?: Normalizer | null;
  readonly post_processor?: PostProcessor | null;
  readonly pre_tokenizer?: { readonly type?: string } | null;
  readonly model?: { readonly type?: string; readonly max_input_chars_per_word?: number };
}

interface Normalizer {
  readonly type: string;
  readonly lowercase?: boolean;
  readonly handle_chinese_chars?: boolean;
  readonly normalizers?: readonly Normalizer[];
}

interface TokenizerConfig {
  readonly model_max_length?: number;
  readonly padding_side?: string;
  readonly truncation_side?: string;
  readonly pad_token?: string | { readonly content: string } | null;
}

/** A length from which there is no limit: transformers writes 1e30 for none. */
const NO_LIMIT = 1e9;

/**
 * Loads Hugging Face's `tokenizer.json`, and `tokenizer_config.json` if the archive has one.
 * Truncation and padding are those of the first file, and where it has none, those of the second.
 * @throws `model-config` if the file is not in the archive; `model-format` if it is not a tokenizer
 */
export async function loadHuggingFace(files: Files): Promise<TextTokenizer> {
  if (!files.has(TOKENIZER))
    throw new TabServeError(
      'model-config',
      `The archive has no ${TOKENIZER}; list it in the manifest's "extensions". Bare weights cannot have one.`,
    );
  const json = (await files.json(TOKENIZER)) as TokenizerJson;
  const config = files.has(TOKENIZER_CONFIG) ? ((await files.json(TOKENIZER_CONFIG)) as TokenizerConfig) : {};
  checkTokenizer(json);
  const { Tokenizer } = await load();
  try {
    const tokenizer = new Tokenizer(
      { normalizer: null, pre_tokenizer: null, decoder: null, added_tokens: [], ...json, post_processor: null },
      config,
    );
    const template = parsePostProcessor(json.post_processor);
    checkTemplate(template);
    const added = { single: addedTokens(template.single), pair: addedTokens(template.pair) };
    const truncation = truncationOf(json, config);
    const correct = correction(json.normalizer);
    const shorten = shortening(json);
    // If a vocabulary has no unknown token, the library returns undefined for a piece of text that is not in it.
    const places = findCutPlaces({ ...json }, { ...config });
    // If a vocabulary has no unknown token, the library returns undefined for a piece of text that is not in it.
    const tokenize = (text: string): number[] => {
      checkMarks(text);
      try {
        return tokenizer.encode(correct(text)).ids.filter((id: number | undefined) => id !== undefined);
      } catch (cause) {
        throw new TabServeError('invalid-input', `${TOKENIZER} cannot be applied to this text: ${messageOf(cause)}`, {
          cause,
        });
      }
    };
    const read = (text: string): TokenStream => {
      checkLength(text.length);
      return new TokenStream(shorten(text), places, tokenize, truncation.side);
    };
    const limit = json.truncation?.max_length ?? config.model_max_length;
    return {
      addedTokens: added,
      maxLength: limit !== undefined && limit < NO_LIMIT ? limit : undefined,
      padding: paddingOf(json, config, (token) => tokenizer.token_to_id(token)),
      encode(text, textPair, maxLength) {
        const room = maxLength - (textPair === undefined ? added.single : added.pair);
        if (room < 0)
          throw new TabServeError(
            'invalid-input',
            `maxLength is ${maxLength}, but the tokenizer alone adds ${textPair === undefined ? added.single : added.pair} tokens. Raise maxLength.`,
          );
        return fill(
          template,
          ...truncate(read(text), textPair === undefined ? undefined : read(textPair), room, truncation.strategy),
        );
      },
    };
  } catch (cause) {
    if (cause instanceof TabServeError) throw cause;
    throw new TabServeError('model-format', `${TOKENIZER} is not a tokenizer: ${messageOf(cause)}`, { cause });
  }
}

function truncationOf({ truncation }: TokenizerJson, { truncation_side }: TokenizerConfig): Truncation {
  const strategies: Readonly<Record<string, Truncation['strategy']>> = {
    OnlyFirst: 'only_first',
    OnlySecond: 'only_second',
  };
  return {
    strategy: strategies[truncation?.strategy ?? ''] ?? 'longest_first',
    side: sideOf(truncation?.direction ?? truncation_side),
  };
}

function paddingOf(
  { padding }: TokenizerJson,
  { padding_side, pad_token }: TokenizerConfig,
  idOf: (token: string) => number | undefined,
): Padding {
  const token = typeof pad_token === 'object' ? pad_token?.content : pad_token;
  return {
    id:
      padding?.pad_id ??
      [token, '[PAD]', '<pad>']
        .map((name) => (name === undefined ? undefined : idOf(name)))
        .find((id) => id !== undefined) ??
      0,
    typeId: padding?.pad_type_id ?? 0,
    side: sideOf(padding?.direction ?? padding_side),
    length: typeof padding?.strategy === 'object' ? padding.strategy.Fixed : undefined,
    multipleOf: padding?.pad_to_multiple_of ?? 1,
  };
}

function sideOf(direction: string | undefined): 'left' | 'right' {
  return direction?.toLowerCase() === 'left' ? 'left' : 'right';
}

/** Returns a function that changes a text before the library's normalizers see it, where they differ from those that models are trained with. */
function correction(normalizer: Normalizer | null | undefined): (text: string) => string {
  const all = listNormalizers(normalizer);
  const lowers = all.some(({ type, lowercase }) => type === 'Lowercase' || (type === 'BertNormalizer' && lowercase));
  const spaced = all.some(({ type, handle_chinese_chars }) => type === 'BertNormalizer' && handle_chinese_chars);
  return (text) => {
    // Hugging Face converts each character by itself; JavaScript has a special sigma at the end of a word.
    const lowered = lowers ? text.replaceAll('Σ', 'σ') : text;
    return spaced
      ? lowered.replace(/[\u{20000}-\u{2A6DF}\u{2A700}-\u{2B81F}\u{2B920}-\u{2CEAF}\u{2F800}-\u{2FA1F}]/gu, ' $& ')
      : lowered;
  };
}

/**
 * Returns a function that shortens words which a WordPiece model calls unknown because of their length, if its texts are split only at spaces and punctuation.
 * A shortened word is still too long, so its token is the same.
 */
function shortening({ model, pre_tokenizer }: TokenizerJson): (text: string) => string {
  if (model?.type !== 'WordPiece' || pre_tokenizer?.type !== 'BertPreTokenizer') return (text) => text;
  const most = (model.max_input_chars_per_word ?? 100) + 10;
  const long = new RegExp(`[A-Za-z0-9]{${most},}`, 'g');
  return (text) => text.replace(long, (word) => word.slice(0, most));
}

function listNormalizers(normalizer: Normalizer | null | undefined): readonly Normalizer[] {
  if (!normalizer) return [];
  return [normalizer, ...(normalizer.normalizers ?? []).flatMap(listNormalizers)];
}
