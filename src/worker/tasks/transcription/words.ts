/** Joins tokens to words: `_combine_tokens_into_words` of transformers. */
import type { SpokenPart } from '../../../contract/spoken-text.js';
import type { HeardToken } from './transcript.js';

/** Languages whose words are not separated by spaces: each of their characters is a word. */
const WITHOUT_SPACES: ReadonlySet<string> = new Set(['zh', 'ja', 'th', 'lo', 'my', 'yue']);
/** Signs that belong to the word after them, and to the one before them. */
const BEFORE = '"\'“¡¿([{-';
const AFTER = '"\'.。,，!！?？:：”)]}、';
const SIGNS = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';
/** What stands for bytes that are no whole character. */
const BROKEN = '\uFFFD';

interface Word {
  text: string;
  tokens: readonly HeardToken[];
}

/**
 * @param language its code; undefined for one whose words are separated by spaces
 * @param decode returns the text of tokens
 */
export function wordsOf(
  tokens: readonly HeardToken[],
  language: string | undefined,
  decode: (tokens: readonly number[]) => string,
): readonly SpokenPart[] {
  const characters = wholeCharacters(tokens, (some) => decode(some.map(({ id }) => id)));
  const words = joinSigns(WITHOUT_SPACES.has(language ?? '') ? characters : joinAtSpaces(characters));
  return words.map(({ text, tokens: own }) => ({ text, start: own[0]!.start, end: own.at(-1)!.end }));
}

/** Divides a text into words, as `wordsOf` divides tokens. */
export function splitWords(text: string, language: string | undefined): readonly string[] {
  return WITHOUT_SPACES.has(language ?? '') ? Array.from(text) : (text.match(/\s*\S+\s*$|\s*\S+/gu) ?? []);
}

/** Joins tokens until their bytes are whole characters. */
function wholeCharacters(tokens: readonly HeardToken[], decode: (tokens: readonly HeardToken[]) => string): Word[] {
  const all = Array.from(decode(tokens));
  const words: Word[] = [];
  let before = 0;
  let own: HeardToken[] = [];
  for (const token of tokens) {
    own.push(token);
    const text = decode(own);
    const characters = Array.from(text);
    const broken = characters.indexOf(BROKEN);
    // The whole text may have it, too.
    if (broken >= 0 && all[before + broken] !== BROKEN) continue;
    words.push({ text, tokens: own });
    before += characters.length;
    own = [];
  }
  return words;
}

function joinAtSpaces(parts: readonly Word[]): Word[] {
  const words: Word[] = [];
  for (const part of parts) {
    const last = words.at(-1);
    if (!last || part.text.startsWith(' ') || SIGNS.includes(part.text.trim())) words.push({ ...part });
    else join(last, part);
  }
  return words;
}

/** Joins signs with the words that they belong to. */
function joinSigns(parts: readonly Word[]): readonly Word[] {
  const words: Word[] = [];
  for (const part of parts.toReversed()) {
    const next = words[0];
    if (next && part.text.startsWith(' ') && BEFORE.includes(part.text.trim())) {
      next.text = part.text + next.text;
      next.tokens = [...part.tokens, ...next.tokens];
    } else words.unshift({ ...part });
  }
  const joined: Word[] = [];
  for (const word of words) {
    const last = joined.at(-1);
    if (last && !last.text.endsWith(' ') && AFTER.includes(word.text)) join(last, word);
    else joined.push(word);
  }
  return joined.filter(({ text }) => text !== '');
}

function join(word: Word, { text, tokens }: Word): void {
  word.text += text;
  word.tokens = [...word.tokens, ...tokens];
}
