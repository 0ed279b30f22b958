/**
 * The steps on a tensor's numbers. Most transforms have none: theirs end with pixels that are looked up in a table. These
 * compute on float32, in JavaScript.
 */
import { TabServeError } from '../../contract/errors.js';
import { constrainedSize, type Geometry } from './lower.js';
import { letterboxTensor } from './letterbox-tensor.js';
import { computeTaps, PRECISION_BITS } from './taps.js';
import type { HeightWidth, StepName, StepOptions, Transforms } from './steps.js';

/** A tensor `[channels, height, width]`, and how its points relate to those of the image. */
export interface Planes {
  readonly data: Float32Array;
  readonly width: number;
  readonly height: number;
}

/** Transforms in two parts. */
export interface Parts {
  /** The steps until the tensor is made, and those of normalizing that a table of bytes can hold. */
  readonly head: Transforms;
  /** The steps after them; empty if `head` is all. Its order is that of the steps, but `layout` is the last one. */
  readonly tail: Transforms;
}

const TENSOR_STEPS: readonly StepName[] = ['resizeTensor', 'padTensor', 'letterboxTensor'];

/** Divides transforms before the first step that needs a tensor. */
export function divide(transforms: Transforms): Parts {
  const at = transforms.findIndex((step) => TENSOR_STEPS.some((name) => name in step));
  if (at < 0) return { head: transforms, tail: [] };
  const isLayout = (step: Transforms[number]): boolean => 'layout' in step;
  return {
    head: transforms.slice(0, at).filter((step) => !isLayout(step)),
    tail: [...transforms.slice(at).filter((step) => !isLayout(step)), ...transforms.filter(isLayout)],
  };
}

/** Returns what a tail makes of a tensor's size, and of where the image lies in it. */
export function tailSize(
  tail: Transforms,
  width: number,
  height: number,
  geometry: Geometry,
): { readonly width: number; readonly height: number; readonly geometry: Geometry } {
  let { scaleX, scaleY, offsetX, offsetY } = geometry;
  for (const step of tail) {
    if ('resizeTensor' in step) {
      const [newHeight, newWidth] = resizedTo(step.resizeTensor, width, height);
      [scaleX, offsetX] = [(scaleX * newWidth) / width, (offsetX * newWidth) / width];
      [scaleY, offsetY] = [(scaleY * newHeight) / height, (offsetY * newHeight) / height];
      [width, height] = [newWidth, newHeight];
    } else if ('padTensor' in step) {
      const { left, top, ...size } = paddedTo(step.padTensor, width, height);
      [offsetX, offsetY] = [offsetX + left, offsetY + top];
      ({ width, height } = size);
    } else if ('letterboxTensor' in step) {
      const { side } = step.letterboxTensor;
      const scale = side / Math.max(width, height);
      [scaleX, scaleY, offsetX, offsetY] = [scaleX * scale, scaleY * scale, offsetX * scale, offsetY * scale];
      width = height = side;
    }
  }
  return { width, height, geometry: { scaleX, scaleY, offsetX, offsetY } };
}

/** Runs a tail on a tensor `[channels, height, width]`. @returns the numbers, in the tail's layout */
export function runTail(tail: Transforms, input: Planes, channels: number): Float32Array {
  let { data, width, height } = input;
  for (const step of tail) {
    if ('normalize' in step) data = normalize(data, step.normalize, width * height);
    else if ('resizeTensor' in step) {
      const [newHeight, newWidth] = resizedTo(step.resizeTensor, width, height);
      const { antialias, alignCorners = true } = step.resizeTensor;
      const resized = antialias ? antialiased : alignCorners ? aligned : centered;
      data = resized({ data, width, height }, newWidth, newHeight, channels);
      [width, height] = [newWidth, newHeight];
    } else if ('padTensor' in step) {
      const padded = paddedTo(step.padTensor, width, height);
      const out = new Float32Array(channels * padded.width * padded.height);
      for (let row = 0; row < channels * height; row++) {
        const target = (Math.floor(row / height) * padded.height + padded.top + (row % height)) * padded.width;
        out.set(data.subarray(row * width, (row + 1) * width), target + padded.left);
      }
      data = out;
      ({ width, height } = padded);
    } else if ('letterboxTensor' in step) {
      data = letterboxTensor({ data, width, height }, step.letterboxTensor, channels);
      width = height = step.letterboxTensor.side;
    } else if ('layout' in step && step.layout === 'NHWC') data = channelsLast(data, channels);
  }
  return data;
}

function normalize(data: Float32Array, { mean, std }: StepOptions['normalize'], pixels: number): Float32Array {
  return data.map((value, at) => {
    const channel = Math.floor(at / pixels);
    return Math.fround(value - Math.fround(mean[channel] ?? mean[0]!)) / Math.fround(std[channel] ?? std[0]!);
  });
}

