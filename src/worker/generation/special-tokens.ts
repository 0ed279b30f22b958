import type { HuggingFaceTokenizer } from '../text/hugging-face.js';

/**
 * Returns the special tokens of a tokenizer, for a model whose answers consist of them, too: they say what is where.
 * @param without those that are no part of an answer
 */
export function specialTokensOf(
  { tokenOf, detokenizer }: Pick<HuggingFaceTokenizer, 'tokenOf' | 'detokenizer'>,
  without: ReadonlySet<string>,
): readonly string[] {
  const found: string[] = [];
  for (let id = 0, token = tokenOf(id); token !== undefined; id += 1, token = tokenOf(id))
    if (detokenizer.pieceOf(id) === undefined && !without.has(token)) found.push(token);
  return found;
}
