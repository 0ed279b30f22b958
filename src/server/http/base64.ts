import { describeValue } from '../../contract/describe-value.js';
import { badRequest } from '../serving-error.js';

/** Returns the bytes of a text in base64, which may be a `data:` URL. @throws `invalid-input` */
export function blobOf(text: unknown): Blob {
  return new Blob([fromBase64(text)]);
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
