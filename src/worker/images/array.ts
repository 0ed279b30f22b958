/**
 * Images that are arrays of pixels.
 */
import type { Rect } from '../../contract/images.js';
import type { TypedArrayInput } from '../../contract/tensors.js';
import { TabServeError } from '../../contract/errors.js';
import { CanvasSource } from './canvas.js';
import type { Allocate, Raster, Source } from './source.js';

const FORMATS = { 1: 'L', 3: 'RGB', 4: 'RGBA' } as const;

/**
 * Opens 8-bit pixels of dims `[height, width, 1 | 3 | 4]`.
 * @param isOwn whether the pixels are nobody else's: those with an alpha channel are then composited where they are
 * @throws `invalid-input` if the dims, the dtype or the length do not fit
 */
export function openArray({ data, dims, dtype = 'uint8' }: TypedArrayInput, isOwn = false): Source {
  const [height = 0, width = 0, channels = 0] = dims;
  const given = `dims [${dims.join(', ')}]`;
  if (dims.length !== 3 || !isSide(height) || !isSide(width) || !isChannels(channels)) {
    throw new TabServeError(
      'invalid-input',
      `An image as an array has dims [height, width, 1 | 3 | 4], each at least 1; got ${given}.`,
    );
  }
  if (!(data instanceof Uint8Array || data instanceof Uint8ClampedArray) || dtype !== 'uint8') {
    throw new TabServeError(
      'invalid-input',
      `An image as an array has 8-bit pixels (Uint8Array or Uint8ClampedArray, dtype uint8); got ${data.constructor.name}, dtype ${dtype}.`,
    );
  }
  const expected = height * width * channels;
  if (data.length !== expected) {
    const detached = data.length === 0 ? ' (has its buffer been transferred?)' : '';
    throw new TabServeError(
      'invalid-input',
      `An image of ${given} has ${expected} bytes; got ${data.length}${detached}.`,
    );
  }
  return new ArraySource(data, width, height, channels, isOwn);
}

function isSide(side: number): boolean {
  return Number.isInteger(side) && side > 0;
}

function isChannels(channels: number): channels is keyof typeof FORMATS {
  return channels in FORMATS;
}

/**
 * Opens an ImageData. Numbers of 16 bits, 0..1 of the pixel format rgba-float16, are rounded to 8 bits; colors of
 * Display P3 become those of sRGB.
 * @throws `invalid-input` if its buffer has been transferred
 */
export function openImageData(image: ImageData): Source {
  const { data: given, width, height, colorSpace } = image;
  if (colorSpace === 'display-p3' && given.length > 0) {
    const canvas = new OffscreenCanvas(width, height);
    canvas.getContext('2d', { willReadFrequently: true })!.putImageData(image, 0, 0);
    return new CanvasSource(canvas, width, height);
  }
  const dims = [height, width, 4];
  if ((given as ArrayBufferView) instanceof Uint8ClampedArray) return openArray({ data: given as never, dims });
  const data = Uint8ClampedArray.from(given as unknown as ArrayLike<number>, (value) => value * 255);
  return openArray({ data, dims }, true);
}

class ArraySource implements Source {
  readonly orientation = 1;

  constructor(
    private readonly data: Uint8Array | Uint8ClampedArray,
    readonly width: number,
    readonly height: number,
    private readonly channels: keyof typeof FORMATS,
    private readonly isOwn: boolean,
  ) {}

  /** Returns pixels that are opaque or nobody else's without a copy. */
  read({ x, y, width, height }: Rect, allocate: Allocate): Raster {
    const { data, channels } = this;
    const format = FORMATS[channels];
    const stride = this.width * channels;
    const start = y * stride + x * channels;
    const row = width * channels;
    if (format !== 'RGBA' || this.isOwn)
      return { format, width, height, stride, data: data.subarray(start, start + (height - 1) * stride + row) };
    const copy = new Uint8Array(allocate(row * height), 0, row * height);
    for (let v = 0; v < height; v++) copy.set(data.subarray(start + v * stride, start + v * stride + row), v * row);
    return { format, width, height, stride: row, data: copy };
  }

  close(): void {}
}
