/**
 * Decodes every kind of image to upright, opaque 8-bit pixels.
 */
import type { DecodedImage, DecodeOptions, ImageInput, Pixels, Rect, Strips } from '../../contract/images.js';
import type { TypedArrayInput } from '../../contract/tensors.js';
import { TabServeError } from '../../contract/errors.js';
import { checkKeys } from '../../shared/check-keys.js';
import { isA } from '../../shared/is-a.js';
import { isPlainObject } from '../../shared/is-plain-object.js';
import { openArray, openImageData } from './array.js';
import { giveBack, takeBuffer } from '../tensors/buffers.js';
import { BitmapSource, CanvasSource } from './canvas.js';
import { openEncoded } from './encoded.js';
import { flatten } from './alpha.js';
import { frameSource, orientationOf } from './frame.js';
import { MAX_IMAGE_PIXELS } from '../../contract/limits.js';
import { checkSize } from './facts.js';
import { swapsSides, toCoded, upright } from './orientation.js';
import { videoConverter } from './planar/video-color.js';
import type { Raster, Source } from './source.js';

type Color = readonly [number, number, number];

/**
 * Opens an image. Its pixels, decoded, composited and turned upright, equal those of Pillow 12: exactly for JPEG, PNG,
 * GIF, BMP and WebP, within 4 of 255 for AVIF. This is measured in Chromium 156. In Firefox 153, files with
 * transparency or 16 bits a channel are within 1, and AVIF within 9. A browser without ImageDecoder reads files through
 * a canvas; there, lossless files are within 1. Color profiles are ignored, as in Pillow. A VideoFrame of I420 or NV12
 * in BT.601 or BT.709 is converted as Chromium on x86-64 converts it; the browser itself converts every other one in
 * YUV.
 *
 * The source stays the caller's: it is never closed, and must not be changed before the image is closed.
 * @param source a file (JPEG, PNG, WebP, AVIF, BMP, the first frame of a GIF, an icon; HEIC where the browser decodes
 *   it), recognized by its bytes and not by its type; a bitmap, frame or canvas; or 8-bit pixels of dims
 *   `[height, width, 1 | 3 | 4]` (gray, RGB, or RGBA whose alpha is not premultiplied)
 * @throws `image-decode` if a file is empty, damaged, truncated or no image; `image-too-large`;
 *   `invalid-input` if `source` is none of the above, has no pixels, or has been closed or transferred
 */
export async function decodeImage(source: ImageInput, options: DecodeOptions = {}): Promise<DecodedImage> {
  const { exifOrientation = true, background = [255, 255, 255], maxPixels = MAX_IMAGE_PIXELS } = options;
  const opened = await open(source, exifOrientation, maxPixels);
  try {
    checkSize(opened.width, opened.height, maxPixels);
  } catch (error) {
    opened.close();
    throw error;
  }
  return new Image(opened, background, isA('ImageBitmap', source) ? source : undefined);
}

async function open(source: ImageInput, exifOrientation: boolean, maxPixels: number): Promise<Source> {
  if (isA('Blob', source)) return openEncoded(source, { exifOrientation, maxPixels });
  if (isA('ImageData', source)) return openImageData(source);
  if (isA('VideoFrame', source)) {
    checkSides('VideoFrame', source.codedWidth, source.codedHeight);
    return frameSource(source, {
      orientation: exifOrientation ? orientationOf(source) : 1,
      convert: videoConverter(source),
      owned: false,
    });
  }
  if (isA('ImageBitmap', source)) {
    checkSides('ImageBitmap', source.width, source.height);
    return new BitmapSource(source);
  }
  if (isA('OffscreenCanvas', source)) {
    const { width, height } = source;
    checkSides('OffscreenCanvas', width, height);
    return new CanvasSource(source, width, height);
  }
  if (isArrayInput(source)) {
    if (isPlainObject(source)) checkKeys(source, ['data', 'dims', 'dtype']);
    return openArray(source);
  }
  throw new TabServeError(
    'invalid-input',
    `Expected an image: a Blob or File, ImageBitmap, ImageData, VideoFrame, OffscreenCanvas, or { data, dims } with 8-bit pixels; got ${nameOf(source)}.${hint(source)}`,
  );
}

