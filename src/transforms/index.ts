/** Image transforms: declarative, compiled for the CPU, equal to torchvision's bit for bit. */
export {
  colorOrder,
  centerCrop,
  compose,
  grayscale,
  layout,
  letterbox,
  normalize,
  pad,
  resize,
  toTensor,
} from './compose.js';
export type { ColorOrder, Fill, HeightWidth, Interpolation, Layout, Position, Step, Transforms } from './steps.js';
export { parseTransforms } from './parse.js';
export { compile } from './plan.js';
export type { ImageRow, Plan, RowDims } from './plan.js';
export type { Geometry } from './lower.js';
