/**
 * Bitmaps, canvases and frames, read through a 2D canvas.
 *
 * A canvas stores premultiplied colors, so a color with a low alpha loses precision. After compositing it is within 1
 * of the exact value.
 */
import type { Rect } from '../../contract/images.js';
import { TabServeError } from '../../contract/errors.js';
import type { Size } from './facts.js';
import type { Orientation } from './orientation.js';
import type { Allocate, Raster, Source } from './source.js';

export class CanvasSource implements Source {
  readonly orientation: Orientation;
  readonly #dispose: (() => void) | undefined;

  /** @param options.dispose closes `image`; undefined if it is the caller's */
  constructor(
    private readonly image: ImageBitmap | OffscreenCanvas | VideoFrame,
    readonly width: number,
    readonly height: number,
    {
      orientation = 1,
      dispose,
    }: { readonly orientation?: Orientation; readonly dispose?: (() => void) | undefined } = {},
  ) {
    this.orientation = orientation;
    this.#dispose = dispose;
  }

  read(rect: Rect): Raster {
    return draw(this.image, this, rect);
  }

  close(): void {
    this.#dispose?.();
  }
}

/**
 * A bitmap. One in the processor's memory without transparency is copied as a frame, in a tenth of the canvas's time. A
 * frame does not say whether its colors are multiplied by their alpha, so any other bitmap is drawn.
 */
export class BitmapSource implements Source {
  readonly orientation = 1;
  readonly width: number;
  readonly height: number;

  constructor(private readonly bitmap: ImageBitmap) {
    this.width = bitmap.width;
    this.height = bitmap.height;
  }

  async read(rect: Rect, allocate: Allocate): Promise<Raster> {
    return (await copyOpaque(this.bitmap, rect, allocate)) ?? draw(this.bitmap, this, rect);
  }

  close(): void {}
}

function draw(
  image: ImageBitmap | OffscreenCanvas | VideoFrame,
  { width: fullWidth, height: fullHeight }: Size,
  { x, y, width, height }: Rect,
): Raster {
  try {
    const context = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true })!;
    context.drawImage(image, -x, -y, fullWidth, fullHeight);
    return { format: 'RGBA', width, height, stride: width * 4, data: context.getImageData(0, 0, width, height).data };
  } catch (cause) {
    throw unreadable(image, cause);
  }
}

/**
 * Returns undefined if the bitmap has transparency, is not sRGB of 8 bits in the processor's memory, or is turned: the
 * bitmap of an `<img>` may be the picture of the file and how it is to be turned.
 */
async function copyOpaque(bitmap: ImageBitmap, rect: Rect, allocate: Allocate): Promise<Raster | undefined> {
  // Without these, nothing says whether the bitmap is turned. And WebKit (2.50), which lacks them, decodes every later
  // file of the worker to black once a frame was made of a bitmap.
  if (typeof VideoFrame === 'undefined' || !('rotation' in VideoFrame.prototype) || bitmap.width === 0)
    return undefined;
  const frame = new VideoFrame(bitmap, { timestamp: 0 });
  try {
    const { rotation, flip } = frame as { rotation?: number; flip?: boolean };
    if (rotation !== 0 || flip !== false || !frame.format?.startsWith('BGR') || !isSrgb(frame)) return undefined;
    const size = frame.allocationSize({ rect });
    const buffer = allocate(size);
    const [plane] = await frame.copyTo(new Uint8Array(buffer, 0, size), { rect });
    const { width, height } = rect;
    if (plane!.offset !== 0 || plane!.stride !== width * 4) return undefined;
    if (frame.format === 'BGRA' && !isOpaque(new Uint32Array(buffer, 0, width * height))) return undefined;
    return { format: 'BGRX', width, height, stride: plane!.stride, data: new Uint8Array(buffer, 0, size) };
  } finally {
    frame.close();
  }
}

/** Returns whether every pixel has the largest alpha, which is in the highest byte of its four. */
function isOpaque(pixels: Uint32Array): boolean {
  let all = -1;
  for (const pixel of pixels) all &= pixel;
  return all >>> 24 === 255;
}

/** Returns whether a frame's colors are those of sRGB or of a video, and not of a wider gamut. */
export function isSrgb({ colorSpace: { primaries } }: VideoFrame): boolean {
  return !['smpte432', 'bt2020'].includes(String(primaries));
}

export function unreadable(image: object, cause: unknown): TabServeError {
  const message = `The ${image.constructor.name} could not be read. Has it been closed or transferred?`;
  return new TabServeError('invalid-input', message, { cause });
}
