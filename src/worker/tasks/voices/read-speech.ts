/** Reads what is to be spoken, and cuts it into the parts that are spoken one after another. */
import { TabServeError } from '../../../contract/errors.js';
import type { MaybePromise } from '../../../contract/handler.js';
import { checkKeys } from '../../../shared/check-keys.js';
import { readText } from '../../text/read-text.js';
import { cutText } from './cut-text.js';
import type { Voice, VoiceToken } from './voice.js';

/** A text to be spoken, or its phonemes, as espeak-ng and its like write them. */
export type SpeechInput = string | Blob | { readonly text: string } | { readonly phonemes: string };

/** A part of a text, and what the model reads of it. */
export interface TextToSpeak {
  readonly text: string;
  readonly tokens: readonly VoiceToken[];
}

/** The largest number of UTF-16 units in a text: about ten minutes of sound. */
const MAX_LENGTH = 10_000;

/**
 * Returns what the model reads: a text, or phonemes.
 * @param phonemize makes phonemes of a text
 * @throws `invalid-input`, and what `phonemize` throws
 */
export async function textOf(
  input: SpeechInput,
  { reads }: Pick<Voice, 'reads'>,
  phonemize: (text: string) => MaybePromise<string>,
): Promise<string> {
  const isPhonemes = typeof input === 'object' && input !== null && 'phonemes' in input;
  if (isPhonemes) checkKeys(input, ['phonemes']);
  const given = isPhonemes ? { text: input.phonemes } : input;
  const { text, textPair } = await readText(given);
  if (textPair !== undefined)
    throw new TabServeError('invalid-input', 'Expected one text to speak, got a pair. Pass its texts one by one.');
  if (text.length > MAX_LENGTH)
    throw new TabServeError(
      'invalid-input',
      `The text has a length of ${text.length}, and the limit is ${MAX_LENGTH}. Pass it in parts, such as its paragraphs.`,
    );
  if (text.trim() === '')
    throw new TabServeError('invalid-input', 'The text is empty. Pass a text with at least one letter.');
  if (!isPhonemes) return reads === 'text' ? text : await phonemize(text);
  if (reads === 'phonemes') return text;
  throw new TabServeError('invalid-input', 'The model reads letters, not phonemes. Pass the text itself.');
}

/** @throws `invalid-input` if the model knows no character of the text */
export function partsOf(
  text: string,
  { encode, maxTokens, reads }: Pick<Voice, 'encode' | 'maxTokens' | 'reads'>,
): readonly TextToSpeak[] {
  const parts = cutText(text, (part) => encode(part).length <= maxTokens);
  const spoken = parts.map((part) => ({ text: part, tokens: encode(part) })).filter(({ tokens }) => tokens.length > 0);
  if (spoken.length > 0) return spoken;
  throw new TabServeError(
    'invalid-input',
    `The model knows no ${reads === 'text' ? 'letter' : 'phoneme'} of "${text.trim().slice(0, 40)}". Pass a text in its language${reads === 'text' ? ', with numbers written as words' : ', as phonemes of the alphabet that it was trained with'}.`,
  );
}
