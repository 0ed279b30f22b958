/** Converts results to pixels for a canvas, in the opacities of one color. Importing this file uses no browser global. */
import { TabServeError } from '../../contract/errors.js';
import type { ImageExplanation } from '../../worker/outputs/explanation.js';
import type { Segmentation } from '../../worker/tasks/segmentation/segment.js';

/** Red, green, blue and alpha, in 0..255; the default of alpha is 255. */
export type Color = readonly [red: number, green: number, blue: number, alpha?: number];

export interface PaintMaskOptions {
  /** @default [0, 0, 0]; of a heat map [255, 60, 0] */
  readonly color?: Color;
  /** Opacity where the mask is 1, or the heat is highest, in 0..1. @default 1; of a heat map 0.75 */
  readonly alpha?: number;
}

/**
 * Returns a mask as the opacity of one color, in the mask's size. Drawn over a photo, it tints the foreground; drawn
 * with `destination-in`, it cuts the foreground out. @throws `invalid-input` for another form of result
 */
export function paintMask(
  segmentation: Segmentation,
  { color: [red, green, blue, opacity = 255] = [0, 0, 0], alpha = 1 }: PaintMaskOptions = {},
): ImageData {
  if (segmentation.result !== 'mask') throw wrongKind('paintMask', 'mask', segmentation);
  const { width, height, mask } = segmentation;
  const image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const words = shadesOf([red, green, blue, opacity * alpha]);
  for (let i = 0; i < pixels.length; i++) pixels[i] = words[Math.round(mask[i]! * 255)]!;
  return image;
}

/**
 * Returns a heat map as the opacity of one color, in the image's size: transparent at 0, and at `low` where that is
 * above 0; opaque at `high`. Pixels that speak against the class, and those that the model did not see, are
 * transparent.
 */
export function paintHeatMap(
  { width, height, heat, low, high }: ImageExplanation,
  { color: [red, green, blue, opacity = 255] = [255, 60, 0], alpha = 0.75 }: PaintMaskOptions = {},
): ImageData {
  const floor = Math.max(0, low);
  const scale = high > floor ? 255 / (high - floor) : 0;
  const words = shadesOf([red, green, blue, opacity * alpha]);
  const image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < pixels.length; i++) pixels[i] = words[Math.round(Math.max(0, heat[i]! - floor) * scale)]!;
  return image;
}

/** Returns a color in each of 256 opacities, each as the word of a pixel. */
function shadesOf([red, green, blue, alpha]: readonly [number, number, number, number]): Uint32Array {
  const shades = new Uint8ClampedArray(256 * 4);
  for (let shade = 0; shade < 256; shade++) shades.set([red, green, blue, (shade / 255) * alpha], shade * 4);
  return new Uint32Array(shades.buffer);
}

/** Returns the error of a segmentation in another form than a function paints. */
export function wrongKind(name: string, wanted: string, { result }: Segmentation): TabServeError {
  return new TabServeError(
    'invalid-input',
    `${name} paints a result of "${wanted}", but this is one of "${result}"; \`handler.result\` of the config, or \`params\`, says which it is.`,
  );
}