function channelsLast(data: Float32Array, channels: number): Float32Array {
  const pixels = data.length / channels;
  return data.map((_, at) => data[(at % channels) * pixels + Math.floor(at / channels)]!);
}

function resizedTo(options: StepOptions['resizeTensor'], width: number, height: number): HeightWidth {
  const size = constrainedSize(options.size, options, width, height);
  if (size.every((side) => side > 0)) return size;
  throw new TabServeError(
    'invalid-input',
    `A tensor of ${width} × ${height} pixels would be resized to ${size[1]} × ${size[0]}, which leaves no pixel. Use a less narrow image.`,
  );
}

function paddedTo(
  { size, multipleOf = 1, position }: StepOptions['padTensor'],
  width: number,
  height: number,
): Readonly<Record<'left' | 'top' | 'width' | 'height', number>> {
  const up = (side: number): number => Math.ceil(side / multipleOf) * multipleOf;
  const [newHeight, newWidth] = size ?? [up(height), up(width)];
  if (newHeight < height || newWidth < width)
    throw new TabServeError(
      'invalid-input',
      `A tensor of ${width} × ${height} pixels cannot be padded to ${newWidth} × ${newHeight}. Pass a smaller image, or set a larger padTensor in imageProcessing.`,
    );
  const before = (padding: number): number => (position === 'center' ? Math.floor(padding / 2) : 0);
  return { left: before(newWidth - width), top: before(newHeight - height), width: newWidth, height: newHeight };
}

type Resize = (planes: Planes, newWidth: number, newHeight: number, channels: number) => Float32Array;
/** Returns where the output at this place lies among the inputs along one axis. */
type Center = (at: number, size: number, newSize: number) => number;

/** Interpolates bilinearly, so that the centers of the corners stay: torch's `align_corners`, in float32. */
const aligned = interpolated((at, size, newSize) =>
  Math.fround((newSize > 1 ? Math.fround((size - 1) / (newSize - 1)) : 0) * at),
);

/** Interpolates bilinearly, so that the edges stay: torch without `align_corners`, in float32. */
const centered = interpolated((at, size, newSize) =>
  Math.max(0, Math.fround(Math.fround(Math.fround(size / newSize) * (at + 0.5)) - 0.5)),
);

function interpolated(center: Center): Resize {
  return (planes, newWidth, newHeight, channels) =>
    interpolate(planes, lines(center, planes.width, newWidth), lines(center, planes.height, newHeight), channels);
}

function interpolate({ data, width, height }: Planes, columns: Lines, rows: Lines, channels: number): Float32Array {
  const out = new Float32Array(channels * columns.length * rows.length);
  let target = 0;
  for (let channel = 0; channel < channels; channel++)
    for (const row of rows) {
      const above = (channel * height + row.from) * width;
      const below = (channel * height + row.to) * width;
      for (const { from, to, weight, rest } of columns) {
        const top = Math.fround(data[above + from]! * rest) + Math.fround(data[above + to]! * weight);
        const bottom = Math.fround(data[below + from]! * rest) + Math.fround(data[below + to]! * weight);
        out[target++] = Math.fround(Math.fround(top) * row.rest) + Math.fround(Math.fround(bottom) * row.weight);
      }
    }
  return out;
}

/** Interpolates bilinearly with Pillow's taps, in float32: torch's `antialias`. */
function antialiased(planes: Planes, newWidth: number, newHeight: number, channels: number): Float32Array {
  const { data, width, height } = planes;
  const across = resizedLines(data, channels * height, width, 1, newWidth);
  return resizedLines(across, channels, height, newWidth, newHeight);
}

/** Resizes the middle axis of `[blocks, size, step]`. */
function resizedLines(data: Float32Array, blocks: number, size: number, step: number, newSize: number): Float32Array {
  if (size === newSize) return data;
  const { starts, counts, weights, stride } = computeTaps(size, newSize, 'bilinear', 0, newSize);
  const out = new Float32Array(blocks * newSize * step);
  let target = 0;
  for (let block = 0; block < blocks; block++)
    for (let line = 0; line < newSize; line++)
      for (let at = 0; at < step; at++) {
        let from = (block * size + starts[line]!) * step + at;
        let sum = 0;
        for (let tap = 0; tap < counts[line]!; tap++, from += step) sum += data[from]! * weights[line * stride + tap]!;
        out[target++] = sum / 2 ** PRECISION_BITS;
      }
  return out;
}

type Lines = ReturnType<typeof lines>;

/** Returns the two inputs of each output along one axis, with their weights. */
function lines(center: Center, size: number, newSize: number) {
  return Array.from({ length: newSize }, (_, at) => {
    const place = center(at, size, newSize);
    const from = Math.min(Math.trunc(place), size - 1);
    const weight = Math.min(1, Math.fround(place - from));
    return { from, to: Math.min(from + 1, size - 1), weight, rest: Math.fround(1 - weight) };
  });
}
