import { decodeAudio } from './decode-audio.js';
import { TabServeError } from '../../contract/errors.js';
import { shortenUrl } from './pictures.js';
import type { AudioSamples } from '../../contract/audio.js';
import { audioFormatOf, FORMAT_BYTES } from '../../shared/audio-format.js';
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
 * Returns what is sent instead of an audio file: the file itself if a worker decodes its format, and otherwise its
 * samples. A Blob of another type is an audio file if its bytes begin as
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
    const start = new Uint8Array(await file.slice(0, FORMAT_BYTES).arrayBuffer());
    return audioFormatOf(start) !== undefined ? await decodeAudio(file) : file;
  } catch {
    return file;
  }
}

const NO_AUDIO = /^(image|text)\/|json/;
