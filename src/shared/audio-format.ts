/** Formats of audio files, by their first bytes. */

/** A format of audio files, or of videos with sound, by its usual name. */
export type AudioFormat = 'WAV' | 'MP3' | 'AAC' | 'MP4' | 'Ogg' | 'FLAC' | 'WebM' | 'AIFF' | 'CAF';

/** How many of a file's first bytes tell its format. */
export const FORMAT_BYTES = 12;

/** How files begin. MP3's are those of its tags. */
const BEGINNINGS: Readonly<Partial<Record<AudioFormat, RegExp>>> = {
  WAV: /^RIFF[^]{4}WAVE/,
  AIFF: /^FORM[^]{4}AIF/,
  CAF: /^caff\0/,
  Ogg: /^OggS\0/,
  FLAC: /^fLaC[\0\x80]/,
  WebM: /^[^]E\xdf\xa3/,
  MP3: /^ID3[^ -~]/,
  // But for the brands that are images, AVIF and HEIC.
  MP4: /^[^]{4}ftyp(?!avi[fs]|hei|hev|mi[fa]1|msf1)/,
};

/** Returns the format of an audio file, or of a video; undefined for others. @param start its first 12 bytes */
export function audioFormatOf(start: Uint8Array): AudioFormat | undefined {
  const text = String.fromCharCode(...start);
  return (
    (Object.keys(BEGINNINGS) as AudioFormat[]).find((format) => BEGINNINGS[format]!.test(text)) ?? mpegFormat(start)
  );
}

/** Reads the frame header of MPEG audio, whose version, layer and rate are none of the reserved ones; AAC has layer 0. */
function mpegFormat([first = 0, second = 0, third = 0]: Uint8Array): AudioFormat | undefined {
  if (first !== 0xff || second >>> 5 !== 7 || ((second >>> 3) & 3) === 1) return undefined;
  if (((second >>> 1) & 3) === 0) return second >>> 4 === 15 ? 'AAC' : undefined;
  return third >>> 4 !== 15 && ((third >>> 2) & 3) !== 3 ? 'MP3' : undefined;
}

/**
 * Returns whether a worker decodes files of a format in this browser: WAV, and by WebCodecs what Mediabunny reads. The
 * WebCodecs of WebKit (2.50), which have no `ImageDecoder`, fail for MP3, and AAC ends their page.
 */
export function isDecodedInWorkers(format: AudioFormat | undefined): boolean {
  if (format === undefined || format === 'AIFF' || format === 'CAF') return false;
  return format === 'WAV' || (typeof AudioDecoder !== 'undefined' && typeof ImageDecoder !== 'undefined');
}
