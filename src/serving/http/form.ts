import { shorten } from '../../contract/describe-value.js';
import { badRequest } from '../serving-error.js';
import { fromBase64 } from './base64.js';

type Field = readonly [name: string, value: Blob | string];

/** The most fields of a form: each costs far more than its bytes. */
const MOST_FIELDS = 1000;
/** The most bytes in front of a field's value: what Node takes of a request's headers. */
const MOST_HEADERS = 2 ** 14;

/** Returns the fields of a form, in their order. @throws `invalid-input` for too many, for none, and for a body that is not what its type says */
export function fieldsOf(bytes: ArrayBuffer, type: string): readonly Field[] {
  const fields = /^\s*multipart\b/i.test(type) ? multipartFields(bytes, type) : queryFields(bytes);
  if (fields.length === 0) throw badRequest('The form has no fields; its input belongs into the field "data".');
  return fields;
}

function queryFields(bytes: ArrayBuffer): readonly Field[] {
  const text = new TextDecoder().decode(bytes);
  checkNumber(text.split('&', MOST_FIELDS + 1).length);
  // A question mark at its start would be left out.
  return [...new URLSearchParams(`&${text}`)];
}

function checkNumber(count: number): void {
  if (count > MOST_FIELDS) throw badRequest(`The form has more than ${MOST_FIELDS} fields.`);
}

/**
 * Reads a form by RFC 7578. Node's own parser, `Response.formData`, refuses names without quotes and `filename*`, both of which .NET sends, and a value in which the
 * characters of the boundary occur. `@remix-run/multipart-parser` 0.16.3 cannot read a form with a file name that is not UTF-8 (curl on Windows), and drops a field
 * without headers in silence; `multipasta` 0.2.8 loses the name of a field whose file name is Japanese.
 */
function multipartFields(bytes: ArrayBuffer, type: string): readonly Field[] {
  const [found, ...others] = type.matchAll(/boundary=(?:"([^"]*)"|([^\s;]*))/gi);
  if (others.length > 0 || type.includes('\\'))
    throw badRequest(`The type of the body, ${shorten(type)}, has more than one boundary, or a backslash.`);
  const boundary = found?.[1] ?? found?.[2] ?? '';
  const wrong = (why: string): Error =>
    badRequest(`The body is not what its type says, ${type.slice(0, 100)}: ${why}.`);
  if (boundary === '') throw wrong('the type has no boundary');
  const delimiter = `\r\n--${boundary}`;
  // One character for each byte. The first delimiter may be at the body's start, without a line break.
  const [before, ...parts] = `\r\n${new TextDecoder('latin1').decode(bytes)}`.split(delimiter, MOST_FIELDS + 3);
  const fields: Field[] = [];
  let at = before!.length + delimiter.length - 2;
  for (const part of parts) {
    if (part.startsWith('--')) return fields;
    checkNumber(fields.length + 1);
    const end = part.indexOf('\r\n\r\n');
    if ((end < 0 ? part.length : end) > MOST_HEADERS)
      throw badRequest(`The headers of a field of the form have more than ${MOST_HEADERS} bytes, or no end.`);
    if (end < 0 || !/^[ \t]*\r\n/.test(part)) throw wrong('a field has no headers, or no value');
    const headers = new TextDecoder().decode(bytes.slice(at, at + end));
    const field = fieldOf(headers, bytes.slice(at + end + 4, at + part.length));
    if (!field) throw wrong('a field has no name');
    fields.push(field);
    at += part.length + delimiter.length;
  }
  throw wrong('its end is missing');
}

/** Returns a field: a file if it has a file name, otherwise a text. Undefined if it has no name. */
function fieldOf(headers: string, sent: ArrayBuffer): Field | undefined {
  const [, disposition = ''] = /^content-disposition:[ \t]*form-data(.*)$/im.exec(headers) ?? [];
  const params = new Map<string, string>();
  // Browsers write what a header cannot hold as %0D, %0A and %22.
  for (const [, key, quoted, plain = ''] of disposition.matchAll(/;\s*([\w*-]+)=(?:"([^"]*)"|([^;\s]*))/g))
    params.set(key!.toLowerCase(), (quoted ?? plain).replace(/%(?:0D|0A|22)/gi, decodeURIComponent));
  const [name, file] = [params.get('name'), params.get('filename') ?? params.get('filename*')];
  if (name === undefined) return undefined;
  const isBase64 = /^content-transfer-encoding:\s*base64\s*$/im.test(headers);
  const bytes = isBase64 ? fromBase64(new TextDecoder().decode(sent)) : sent;
  if (file === undefined) return [name, new TextDecoder().decode(bytes)];
  const [, type = 'text/plain'] = /^content-type:(.*)$/im.exec(headers) ?? [];
  return [name, new File([bytes], file, { type: type.trim() })];
}
