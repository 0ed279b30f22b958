/** The keys that every image handler has in `handler:` and in `params`. */
import type { BaseHandlerConfig } from './base-handler.js';

/** The `params` of every image handler. */
export interface VisionParams {
  /**
   * Whether to turn photos upright by their EXIF tag.
   * @default true
   */
  readonly exifOrientation?: boolean;
  /**
   * The color behind transparent pixels: [red, green, blue], each in 0..255.
   * @default [255, 255, 255]
   * @items {"type":"integer","minimum":0,"maximum":255}
   */
  readonly background?: readonly [red: number, green: number, blue: number];
}

/** The keys of `handler:` that only the config of an image handler sets. */
export interface VisionConfig extends BaseHandlerConfig {
  /** The steps that convert pixels to the tensor, in order. Default: the steps of the handler class. */
  readonly imageProcessing?: readonly unknown[];
  /**
   * The maximum number of pixels of an image; a larger image fails with image-too-large. Default 102400000.
   * @integer
   * @minimum 1
   */
  readonly maxImagePixels?: number;
}
