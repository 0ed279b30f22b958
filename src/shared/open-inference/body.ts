/** The body of a message: JSON, followed by the bytes of the tensors that are not in the JSON. */
import type { OnArrayBuffer } from '../../contract/tensors.js';
import { Fault } from './fault.js';
import { parseExact } from './tensor-json.js';

/** Says how many bytes of a body are JSON. Present if the body has anything else. */
const JSON_LENGTH = 'Inference-Header-Content-Length';

/** What `fetch` and `Response` take. */
export interface EncodedMessage {
  readonly body: OnArrayBuffer<Uint8Array> | string;
  readonly headers: Record<string, string>;
}

/** Returns a body. @param parts the bytes of the tensors, in order; none if every tensor is in the JSON */
export function writeBody(json: string, parts: readonly Uint8Array[]): EncodedMessage {
  if (parts.length === 0) return { body: json, headers: { 'Content-Type': 'application/json' } };
  const text = new TextEncoder().encode(json);
  const body = new Uint8Array(parts.reduce((sum, { length }) => sum + length, text.length));
  body.set(text);
  let at = text.length;
  for (const part of parts) {
    body.set(part, at);
    at += part.length;
  }
  return { body, headers: { 'Content-Type': 'application/octet-stream', [JSON_LENGTH]: String(text.length) } };
}

/**
 * Splits a body into its parsed JSON and the bytes after it.
 * @param check is called with the JSON before it is parsed
 * @throws `Fault` if it does not begin with JSON, or ends before it; what `check` throws
 */
export function readBody(
  body: ArrayBuffer,
  headers: Headers,
  check: (text: string) => void = () => {},
): { json: unknown; binary: Uint8Array } {
  const bytes = new Uint8Array(body);
  const length = jsonLength(bytes, headers);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length));
  } catch (cause) {
    throw new Fault('its JSON is not UTF-8', { cause });
  }
  check(text);
  try {
    return { json: parseExact(text), binary: bytes.subarray(length) };
  } catch (cause) {
    const why = cause instanceof SyntaxError ? cause.message : 'too long';
    throw new Fault(
      `it is not JSON: ${why}${/\bNaN\b|\bInfinity\b/.test(why) ? ' (JSON has neither NaN nor infinity)' : ''}`,
      { cause },
    );
  }
}

/**
 * Returns how many bytes of a body are JSON. A page reads the header of another origin's response only if the server
 * exposes it (`Access-Control-Expose-Headers`). Without it, the end of a binary body's JSON is found by its braces.
 */
function jsonLength(bytes: Uint8Array, headers: Headers): number {
  const text = headers.get(JSON_LENGTH);
  if (text === null) return isBinary(headers) ? endOfJson(bytes) : bytes.length;
  const length = /^\d+$/.test(text.trim()) ? Number(text) : NaN;
  if (!(length <= bytes.length))
    throw new Fault(`${JSON_LENGTH} is ${text.slice(0, 40)}, and the body has ${bytes.length} bytes`);
  return length;
}

function isBinary(headers: Headers): boolean {
  return /^application\/octet-stream\b/i.test(headers.get('content-type') ?? '');
}

const [OPEN, CLOSE, QUOTE, BACKSLASH] = [...'{}"\\'].map((character) => character.charCodeAt(0));

function endOfJson(bytes: Uint8Array): number {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (isText && byte === BACKSLASH) at++;
    else if (byte === QUOTE) isText = !isText;
    else if (!isText && byte === OPEN) depth++;
    else if (!isText && byte === CLOSE && --depth === 0) return at + 1;
  }
  return bytes.length;
}
