import { decodeAudio } from './decode-audio.js';
import { TabServeError } from '../../contract/errors.js';
import { shortenUrl } from './pictures.js';
import type { AudioSamples } from '../../contract/audio.js';
import { isA } from '../../shared/is-a.js';

/**
 * Downloads the image or audio file of a URL that the caller passed (`https:`, `data:` or `blob:`), with cookies for
 * the page's own origin only. The server's content type does not matter: the decoder looks at the bytes.
 * @throws `invalid-input`, naming the URL, and the status or the remedy, if it cannot be downloaded
 */
export async function downloadImage(url: string, signal?: AbortSignal): Promise<Blob> {
  try {
    const response = await fetch(url, signal ? { signal } : {});
    if (response.ok) return await response.blob();
    void response.body?.cancel();
    throw failed(url, `the server answered ${response.status} ${response.statusText}`.trim());
  } catch (cause) {
    if (cause instanceof TabServeError) throw cause;
    throw failed(url, reason(url), cause);
  }
}

function failed(url: string, why: string, cause?: unknown): TabServeError {
  return new TabServeError('invalid-input', `The file ${shortenUrl(url)} could not be downloaded: ${why}.`, { cause });
}

/** Returns what may be the cause of a failed request: a browser does not tell the page. */
function reason(url: string): string {
  const { protocol, origin } = new URL(url);
  if (protocol === 'blob:') return 'this object URL has been revoked, or belongs to another origin';
  if (protocol === 'file:') return 'it is a file: pass its bytes as a Blob';
  const policy = "the page's Content-Security-Policy (connect-src) forbids the request";
  if (origin === globalThis.location?.origin) return `the server cannot be reached, or ${policy}`;
  return (
    `the server cannot be reached, or does not allow this page to read its files (CORS), or ${policy}. ` +
    "Let the server send Access-Control-Allow-Origin, serve the file from the page's own origin, or pass a Blob"
  );
}

/**
 * Returns the samples of an AudioBuffer, and undefined for anything else.
 * @param copied whether they are a copy, and not the buffer's own memory
 * @throws `invalid-input` for a MediaStreamTrack or a MediaStream, which has no end
 */
export function samplesOf(value: object, copied: boolean): AudioSamples | undefined {
  if (isA('AudioBuffer', value)) {
    const channels = Array.from({ length: value.numberOfChannels }, (_, index) => value.getChannelData(index));
    return { channels: copied ? channels.map((one) => one.slice()) : channels, sampleRate: value.sampleRate };
  }
  const isLive = isA('MediaStreamTrack', value) || isA('MediaStream', value);
  if (isLive)
    throw new TabServeError(
      'invalid-input',
      'A MediaStreamTrack or MediaStream is no input, because it has no end. For audio, pass each segment that audioChunks(track) yields to a sequence; for video, use client.frames(track).',
    );
  return undefined;
}

/**
 * Returns what is sent instead of an audio file: the file itself if it is WAV, which a worker decodes, and otherwise
 * its samples. Only a page has the browser's decoder. A Blob of another type is an audio file if its bytes begin as
 * one; images and texts are skipped by their type. Returns undefined for whatever is not a Blob.
 */
export function audioFile(value: object): Promise<Blob | AudioSamples> | undefined {
  if (!(value instanceof Blob) || NO_AUDIO.test(value.type)) return undefined;
  const isDeclared = value.type.startsWith('audio/');
  return isDeclared ? decodeAudio(value) : decodeIfAudio(value);
}

/** Returns the samples if a file is audio, or a video with sound, and otherwise the file, which its reader judges. */
async function decodeIfAudio(file: Blob): Promise<Blob | AudioSamples> {
  try {
    const start = new Uint8Array(await file.slice(0, 12).arrayBuffer());
    return looksLikeAudio(start) ? await decodeAudio(file) : file;
  } catch {
    return file;
  }
}

const NO_AUDIO = /^(image|text)\/|json/;

/** How Ogg, FLAC, WebM, CAF and MP3 with tags begin. */
const BEGINNINGS = ['OggS\0', 'fLaC\0', 'fLaC\x80', '\x1aE\xdf\xa3', 'caff\0', 'ID3\x02', 'ID3\x03', 'ID3\x04'];

/** MP4's brands that are images: AVIF and HEIC. */
const IMAGE_BRANDS = /^(avi[fs]|hei|hev|mi[fa]1|msf1)/;

/**
 * Returns whether a file begins as Ogg, FLAC, WebM, MP4, AIFF or CAF, or as MP3 or AAC. @param start its first 12 bytes
 */
export function looksLikeAudio(start: Uint8Array): boolean {
  const text = String.fromCharCode(...start);
  if (BEGINNINGS.some((one) => text.startsWith(one)) || /^FORM[^]{4}AIF/.test(text)) return true;
  if (text.slice(4, 8) === 'ftyp') return !IMAGE_BRANDS.test(text.slice(8));
  // The frame header of MPEG audio, whose version, layer and rate are none of the reserved ones; AAC has the layer 0.
  const [first = 0, second = 0, third = 0] = start;
  return (
    first === 0xff &&
    second >>> 5 === 7 &&
    ((second >>> 3) & 3) !== 1 &&
    (((second >>> 1) & 3) === 0 ? second >>> 4 === 15 : third >>> 4 !== 15 && ((third >>> 2) & 3) !== 3)
  );
}
