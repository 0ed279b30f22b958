import type { Files } from '../../contract/archive.js';
import { TabServeError } from '../../contract/errors.js';
import { expandContractions } from './contractions.js';
import { checkLength, checkMarks } from './limits.js';
import type { TextTokenizer } from './tokenizer.js';

export const VOCABULARY = 'source_vocab.json';
const UNKNOWN = '<unk>';
const PAD = '<pad>';

const ENTITY = /&([a-z0-9]+|#[0-9]{1,6}|#x[0-9a-f]{1,6});/g;
const TAG_OR_ENTITY = new RegExp(`<[^>]*>|${ENTITY.source}`, 'g');

/**
 * Loads TorchServe's text pipeline with its vocabulary: `source_vocab.pt` as JSON, either an object from tokens to ids,
 * or a list of tokens by id. A token that is not in the vocabulary becomes `<unk>`; it is left out if the vocabulary
 * has no `<unk>`.
 * @throws `model-config` if the file is not in the archive; `model-format` if it is not a vocabulary
 */
export async function loadTorchServe(files: Files, ngrams: number): Promise<TextTokenizer> {
  if (!files.has(VOCABULARY))
    throw new TabServeError(
      'model-config',
      `The archive has no ${VOCABULARY}; list it in the manifest's "extensions". Bare weights cannot have one.`,
    );
  const vocabulary = parseVocabulary(await files.json(VOCABULARY));
  const unknown = vocabulary.get(UNKNOWN);
  return {
    addedTokens: { single: 0, pair: 0 },
    maxLength: undefined,
    padding: { id: vocabulary.get(PAD) ?? 0, typeId: 0, side: 'right', length: undefined, multipleOf: 1 },
    encode(text, textPair, maxLength) {
      if (textPair !== undefined)
        throw new TabServeError('invalid-input', "TorchServe's text pipeline takes one text, not a pair.");
      checkLength(text.length);
      checkMarks(text);
      const ids = ngramsOf(words(text), ngrams).flatMap((token) => vocabulary.get(token) ?? unknown ?? []);
      const truncated = ids.slice(0, maxLength);
      return { ids: truncated, typeIds: truncated.map(() => 0), isTruncated: ids.length > truncated.length };
    },
  };
}

/**
 * Removes HTML tags and entities, as `CLEANUP_REGEX` of TorchServe's `ts/utils/util.py` does. A tag ends on its line,
 * so no tag begins after the last `>` of a line; one expression for both would search the rest of the line for each `<`
 * there.
 */
function removeHtml(text: string): string {
  return text.replace(/[^\n]+/g, (line) => {
    const end = line.lastIndexOf('>') + 1;
    return line.slice(0, end).replace(TAG_OR_ENTITY, '') + line.slice(end).replace(ENTITY, '');
  });
}

/**
 * Cleans a text as TorchServe's `TextClassifier.preprocess`, and splits it at white space, as torchtext's
 * `basic_english` splits a text without punctuation.
 */
export function words(text: string): string[] {
  const expanded = expandContractions(removeHtml(text).toLowerCase());
  const ascii = expanded.normalize('NFKD').replace(/\P{ASCII}/gu, '');
  const letters = ascii.replace(/[!-/:-@[-`{-~]/g, '');
  // In Python, the four separators of ASCII are white space.
  // oxlint-disable-next-line no-control-regex
  return letters.split(/[\s\x1c-\x1f]+/).filter(Boolean);
}

/**
 * Returns all tokens, then all pairs of neighboring tokens, and so on up to `n` tokens: torchtext's `ngrams_iterator`.
 */
export function ngramsOf(tokens: readonly string[], n: number): string[] {
  return Array.from({ length: Math.min(n, tokens.length) }, (_, more) =>
    tokens.slice(0, Math.max(0, tokens.length - more)).map((_, at) => tokens.slice(at, at + more + 1).join(' ')),
  ).flat();
}

function parseVocabulary(value: unknown): ReadonlyMap<string, number> {
  const entries: (readonly [string, unknown])[] = Array.isArray(value)
    ? value.map((token, id) => [String(token), id] as const)
    : Object.entries(value ?? {});
  const wrong = entries.find(([, id]) => !Number.isInteger(id) || (id as number) < 0);
  if (entries.length === 0 || wrong) {
    throw new TabServeError(
      'model-format',
      `${VOCABULARY} must map tokens to ids, or list tokens${wrong ? `; "${wrong[0]}" has ${JSON.stringify(wrong[1])}` : ''}.`,
    );
  }
  return new Map(entries as [string, number][]);
}
