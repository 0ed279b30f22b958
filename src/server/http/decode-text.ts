import { messageOf } from '../../contract/errors.js';
import { shorten } from '../../contract/describe-value.js';
import { badRequest, unsupportedType } from '../serving-error.js';

const NO_TEXT = 'Name the charset of a text in its Content-Type, and send a file as application/octet-stream.';

/**
 * Decodes a text by the charset that its type declares; by default, as UTF-8.
 * @param what names it in errors, at the start of a sentence
 * @param remedy a sentence for bytes that are no text
 * @throws `invalid-input` for an unknown charset, and for bytes that are not text in it
 */
export function decodeText(bytes: BufferSource, type: string, what: string, remedy = NO_TEXT): string {
  const [, quoted, plain] = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;]+))/i.exec(type) ?? [];
  const charset = (quoted ?? plain ?? 'utf-8').trim();
  return decode(bytes, decoderOf(charset), `${what} is not text in ${shorten(charset)}`, remedy);
}

/** Decodes JSON, which is UTF-8 whatever its type declares (RFC 8259). @throws `invalid-input` */
export function decodeJson(bytes: BufferSource): string {
  return decode(bytes, decoderOf('utf-8'), 'The body is not JSON: it is not UTF-8');
}

function decode(bytes: BufferSource, decoder: TextDecoder, wrong: string, remedy = ''): string {
  try {
    // Without `stream`, Node 20 reads windows-1252 as ISO-8859-1, which has no euro sign.
    return decoder.decode(bytes, { stream: true }) + decoder.decode();
  } catch (cause) {
    throw badRequest(`${wrong}: ${messageOf(cause)}${remedy && `. ${remedy}`}`, cause);
  }
}

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset, { fatal: true });
  } catch (cause) {
    throw unsupportedType(`The charset ${shorten(charset)} is not known: send UTF-8.`, cause);
  }
}