function isArrayInput(value: unknown): value is TypedArrayInput {
  return (
    typeof value === 'object' &&
    value !== null &&
    'data' in value &&
    ArrayBuffer.isView(value.data) &&
    'dims' in value &&
    Array.isArray(value.dims)
  );
}

function checkSides(name: string, width: number, height: number): void {
  if (width === 0 || height === 0)
    throw new TabServeError(
      'invalid-input',
      `The ${name} is ${width} × ${height}. It has no pixels, or has been closed or transferred.`,
    );
}

function hint(value: unknown): string {
  if (typeof value === 'string')
    return ' For an image on the web, pass new URL(…); for a file on disk, new Blob([bytes]).';
  if (Array.isArray(value)) return ' For several inputs, call client.handle([…]).';
  const isBytes = ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
  return isBytes ? ' For the bytes of a file, pass new Blob([bytes]).' : '';
}

function nameOf(value: unknown): string {
  if (value === null || typeof value !== 'object')
    return value === null || value === undefined ? String(value) : `a ${typeof value}`;
  return `a value of type ${value.constructor?.name ?? 'Object'}`;
}

class Image implements DecodedImage {
  readonly width: number;
  readonly height: number;
  readonly bitmap: ImageBitmap | undefined;
  readonly #source: Source;
  readonly #background: Color;
  #buffers: ArrayBuffer[] = [];
  #reading = 0;
  #closed = false;

  constructor(source: Source, background: Color, bitmap: ImageBitmap | undefined) {
    const { width, height, orientation } = source;
    [this.width, this.height] = swapsSides(orientation) ? [height, width] : [width, height];
    this.bitmap = bitmap;
    this.#source = source;
    this.#background = background;
  }

  /**
   * @throws `disposed` after `close`; `invalid-input` if `rect` is empty or not inside, or the caller closed the source
   */
  async read(rect: Rect = { x: 0, y: 0, width: this.width, height: this.height }): Promise<Pixels> {
    const pixels = await this.readStrips(rect);
    return 'strip' in pixels ? upright(pixels, 1, this.#allocate) : pixels;
  }

  /** @throws what `read` throws */
  async readStrips(rect: Rect): Promise<Pixels | Strips> {
    if (this.#closed) throw new TabServeError('disposed', 'The image was read after it was closed.');
    this.#check(rect);
    this.#release();
    this.#reading++;
    try {
      const { width, height, orientation } = this.#source;
      const coded = await this.#source.read(toCoded(rect, orientation, width, height), this.#allocate);
      if ('strip' in coded && orientation === 1) return coded;
      return upright('strip' in coded ? coded : opaque(coded, this.#background), orientation, this.#allocate);
    } finally {
      this.#reading--;
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#release();
    this.#source.close();
  }

  readonly #allocate = (bytes: number): ArrayBuffer => {
    const buffer = takeBuffer(bytes);
    this.#buffers.push(buffer);
    return buffer;
  };

  /** Gives back the buffers, unless a read is still writing to one: then it must not be given to another image. */
  #release(): void {
    if (this.#reading === 0) this.#buffers.forEach(giveBack);
    this.#buffers = [];
  }

  #check({ x, y, width, height }: Rect): void {
    const inside = x >= 0 && y >= 0 && width > 0 && height > 0 && x + width <= this.width && y + height <= this.height;
    if (inside && [x, y, width, height].every(Number.isInteger)) return;
    throw new TabServeError(
      'invalid-input',
      `The rectangle of ${width} × ${height} at (${x}, ${y}) is not inside the image of ${this.width} × ${this.height}: it needs whole numbers, and at least one pixel.`,
    );
  }
}

/** Composites a raster over the background, in place if it has alpha. */
function opaque({ format, premultiplied, ...rest }: Raster, background: Color): Pixels {
  if (format !== 'RGBA' && format !== 'BGRA') return { format, ...rest };
  const [r, g, b] = background;
  flatten(rest.data, format === 'RGBA' ? background : [b, g, r], premultiplied);
  return { format: format === 'RGBA' ? 'RGBX' : 'BGRX', ...rest };
}
