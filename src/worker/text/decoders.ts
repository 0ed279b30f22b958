import { wrongValue } from '../../shared/read-options.js';
import { isCount } from './check-tokenizer.js';
import { cleanUp } from './clean-up.js';
import { checkReplaced } from './limits.js';
import { unknownStep } from './encoding/normalize.js';
import { limitMatching, toRegExp, type PatternJson } from './encoding/patterns.js';
import { byteLevelAlphabet } from './token-bytes.js';

/** `decoder` of a `tokenizer.json`. */
export interface DecoderJson {
  readonly type?: string;
  readonly decoders?: readonly DecoderJson[];
  readonly pattern?: PatternJson;
  readonly content?: string;
  readonly replacement?: string;
  readonly prepend_scheme?: string;
  readonly add_prefix_space?: boolean;
  readonly prefix?: string;
  readonly suffix?: string;
  readonly pad_token?: string;
  readonly word_delimiter_token?: string;
  readonly cleanup?: boolean;
  readonly start?: number;
  readonly stop?: number;
}

/** Converts tokens to texts, which together are the text. */
type Decode = (tokens: readonly string[]) => readonly string[];

/**
 * Returns the function of a decoder, which does what Hugging Face's own does.
 * @throws `unsupported` for a type that is not known here; `model-format` if one of its values is wrong
 */
export function createDecoder(json: DecoderJson): Decode {
  switch (json.type) {
    case 'Sequence': {
      const steps = (json.decoders ?? []).map(createDecoder);
      return (tokens) => steps.reduce((read, step) => step(read), tokens);
    }
    case 'ByteLevel':
      return (tokens) => [toText.decode(Uint8Array.from(tokens.flatMap(bytesOf)))];
    case 'ByteFallback':
      return readBytes;
    case 'Fuse':
      return (tokens) => [tokens.join('')];
    case 'Replace': {
      const pattern = toRegExp(json.pattern);
      const content = textOf(json, 'content');
      const limited = limitMatching(json);
      return (tokens) => {
        let length = tokens.reduce((sum, token) => sum + token.length, 0);
        const replaced = (): string => {
          length += content.length;
          checkReplaced(length);
          return content;
        };
        return limited(() => tokens.map((token) => token.replace(pattern, replaced)));
      };
    }
    case 'Strip':
      return strip(json);
    case 'Metaspace': {
      const mark = textOf(json, 'replacement', '▁');
      const isPrepended = (json.prepend_scheme ?? (json.add_prefix_space === false ? 'never' : 'always')) !== 'never';
      return (tokens) => tokens.map((token, at) => token.replaceAll(mark, isPrepended && at === 0 ? '' : ' '));
    }
    case 'WordPiece':
      return wordPieces(json);
    case 'BPEDecoder': {
      const suffix = textOf(json, 'suffix', '</w>');
      return (tokens) => tokens.map((token, at) => token.replaceAll(suffix, at < tokens.length - 1 ? ' ' : ''));
    }
    case 'CTC':
      return ctc(json);
    default:
      throw unknownStep('decoder', String(json.type));
  }
}

/** Returns an option that is a text. @throws `model-format` if it is none, or is missing and has no default */
function textOf(json: DecoderJson, key: keyof DecoderJson, byDefault?: string): string {
  const value = json[key] ?? byDefault;
  if (typeof value === 'string') return value;
  throw wrongValue(`tokenizer.json: ${key} of the decoder ${json.type}`, 'a string', value, 'model-format');
}

function countOf(json: DecoderJson, key: keyof DecoderJson): number {
  const value = json[key] ?? 0;
  if (isCount(value)) return value;
  throw wrongValue(`tokenizer.json: ${key} of the decoder ${json.type}`, 'an integer from 0 on', value, 'model-format');
}

/** Removes a character at the ends of each token, up to a number of times. */
function strip(json: DecoderJson): Decode {
  const [content, most, mostAfter] = [textOf(json, 'content'), countOf(json, 'start'), countOf(json, 'stop')];
  return (tokens) =>
    tokens.map((token) => {
      const characters = [...token];
      let start = 0;
      let end = characters.length;
      while (start < most && characters[start] === content) start++;
      while (characters.length - end < mostAfter && end > start && characters[end - 1] === content) end--;
      return characters.slice(start, end).join('');
    });
}

/** Cleans up a text as these two decoders do, with one rule more than transformers. */
function cleaned(text: string): string {
  return cleanUp(text.replaceAll(' do not', " don't"));
}

function wordPieces(json: DecoderJson): Decode {
  const prefix = textOf(json, 'prefix', '##');
  const { cleanup = true } = json;
  const joined = (token: string): string => (token.startsWith(prefix) ? token.slice(prefix.length) : ` ${token}`);
  return (tokens) =>
    tokens.map((token, at) => {
      const text = at === 0 ? token : joined(token);
      return cleanup ? cleaned(text) : text;
    });
}

/** Returns the decoder of connectionist temporal classification: equal tokens in a row are one. */
function ctc(json: DecoderJson): Decode {
  const pad = textOf(json, 'pad_token', '<pad>');
  const delimiter = textOf(json, 'word_delimiter_token', '|');
  const { cleanup = true } = json;
  return (tokens) =>
    tokens
      .filter((token, at) => token !== tokens[at - 1])
      .map((token) => {
        const text = pad === '' ? token : token.replaceAll(pad, '');
        return cleanup ? cleaned(text).replaceAll(delimiter, ' ') : text;
      });
}

const utf8 = new TextEncoder();
const toText = new TextDecoder('utf-8', { ignoreBOM: true });
const toTextStrictly = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const alphabet = byteLevelAlphabet();

/** Returns the bytes of a token in GPT-2's alphabet. One that is not written in it stands for itself. */
function bytesOf(token: string): readonly number[] {
  const bytes = Array.from(token, (character) => alphabet.get(character));
  return bytes.every((byte) => byte !== undefined) ? bytes : [...utf8.encode(token)];
}

/** Returns whether a token stands for one byte. */
export function isByteToken(token: string): boolean {
  return /^<0x[\dA-Fa-f]{2}>$/.test(token);
}

/** Replaces each run of bytes by its characters. If a run is not UTF-8, each of its bytes becomes U+FFFD. */
function readBytes(tokens: readonly string[]): readonly string[] {
  const read: string[] = [];
  for (let at = 0, end = 0; at < tokens.length; at = end) {
    while (end < tokens.length && isByteToken(tokens[end]!)) end++;
    if (end === at) read.push(tokens[end++]!);
    else read.push(charactersOf(Uint8Array.from(tokens.slice(at, end), (token) => Number(token.slice(1, 5)))));
  }
  return read;
}

function charactersOf(bytes: Uint8Array): string {
  try {
    return toTextStrictly.decode(bytes);
  } catch {
    return '\u{FFFD}'.repeat(bytes.length);
  }
}
