import { describeValue } from '../../contract/describe-value.js';
import { badRequest } from '../serving-error.js';

/** Returns the bytes of a text in base64, which may be a `data:` URL. @throws `invalid-input` */
export function blobOf(text: unknown): Blob {
  return new Blob([fromBase64(text)]);
}

/** The maximum number of values in base64 of one JSON value: each costs far more than its bytes. */
const MAX_BLOBS = 1000;

/**
 * Replaces values in base64 by Blobs. In JSON, such a value is TensorFlow Serving's `{ "b64": "…" }`, which
 * TorchServe's JSON envelope reads, too. Changes the value in place, and returns what replaces the value itself.
 * @param name of the whole, for a message
 * @throws `invalid-input` if a text is not base64, or if there are more than 1000
 */
export function withBlobs(json: unknown, name: string): unknown {
  let blobs = 0;
  const replaced = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if ('b64' in value && Object.keys(value).length === 1) {
      if (++blobs > MAX_BLOBS) throw badRequest(`${name} has more than ${MAX_BLOBS} values in base64.`);
      return blobOf(value.b64);
    }
    const members = value as Record<string | number, unknown>;
    if (Array.isArray(value)) for (let at = 0; at < value.length; at++) members[at] = replaced(value[at]);
    else for (const key of Object.keys(value)) members[key] = replaced(members[key]);
    return value;
  };
  return replaced(json);
}

/** Returns bytes as a text in base64. */
export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** Returns the bytes of a text in base64, which may be a `data:` URL. @throws `invalid-input` */
export function fromBase64(text: unknown): Uint8Array<ArrayBuffer> {
  try {
    if (typeof text !== 'string') throw new TypeError('no string');
    const base64 = text
      .replace(/^data:[^,]*;base64,/, '')
      .replaceAll('-', '+')
      .replaceAll('_', '/');
    const binary = atob(base64);
    const bytes = new Uint8Array(binary.length);
    for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
    return bytes;
  } catch (cause) {
    throw badRequest(`Expected bytes as a string in base64, got ${describeValue(text)}.`, cause);
  }
}
