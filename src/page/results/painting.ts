/** Converts results to pixels for a canvas. Importing this file uses no browser global. */
import { TabServeError } from '../../contract/errors.js';
import type { ImageExplanation } from '../../worker/outputs/explanation.js';
import type { Instance } from '../../worker/handlers/instance-segmenter.js';
import type { DepthMap } from '../../worker/outputs/depth.js';
import type { Picture } from '../../worker/outputs/picture.js';
import type { Segmentation } from '../../worker/outputs/segment.js';

/** Red, green, blue and alpha, in 0..255; the default of alpha is 255. */
export type Color = readonly [red: number, green: number, blue: number, alpha?: number];

export interface PaintClassesOptions {
  /**
   * Colors by class index; a class without a color is transparent.
   * @default vocPalette(256), with class 0 transparent, which is the background by convention
   */
  readonly palette?: readonly Color[];
  /** Opacity of the whole, in 0..1. @default 0.5 */
  readonly alpha?: number;
}

export interface PaintMaskOptions {
  /** @default [0, 0, 0]; of a heat map [255, 60, 0] */
  readonly color?: Color;
  /** Opacity where the mask is 1, or the heat is highest, in 0..1. @default 1; of a heat map 0.75 */
  readonly alpha?: number;
}

/**
 * The colors of PASCAL VOC: the bits of the class index, three by three from the lowest, are the bits of red, green and
 * blue from the highest.
 * @param count at most 256
 * @see http://host.robots.ox.ac.uk/pascal/VOC/voc2012/htmldoc/devkit_doc.html `VOClabelcolormap` of the development kit
 */
export function vocPalette(count: number): Color[] {
  return Array.from({ length: count }, (_, index) => {
    const channel = (offset: number): number => {
      let value = 0;
      for (let bit = 0; bit < 8; bit++) value |= ((index >> (3 * bit + offset)) & 1) << (7 - bit);
      return value;
    };
    return [channel(0), channel(1), channel(2)];
  });
}

/** Returns a picture as an image that shares its pixels. */
export function paintPicture({ data, width, height }: Picture): ImageData {
  return new ImageData(data as Uint8ClampedArray<ArrayBuffer>, width, height);
}

/** Returns a depth map as an image of grays: black where the number is least, white where it is largest. */
export function paintDepth({ width, height, depth, min, max }: DepthMap): ImageData {
  const image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const scale = max > min ? 255 / (max - min) : 0;
  const words = new Uint32Array(Uint8Array.from({ length: 1024 }, (_, at) => (at % 4 === 3 ? 255 : at >> 2)).buffer);
  for (let i = 0; i < pixels.length; i++) pixels[i] = words[Math.trunc((depth[i]! - min) * scale)]!;
  return image;
}

/** Returns a class map as colors, in the map's size. @throws `invalid-input` for another form of result */
export function paintClasses(
  segmentation: Segmentation,
  { palette = defaultPalette(), alpha = 0.5 }: PaintClassesOptions = {},
): ImageData {
  if (segmentation.result !== 'classes') throw wrongKind('paintClasses', 'classes', segmentation);
  const { width, height, classes } = segmentation;
  const colors = new Uint8ClampedArray(65_536 * 4);
  palette.forEach(([red, green, blue, opacity = 255], index) =>
    colors.set([red, green, blue, opacity * alpha], index * 4),
  );
  const image = new ImageData(width, height);
  // One 32-bit word for each pixel; it is written and read in the same byte order.
  const [words, pixels] = [new Uint32Array(colors.buffer), new Uint32Array(image.data.buffer)];
  for (let i = 0; i < pixels.length; i++) pixels[i] = words[classes[i]!]!;
  return image;
}

/** Returns masks of instances as colors, in the photo's size: one color for each, and those before lie over others. */
export function paintInstances(
  instances: readonly Pick<Instance, 'mask'>[],
  { palette = defaultPalette(), alpha = 0.5 }: PaintClassesOptions = {},
): ImageData {
  const { width = 1, height = 1 } = instances[0]?.mask ?? {};
  const image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  for (const [index, { mask }] of [...instances.entries()].toReversed()) {
    const [red, green, blue, opacity = 255] = palette[1 + (index % (palette.length - 1))]!;
    const [word] = new Uint32Array(Uint8ClampedArray.of(red, green, blue, opacity * alpha).buffer);
    for (let at = 0; at < mask.runs.length; at += 2)
      pixels.fill(word!, mask.runs[at]!, mask.runs[at]! + mask.runs[at + 1]!);
  }
  return image;
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
 * above 0; opaque at `high`. What speaks against the class, and what the model did not see, is transparent.
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

function defaultPalette(): readonly Color[] {
  const [, ...others] = vocPalette(256);
  return [[0, 0, 0, 0], ...others];
}

function wrongKind(name: string, wanted: string, { result }: Segmentation): TabServeError {
  return new TabServeError(
    'invalid-input',
    `${name} paints a result of "${wanted}", but this is one of "${result}"; \`handler.result\` of the config, or \`params\`, says which it is.`,
  );
}
