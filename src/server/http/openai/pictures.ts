/** Pictures and sound in the messages of a request. */
import { isPlainObject } from '../../../shared/is-plain-object.js';
import { fromBase64 } from '../base64.js';
import { wrongField, wrongValue } from './request.js';

/**
 * Returns the parts of a content with OpenAI's pictures as the handler takes them.
 * @param where the message
 * @throws `invalid-input` for a URL that is neither `data:` nor of the page's own origin: no other site is asked
 */
export function withImages(content: readonly unknown[], where: string): readonly unknown[] {
  return content.map((part, at) => {
    if (!isPlainObject(part) || part['type'] !== 'image_url') return part;
    const { image_url: given } = part;
    const name = `${where}.content[${at}].image_url`;
    // `detail` says how many tiles OpenAI makes of it. Here the model's own processor decides.
    const url = isPlainObject(given) ? given['url'] : given;
    if (typeof url !== 'string') throw wrongValue(`${name}.url`, 'a URL', url);
    return { type: 'image', image: imageOf(url, `${name}.url`) };
  });
}

function imageOf(url: string, name: string): Blob | URL {
  const data = /^data:([^;,]*);base64,/i.exec(url);
  if (data) return new Blob([bytesOf(url.slice(data[0].length), name)], { type: data[1]! });
  // Node has no origin of its own.
  const { location } = globalThis as { readonly location?: { readonly href: string; readonly origin: string } };
  if (location && URL.canParse(url, location.href)) {
    const own = new URL(url, location.href);
    if (own.origin === location.origin) return own;
  }
  const expected = location ? "a data: URL in base64, or a URL of this page's origin" : 'a data: URL in base64';
  throw wrongField(name, `expected ${expected}, got ${JSON.stringify(url.slice(0, 80))}.`, 'unsupported_value');
}

/**
 * Returns the parts of a content with OpenAI's sound as the handler takes it.
 * @param where the message
 * @throws `invalid-input` for what is no sound in base64
 */
export function withSounds(content: readonly unknown[], where: string): readonly unknown[] {
  return content.map((part, at) => {
    if (!isPlainObject(part) || part['type'] !== 'input_audio') return part;
    const { input_audio: given } = part;
    const data = isPlainObject(given) ? given['data'] : given;
    const name = `${where}.content[${at}].input_audio.data`;
    if (typeof data !== 'string') throw wrongValue(name, 'sound in base64', data);
    // The format is read from the file itself.
    return { type: 'audio', audio: new Blob([bytesOf(data, name)]) };
  });
}

/** @throws `invalid-input` naming the field, for what is no base64 */
function bytesOf(text: string, name: string): Uint8Array<ArrayBuffer> {
  try {
    return fromBase64(text);
  } catch {
    throw wrongValue(name, 'bytes as a string in base64', text);
  }
}
