import { TabServeError } from '../../contract/errors.js';
import { checkKeys } from '../../shared/check-keys.js';
import { checkLength } from './limits.js';

/** A text, or a pair of texts. */
export interface Texts {
  readonly text: string;
  readonly textPair: string | undefined;
}

/**
 * Reads a row's texts, a file's strictly. An unpaired surrogate becomes U+FFFD, as in UTF-8.
 * @throws `invalid-input` if it is neither a text, a Blob of UTF-8, nor a pair of texts, if a pair has an unknown key, or
 *   for a file that cannot be read any more
 */
export async function readText(input: unknown): Promise<Texts> {
  if (input instanceof Blob) checkLength(input.size);
  const { text, textPair } =
    input instanceof Blob
      ? { text: decode(await input.arrayBuffer().catch(notRead)) }
      : typeof input === 'string'
        ? { text: input }
        : ((input ?? {}) as { text?: string; textPair?: string });
  if (typeof text !== 'string' || (textPair !== undefined && typeof textPair !== 'string')) {
    throw new TabServeError(
      'invalid-input',
      `Expected a string, a Blob of UTF-8, or { text, textPair }, got ${input === null ? 'null' : Array.isArray(input) ? 'a list' : typeof input}.`,
    );
  }
  if (typeof input === 'object' && !(input instanceof Blob)) checkKeys(input!, ['text', 'textPair']);
  return { text: wellFormed(text), textPair: textPair === undefined ? undefined : wellFormed(textPair) };
}

function notRead(cause: unknown): never {
  throw new TabServeError('invalid-input', 'The text file cannot be read: it has been changed, moved or removed.', {
    cause,
  });
}

function decode(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new TabServeError(
      'invalid-input',
      'The text file is not UTF-8. Save it as UTF-8, or decode it and send a string.',
      {
        cause,
      },
    );
  }
}

function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD');
}
