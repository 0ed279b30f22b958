import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import type { AudioFormat } from '../../shared/audio-format.js';

/** Returns the error for a file that is not there any more, or is another one. */
export function unreadable(cause: unknown): TabServeError {
  const why = 'The audio file cannot be read: it has been changed, moved or removed.';
  return new TabServeError('invalid-input', why, { cause });
}

/** Returns the error for a file whose sound a worker does not decode. @param format undefined for an unknown one */
export function notDecoded({ type, size }: Blob, format: AudioFormat | undefined): TabServeError {
  const why =
    size === 0
      ? 'The audio file is empty.'
      : format
        ? `The file is ${format}, and its sound cannot be decoded here: it needs WebCodecs, which Node, older browsers and pages without HTTPS do not have. Then only a page decodes it, if it has sound, and is neither encrypted nor damaged. Convert it to WAV: ffmpeg -i FILE sound.wav`
        : type.startsWith('text/html')
          ? 'The file is a page of HTML, as servers send one where a file is missing. Check its URL.'
          : `The file is no audio of a format that is known here: WAV, MP3, MP4, Ogg, WebM, FLAC and AAC are, by their first bytes. Its type is ${describeValue(type)}. The page decodes what else the browser can, if the type of the Blob begins with "audio/": new Blob([file], { type: 'audio/mpeg' }).`;
  return new TabServeError('invalid-input', why);
}
