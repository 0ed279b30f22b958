/**
 * The operations on images of one size. Each computes only the window of its result that the operations after it need.
 */
import { TabServeError } from '../../contract/errors.js';
import type { Rect } from '../../contract/images.js';
import { MAX_WINDOW_PIXELS } from '../../contract/limits.js';
import { lower, type Geometry, type Primitive } from './lower.js';
import { mirroredIndices } from '../tensors/mirror.js';
import type { Transforms } from './steps.js';
import { computeTaps, nearestIndices, tapsSpan, type Taps } from './taps.js';

/** The taps of a resize. A direction in which the size stays the same has none, and its pass is skipped. */
export interface Scaling {
  readonly horizontal: Taps | undefined;
  readonly vertical: Taps | undefined;
}

/** A primitive that is ready to run. `window` is the part of its result that is needed. */
export type Operation = { readonly window: Rect } & (
  | { readonly kind: 'resize'; readonly scaling: Scaling }
  /** For each column and row of the window: the input's. A mirrored image is one, too. */
  | { readonly kind: 'nearest'; readonly columns: Int32Array; readonly rows: Int32Array }
  | (Primitive & { readonly kind: 'place' })
  | { readonly kind: 'gray' }
);

export interface Program {
  /** The part of the image to read; undefined if only padding shows in the result. */
  readonly source: Rect | undefined;
  readonly operations: readonly Operation[];
  readonly width: number;
  readonly height: number;
  readonly geometry: Geometry;
}

export function createProgram(transforms: Transforms, imageWidth: number, imageHeight: number): Program {
  const { primitives, width, height, geometry } = lower(transforms, imageWidth, imageHeight);
  const operations: Operation[] = [];
  let window: Rect | undefined = { x: 0, y: 0, width, height };
  for (let index = primitives.length - 1; index >= 0 && window; index--) {
    const input = primitives[index - 1] ?? { width: imageWidth, height: imageHeight };
    const operation = toOperation(primitives[index]!, input.width, input.height, window);
    operations.unshift(operation);
    window = inputWindow(operation, input.width, input.height);
    if (window) checkWindow(window);
  }
  return { source: window, operations, width, height, geometry };
}

/** @throws `invalid-input` if this many pixels of the image, or of what a step makes of it, are needed at once */
function checkWindow({ width, height }: Rect): void {
  if (width * height > MAX_WINDOW_PIXELS)
    throw new TabServeError(
      'invalid-input',
      `The transforms need ${width} × ${height} pixels between two steps, and the limit is ${MAX_WINDOW_PIXELS} pixels. Use a smaller image, or smaller sizes in imageProcessing.`,
    );
}

function toOperation(primitive: Primitive, width: number, height: number, window: Rect): Operation {
  if (primitive.kind === 'gray') return { kind: 'gray', window };
  if (primitive.kind === 'place') return { ...primitive, window };
  if (primitive.kind === 'mirror') {
    const { x, y, isEdgeTwice } = primitive;
    return {
      kind: 'nearest',
      window,
      columns: mirroredIndices(width, window.x - x, window.width, isEdgeTwice),
      rows: mirroredIndices(height, window.y - y, window.height, isEdgeTwice),
    };
  }
  const { interpolation } = primitive;
  if (interpolation === 'nearest')
    return {
      kind: 'nearest',
      window,
      columns: nearestIndices(width, primitive.width, window.x, window.width),
      rows: nearestIndices(height, primitive.height, window.y, window.height),
    };
  const taps = (input: number, output: number, first: number, length: number): Taps | undefined =>
    input === output ? undefined : computeTaps(input, output, interpolation, first, length);
  return {
    kind: 'resize',
    window,
    scaling: {
      horizontal: taps(width, primitive.width, window.x, window.width),
      vertical: taps(height, primitive.height, window.y, window.height),
    },
  };
}

/**
 * Returns the part of a `width` × `height` input that the operation needs for its window; undefined if it needs
 * nothing.
 */
function inputWindow(operation: Operation, width: number, height: number): Rect | undefined {
  const { window } = operation;
  switch (operation.kind) {
    case 'gray':
      return window;
    case 'place': {
      const x = Math.max(0, window.x - operation.x);
      const y = Math.max(0, window.y - operation.y);
      const right = Math.min(width, window.x + window.width - operation.x);
      const bottom = Math.min(height, window.y + window.height - operation.y);
      return x < right && y < bottom ? { x, y, width: right - x, height: bottom - y } : undefined;
    }
    case 'nearest':
      return rect(spanOf(operation.columns), spanOf(operation.rows));
    case 'resize':
      return scaledWindow(operation.scaling, window);
  }
}

/** Returns the part of a resize's input that `window` of its result depends on. */
export function scaledWindow({ horizontal, vertical }: Scaling, { x, y, width, height }: Rect): Rect {
  return rect(
    horizontal ? tapsSpan(horizontal, x, width) : [x, x + width],
    vertical ? tapsSpan(vertical, y, height) : [y, y + height],
  );
}

function spanOf(indices: Int32Array): readonly [start: number, end: number] {
  let [start, end] = [indices[0]!, indices[0]! + 1];
  for (const index of indices) [start, end] = [Math.min(start, index), Math.max(end, index + 1)];
  return [start, end];
}

function rect([left, right]: readonly [number, number], [top, bottom]: readonly [number, number]): Rect {
  return { x: left, y: top, width: right - left, height: bottom - top };
}
