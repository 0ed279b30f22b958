import type { Load } from './load.js';

/** The part of the reader of media files that is used: formats, and the decoding of their audio by WebCodecs. */
export type Mediabunny = Pick<
  typeof import('mediabunny'),
  'ADTS' | 'AudioSampleSink' | 'BlobSource' | 'FLAC' | 'Input' | 'MATROSKA' | 'MP3' | 'MP4' | 'OGG' | 'QTFF' | 'WEBM'
>;

/** Loads the reader of media files. */
export const load: Load<Mediabunny> = async () => {
  // By name, so that bundlers leave the rest out.
  const { ADTS, AudioSampleSink, BlobSource, FLAC, Input, MATROSKA, MP3, MP4, OGG, QTFF, WEBM } =
    await import('mediabunny');
  return { ADTS, AudioSampleSink, BlobSource, FLAC, Input, MATROSKA, MP3, MP4, OGG, QTFF, WEBM };
};
