import { TabServeError } from '../contract/errors.js';
import { checkLength } from './limits.js';

/** A text, or a pair of texts. */
export interface Texts {
  readonly text: string;
  readonly textPair: string | undefined;
}

/**
 * Reads a row's texts. An unpaired surrogate becomes U+FFFD, as in UTF-8.
 * @throws `invalid-input` if it is neither a text, a Blob of UTF-8, nor a pair of texts, or a file that cannot be read any more
 */
export async function readText(input: unknown): Promise<Texts> {
  if (input instanceof Blob) checkLength(input.size);
  const { text, textPair } =
    input instanceof Blob
      ? { text: await input.text().catch(notRead) }
      : typeof input === 'string'
        ? { text: input }
        : ((input ?? {}) as { text?: string; textPair?: string });
  if (typeof text !== 'string' || (textPair !== undefined && typeof textPair !== 'string')) {
    throw new TabServeError(
      'invalid-input',
      `Expected a string, a Blob of UTF-8, or { text, textPair }, got ${input === null ? 'null' : Array.isArray(input) ? 'a list' : typeof input}.`,
    );
  }
  return { text: wellFormed(text), textPair: textPair === undefined ? undefined : wellFormed(textPair) };
}

function notRead(cause: unknown): never {
  throw new TabServeError('invalid-input', 'The text file cannot be read: it has been changed, moved or removed.', {
    cause,
  });
}

function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD');
}
