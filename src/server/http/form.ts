import { shorten } from '../../contract/describe-value.js';
import { badRequest, ServingError, unsupportedType } from '../serving-error.js';
import { fromBase64 } from './base64.js';
import { decodeText } from './decode-text.js';

type Field = readonly [name: string, value: Blob | string];

/** The maximum number of fields of a form: each costs far more than its bytes. */
const MAX_FIELDS = 1000;
/** The number of arguments that every browser accepts. */
const PART_BYTES = 2 ** 13;
/** The maximum number of bytes in front of a field's value: what Node accepts as a request's headers. */
const MAX_HEADERS = 2 ** 14;

/**
 * Returns the fields of a form, in their order.
 * @throws `invalid-input` for too many, for none, and for a body that is not what its type says
 */
export function fieldsOf(bytes: ArrayBuffer, type: string): readonly Field[] {
  const fields = /^\s*multipart\b/i.test(type) ? multipartFields(bytes, type) : queryFields(bytes, type);
  if (fields.length === 0) throw badRequest('The form has no fields; its input belongs into the field "data".');
  return fields;
}

/** curl declares every body that it sends with -d or --data-binary as a form. */
const CURL_REMEDY =
  "A file or a text that is the whole body needs its own Content-Type: curl -T FILE, or --data-binary @FILE with -H 'Content-Type: application/octet-stream'. What curl sends with -d or --data-binary is a form.";

/**
 * Reads a form as `URLSearchParams` does, but by the charset that is declared, and strictly.
 * @throws `invalid-input` with curl's remedy: what is not a form is a file
 */
function queryFields(bytes: ArrayBuffer, type: string): readonly Field[] {
  try {
    const pairs = oneByOne(bytes).split('&', MAX_FIELDS + 1);
    checkNumber(pairs.length);
    return pairs
      .filter((pair) => pair !== '')
      .map((pair) => {
        const [name, ...value] = pair.split('=');
        return [unescapeText(name!, type), unescapeText(value.join('='), type)];
      });
  } catch (cause) {
    if (!(cause instanceof ServingError) || cause.status !== 400) throw cause;
    throw badRequest(`${cause.message.replace(/\.?$/, '.')} ${CURL_REMEDY}`, cause);
  }
}

/** @param text one character for each byte */
function unescapeText(text: string, type: string): string {
  const plain = text
    .replaceAll('+', ' ')
    .replace(/%([\da-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  const bytes = Uint8Array.from(plain, (character) => character.charCodeAt(0));
  return decodeText(bytes, type, 'A field of the form', '');
}

/** Returns one character for each byte, with the same number. */
function oneByOne(bytes: ArrayBuffer): string {
  const all = new Uint8Array(bytes);
  let text = '';
  for (let at = 0; at < all.length; at += PART_BYTES) text += String.fromCharCode(...all.subarray(at, at + PART_BYTES));
  return text;
}

function checkNumber(count: number): void {
  if (count > MAX_FIELDS) throw badRequest(`The form has more than ${MAX_FIELDS} fields.`);
}

/**
 * Reads a form by RFC 7578. Node's own parser, `Response.formData`, refuses names without quotes and `filename*`, both
 * of which .NET sends, and a value in which the characters of the boundary occur. `@remix-run/multipart-parser` 0.16.3
 * cannot read a form with a file name that is not UTF-8 (curl on Windows), and drops a field without headers in
 * silence; `multipasta` 0.2.8 loses the name of a field whose file name is Japanese.
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
  const [before, ...parts] = `\r\n${new TextDecoder('latin1').decode(bytes)}`.split(delimiter, MAX_FIELDS + 3);
  const fields: Field[] = [];
  let at = before!.length + delimiter.length - 2;
  for (const part of parts) {
    if (part.startsWith('--')) return fields;
    checkNumber(fields.length + 1);
    const end = part.indexOf('\r\n\r\n');
    if ((end < 0 ? part.length : end) > MAX_HEADERS)
      throw badRequest(`The headers of a field of the form have more than ${MAX_HEADERS} bytes, or no end.`);
    if (end < 0 || !/^[ \t]*\r\n/.test(part)) throw wrong('a field has no headers, or no value');
    const headers = new TextDecoder().decode(bytes.slice(at, at + end));
    const field = fieldOf(headers, bytes.slice(at + end + 4, at + part.length));
    if (!field) throw wrong('a field has no name');
    fields.push(field);
    at += part.length + delimiter.length;
  }
  throw wrong('its end is missing');
}

/**
 * Returns a field: a text if it has neither a file name nor another type than that of a text, otherwise a file. A file
 * without a type, which Python's requests sends, has none. Undefined if the field has no name.
 */
function fieldOf(headers: string, sent: ArrayBuffer): Field | undefined {
  const [, disposition = ''] = /^content-disposition:[ \t]*form-data(.*)$/im.exec(headers) ?? [];
  const params = new Map<string, string>();
  // Browsers write characters that a header cannot contain as %0D, %0A and %22.
  for (const [, key, quoted, plain = ''] of disposition.matchAll(/;\s*([\w*-]+)=(?:"([^"]*)"|([^;\s]*))/g))
    params.set(key!.toLowerCase(), (quoted ?? plain).replace(/%(?:0D|0A|22)/gi, decodeURIComponent));
  const [name, file] = [params.get('name'), params.get('filename') ?? params.get('filename*')];
  if (name === undefined) return undefined;
  const [, encoding = 'binary'] = /^content-transfer-encoding:[ \t]*(.*?)[ \t]*$/im.exec(headers) ?? [];
  if (!/^(base64|binary|7bit|8bit)$/i.test(encoding))
    throw unsupportedType(`A field of the form is encoded (${shorten(encoding)}): send it as it is, or in base64.`);
  const bytes = /^base64$/i.test(encoding) ? fromBase64(new TextDecoder().decode(sent)) : sent;
  const [, type = ''] = /^content-type:(.*)$/im.exec(headers) ?? [];
  // curl's `-F 'points=[[1,2]];type=application/json'` has no file name.
  if (file === undefined && /^\s*(text\/|$)/i.test(type))
    return [name, decodeText(bytes, type, 'A field of the form without a file name')];
  return [name, new File([bytes], file ?? '', { type: type.trim() })];
}
