/**
 * Image transforms: data that is compiled for the CPU, with results equal to torchvision's bit for bit.
 *
 * They run alone too, on any 8-bit pixels, in a worker, on a page or under Node.js:
 *
 * ```ts
 * const transforms = compileTransforms(compose(resize(256), centerCrop(224), toTensor(), normalize(mean, std)));
 * const { data, dims, geometry } = await transforms.run({ format: 'RGBX', width, height, stride: width * 4, data: imageData.data });
 * ```
 */
export {
  colorOrder,
  centerCrop,
  compose,
  grayscale,
  layout,
  letterbox,
  letterboxTensor,
  mirror,
  normalize,
  padImage,
  padTensor,
  resize,
  resizeTensor,
  toTensor,
} from './compose.js';
export type {
  ColorOrder,
  FillColor,
  HeightWidth,
  Interpolation,
  TensorLayout,
  LetterboxPosition,
  Rounding,
  ToMultiple,
  TransformStep,
  Transforms,
} from './steps.js';
export { parseTransforms } from './parse.js';
export { compileTransforms } from './compile.js';
export type { ImageRow, CompiledTransforms, RowDims } from './compile.js';
export type { Geometry } from './lower.js';
