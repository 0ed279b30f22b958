/** The tokens of models that read a text, or phonemes, character by character. */
import type { Files } from '../../../contract/archive.js';
import { TabServeError } from '../../../contract/errors.js';
import { isRecord } from '../../../shared/schema.js';
import { TOKENIZER } from '../../text/hugging-face.js';
import { readTokenizerConfig } from '../../text/tokenizer-config.js';
import type { VoiceToken } from './voice.js';

export const VOCABULARY = 'vocab.json';

/** Reads the ids of characters: `vocab.json`, or `model.vocab` of `tokenizer.json`. @throws `model-config` without both */
export async function readCharacters(files: Files): Promise<ReadonlyMap<string, number>> {
  const path = [VOCABULARY, TOKENIZER].find((one) => files.has(one));
  if (path === undefined)
    throw new TabServeError(
      'model-config',
      `The archive has neither ${VOCABULARY} nor ${TOKENIZER}, which say what number each character has. List one of them in the manifest's "extensions".`,
    );
  const json = await files.json(path);
  const model = path === TOKENIZER && isRecord(json) ? json['model'] : undefined;
  const ids = path === VOCABULARY ? json : isRecord(model) ? model['vocab'] : undefined;
  if (isRecord(ids) && Object.values(ids).every((id) => Number.isSafeInteger(id)))
    return new Map(Object.entries(ids as object));
  throw new TabServeError('model-format', `${path} is no vocabulary: expected a mapping of characters to numbers.`);
}

/** What transformers' `VitsTokenizer` does. */
export interface VitsCharacters {
  readonly reads: 'text' | 'phonemes';
  encode(part: string): readonly VoiceToken[];
}

/**
 * Reads the vocabulary and `tokenizer_config.json` of VITS and MMS-TTS.
 * @throws `model-config` if there is no vocabulary; `unsupported` for a language that is romanized first
 */
export async function readVitsCharacters(files: Files): Promise<VitsCharacters> {
  const [ids, config] = await Promise.all([readCharacters(files), readTokenizerConfig(files)]);
  const {
    add_blank: hasBlanks = true,
    normalize = true,
    language,
    phonemize = true,
    unk_token: unknown = '<unk>',
  } = config;
  const isRoman = config['is_uroman'] === true;
  const unknownId = ids.get(String(unknown));
  // Longer tokens, such as <unk>, keep their case where they stand in a text.
  const known = [...ids.keys()];
  return {
    reads: phonemize === true ? 'phonemes' : 'text',
    encode(part) {
      let text = normalize === true ? lowered(part, known) : part;
      if (language === 'ron') text = text.replaceAll('ț', 'ţ');
      if (isRoman && /[^\0-\x7F]/.test(text))
        throw new TabServeError(
          'invalid-input',
          'The model reads Latin letters only: its texts were romanized with uroman. Pass the text as uroman writes it.',
        );
      const characters = [...text].map((character) => ({ id: ids.get(character), character }));
      const tokens =
        normalize === true && phonemize !== true
          ? trimmed(
              characters.filter((one): one is Required<VoiceToken> => one.id !== undefined),
              ids.get(' '),
            )
          : characters.flatMap(({ id = unknownId, character }) => (id === undefined ? [] : [{ id, character }]));
      if (tokens.length === 0 || hasBlanks !== true) return tokens;
      return [BLANK, ...tokens.flatMap((token) => [token, BLANK])];
    },
  };
}

/** Python inserts the token of number 0, whatever it is called. */
const BLANK: VoiceToken = { id: 0 };

/** Returns a text in lower case, but for what stands in the vocabulary as it is. */
function lowered(text: string, known: readonly string[]): string {
  let result = '';
  for (let at = 0; at < text.length;) {
    const word = known.find((one) => one !== '' && text.startsWith(one, at));
    const character = word ?? String.fromCodePoint(text.codePointAt(at)!);
    result += word ?? character.toLowerCase();
    at += character.length;
  }
  return result;
}

/** Leaves out the spaces at both ends. */
function trimmed(tokens: readonly VoiceToken[], space: number | undefined): readonly VoiceToken[] {
  const isText = ({ id }: VoiceToken): boolean => id !== space;
  return tokens.slice(Math.max(0, tokens.findIndex(isText)), tokens.findLastIndex(isText) + 1);
}
