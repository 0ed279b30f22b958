import type { AudioSamples } from '../../contract/audio.js';
import { TabServeError } from '../../contract/errors.js';
import { isA } from './is-a.js';

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
      'A MediaStreamTrack or MediaStream is no input, since it goes on. Of audio, pass each piece that audioChunks(track) yields to a sequence; of video, use client.frames(track).',
    );
  return undefined;
}

/**
 * Returns what is sent in the place of an audio file: the file itself if it is WAV, which a worker decodes, and otherwise its samples. Only a page has the browser's decoder.
 * Returns undefined for whatever is not a Blob of a type that begins with `audio/`.
 */
export function audioFile(value: object): Promise<Blob | AudioSamples> | undefined {
  if (!(value instanceof Blob) || !value.type.startsWith('audio/')) return undefined;
  return import('./decode-audio.js').then(({ decodeAudio }) => decodeAudio(value));
}
