/**
 * Sound as a handler gets it.
 */

/** Sound as numbers, full scale −1..1. */
export type AudioSamples =
  | {
      /** One channel. */
      readonly samples: Float32Array;
      /** Samples per second: a whole number, 1,000 to 768,000. */
      readonly sampleRate: number;
      /** Samples that were lost before these, as `audioChunks` counts them. It changes no answer. */
      readonly dropped?: number;
    }
  | {
      /** Channels of equal length. A handler takes their mean. */
      readonly channels: readonly Float32Array[];
      readonly sampleRate: number;
    };

/**
 * Sound that a handler takes: samples, or a file that a worker decodes: WAV, and where the browser has WebCodecs MP3,
 * AAC, MP4, Ogg, FLAC and WebM. The page decodes other files before.
 */
export type AudioInput = AudioSamples | Blob;

/** Sound that a page may pass besides: an AudioBuffer, or a URL object, whose file it downloads. */
export type PageAudioInput = AudioBuffer | URL;

/** The lowest and the highest sample rate. Web Audio supports 3,000 to 768,000 in all browsers that we know. */
export const SAMPLE_RATES = { least: 1_000, most: 768_000 } as const;
