import type { ModelJson, Piece, TokenizeWord } from './model.js';

/** Returns the function of a WordPiece model: the longest token that fits, and again from where it ends. */
export function createWordPiece(json: ModelJson, ids: ReadonlyMap<string, number>): TokenizeWord {
  const { max_input_chars_per_word: most = 100, unk_token } = json;
  const prefix = json.continuing_subword_prefix ?? '##';
  const unknown = ids.get(unk_token ?? '[UNK]');
  let longest = 0;
  for (const token of ids.keys()) longest = Math.max(longest, token.length);
  const known = (word: string): readonly Piece[] | undefined => {
    const pieces: Piece[] = [];
    for (let start = 0; start < word.length;) {
      let end = Math.min(word.length, start + longest);
      const idOf = (): number | undefined => ids.get((start > 0 ? prefix : '') + word.slice(start, end));
      let id = idOf();
      while (id === undefined && --end > start) id = idOf();
      if (id === undefined) return undefined;
      pieces.push({ id, start, end });
      start = end;
    }
    return pieces;
  };
  return (word) => {
    const pieces = word.length <= most || [...word].length <= most ? known(word) : undefined;
    if (pieces) return pieces;
    if (unknown === undefined) throw new Error('its model has no token for what the vocabulary lacks.');
    return [{ id: unknown, start: 0, end: word.length }];
  };
}
