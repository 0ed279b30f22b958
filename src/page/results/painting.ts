/** Converts results to pixels for a canvas, in many colors. Importing this file uses no browser global. */
import type { Instance } from '../../worker/tasks/instances/instance-segmenter.js';
import type { DepthMap } from '../../worker/tasks/segmentation/depth.js';
import type { Picture } from '../../worker/outputs/picture.js';
import type { Segmentation } from '../../worker/tasks/segmentation/segment.js';
import { wrongKind, type Color } from './opacity.js';

export interface PaintClassesOptions {
  /**
   * Colors by class index; a class without a color is transparent.
   * @default vocPalette(256), with class 0 transparent, which is the background by convention
   */
  readonly palette?: readonly Color[];
  /** Opacity of the whole, in 0..1. @default 0.5 */
  readonly alpha?: number;
}

/**
 * Returns the colors of PASCAL VOC: the bits of the class index, three by three from the lowest, are the bits of red,
 * green and blue from the highest.
 * @param count at most 256
 * @see http://host.robots.ox.ac.uk/pascal/VOC/voc2012/htmldoc/devkit_doc.html `VOClabelcolormap` of the development
 *   kit
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

/** Returns masks of instances as colors, in the photo's size: one color for each; earlier ones cover later ones. */
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

function defaultPalette(): readonly Color[] {
  const [, ...others] = vocPalette(256);
  return [[0, 0, 0, 0], ...others];
}
