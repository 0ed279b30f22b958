/** Image transforms: declarative, compiled for the CPU, equal to torchvision's bit for bit. */
export {
  colorOrder,
  centerCrop,
  compose,
  grayscale,
  layout,
  letterbox,
  normalize,
  padImage,
  resize,
  toTensor,
} from './compose.js';
export type {
  ColorOrder,
  FillColor,
  HeightWidth,
  Interpolation,
  TensorLayout,
  LetterboxPosition,
  TransformStep,
  Transforms,
} from './steps.js';
export { parseTransforms } from './parse.js';
export { compileTransforms } from './compile.js';
export type { ImageRow, CompiledTransforms, RowDims } from './compile.js';
export type { Geometry } from './lower.js';
