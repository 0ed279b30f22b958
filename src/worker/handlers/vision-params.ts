/** The keys that every image handler has in `handler:` and in `params`. */
import type { ConfigSchema } from '../../shared/schema.js';

/** The `params` of every image handler. */
export interface VisionParams {
  /** Whether the decoder turns photos upright by their EXIF tag. */
  readonly exifOrientation?: boolean;
  /** The color behind transparent pixels: red, green and blue, each in 0..255. */
  readonly background?: readonly [red: number, green: number, blue: number];
}

/** The schema of the keys of every image handler. */
export const VISION_SCHEMA: ConfigSchema = {
  // parseTransforms checks the steps when it reads them, including their order.
  imageProcessing: {
    type: 'array',
    readOnly: true,
    description: 'The steps that convert pixels to the tensor, in order. Default: the steps of the handler class.',
  },
  exifOrientation: {
    type: 'boolean',
    description: 'Whether to turn photos upright by their EXIF tag.',
    default: true,
  },
  background: {
    type: 'array',
    items: { type: 'integer', minimum: 0, maximum: 255 },
    minItems: 3,
    maxItems: 3,
    description: 'The color behind transparent pixels: [red, green, blue], each in 0..255.',
    default: [255, 255, 255],
  },
  maxImagePixels: {
    type: 'integer',
    minimum: 1,
    readOnly: true,
    description: 'The most pixels of an image; a larger image fails with image-too-large. Default 102400000.',
  },
};
