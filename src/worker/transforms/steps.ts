/**
 * Image transforms as data, under torchvision's names. A step is an object with one key, which JSON and YAML can
 * represent, e.g. `{ resize: { size: 256, interpolation: 'bilinear' } }`. The functions of `compose.ts` return such
 * objects; `parseTransforms` reads them from a config.
 */

export const INTERPOLATIONS = ['nearest', 'box', 'bilinear', 'hamming', 'bicubic', 'lanczos'] as const;
/** How pixels are interpolated when an image is resized. */
export type Interpolation = (typeof INTERPOLATIONS)[number];

export const COLOR_ORDERS = ['RGB', 'BGR'] as const;
/** The order of the channels in a tensor. */
export type ColorOrder = (typeof COLOR_ORDERS)[number];

export const LAYOUTS = ['NCHW', 'NHWC'] as const;
/** The order of a tensor’s axes: batch, channels, height and width. */
export type TensorLayout = (typeof LAYOUTS)[number];

/**
 * Where a letterbox puts the image: in the center, or at the top left, with all padding on the right and at the bottom.
 */
export const POSITIONS = ['center', 'top-left'] as const;
/** Where `letterbox` puts the image. */
export type LetterboxPosition = (typeof POSITIONS)[number];

export const ROUNDINGS = ['torchvision', 'transformers'] as const;
/** Whose rules round a size or a position to pixels: torchvision's, or those of Hugging Face's transformers. */
export type Rounding = (typeof ROUNDINGS)[number];

export const RESIZED_SIDES = ['shorter', 'longer'] as const;
/** Which side of the image gets the size of a resize to one number. */
export type ResizedSide = (typeof RESIZED_SIDES)[number];

export const TO_MULTIPLES = ['down', 'nearest', 'up'] as const;
/** How a side is rounded to a multiple; `nearest` takes the even one of two that are equally near. */
export type ToMultiple = (typeof TO_MULTIPLES)[number];

/** Height and width in pixels, in torchvision's order. */
export type HeightWidth = readonly [height: number, width: number];

/** A gray level, or red, green and blue: integers in 0..255. */
export type FillColor = number | readonly [red: number, green: number, blue: number];

/** The options of each step, with defaults filled in. */
export interface StepOptions {
  readonly resize: {
    readonly size: number | HeightWidth | 'image';
    readonly interpolation: Interpolation;
    readonly side?: ResizedSide;
    readonly maxSize?: number;
    readonly multipleOf?: number;
    readonly toMultiple?: ToMultiple;
    readonly keepAspectRatio?: boolean;
    readonly thumbnail?: boolean;
    readonly rounding?: Rounding;
  };
  readonly centerCrop: { readonly size: HeightWidth; readonly rounding?: Rounding };
  readonly pad: {
    readonly padding: readonly [left: number, top: number, right: number, bottom: number];
    readonly fill: FillColor;
  };
  readonly mirror: { readonly multipleOf?: number; readonly margin?: number };
  readonly letterbox: {
    readonly size: HeightWidth;
    readonly fill: FillColor;
    readonly interpolation: Interpolation;
    readonly position: LetterboxPosition;
  };
  readonly grayscale: { readonly channels: 1 | 3 };
  readonly colorOrder: ColorOrder;
  readonly toTensor: { readonly scale: number; readonly rounding?: Rounding };
  readonly normalize: { readonly mean: readonly number[]; readonly std: readonly number[] };
  readonly resizeTensor: {
    readonly size: HeightWidth;
    readonly multipleOf?: number;
    readonly toMultiple?: ToMultiple;
    readonly keepAspectRatio?: boolean;
    readonly antialias?: boolean;
    readonly alignCorners?: boolean;
  };
  readonly padTensor: {
    readonly size?: HeightWidth;
    readonly multipleOf?: number;
    readonly position: LetterboxPosition;
  };
  readonly letterboxTensor: { readonly side: number; readonly fill: number };
  readonly layout: TensorLayout;
}
export type StepName = keyof StepOptions;

/** One step: its name and its options. */
export type TransformStep = { [Name in StepName]: { readonly [Key in Name]: StepOptions[Name] } }[StepName];

/**
 * Steps in the order in which they are applied: pixel steps, then `toTensor`, then `normalize`, `resizeTensor`,
 * `padTensor`, `letterboxTensor` and `layout`.
 */
export type Transforms = readonly TransformStep[];
