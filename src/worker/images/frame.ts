/**
 * Reads a VideoFrame in its own format where that is fast or exact, and otherwise in RGBA, to which the browser
 * converts it.
 */
import type { Rect, Strips } from '../../contract/images.js';
import { CanvasSource, isSrgb, unreadable } from './canvas.js';
import { fromRotation, type Orientation } from './orientation.js';
import type { Convert, Planes } from './planar/planes.js';
import type { Allocate, Raster, Source } from './source.js';

type Interleaved = 'RGBA' | 'RGBX' | 'BGRA' | 'BGRX';
const INTERLEAVED: readonly string[] = ['RGBA', 'RGBX', 'BGRA', 'BGRX'] satisfies Interleaved[];

/**
 * Formats with planes of luma and chroma: the sides along which chroma is subsampled, and whether U and V share a
 * plane.
 */
const PLANAR: Readonly<Record<string, Pick<Planes, 'halfWidth' | 'halfHeight' | 'interleaved'>>> = {
  I420: { halfWidth: true, halfHeight: true },
  I422: { halfWidth: true, halfHeight: false },
  I444: { halfWidth: false, halfHeight: false },
  NV12: { halfWidth: true, halfHeight: true, interleaved: true },
};

export interface FrameOptions {
  readonly orientation: Orientation;
  /** Converts the frame's planes to RGB. If undefined, the browser converts them. */
  readonly convert?: Convert | undefined;
  /** Whether the colors of a frame with alpha are multiplied by it. Default: false. */
  readonly premultiplied?: boolean;
  /** Whether `close` closes the frame. */
  readonly owned: boolean;
}

/** Returns the orientation that a frame declares; 1 in browsers whose frames declare none. */
export function orientationOf(frame: VideoFrame): Orientation {
  const { rotation = 0, flip = false } = frame as { rotation?: number; flip?: boolean };
  return fromRotation(rotation, flip);
}

/**
 * Opens a frame: directly where its format can be read, its pixels are square and its colors those of sRGB, and
 * otherwise through a canvas, which draws it upright, in sRGB, in the size in which it is shown. The frame of a file
 * keeps its numbers, as in Pillow.
 */
export function frameSource(frame: VideoFrame, options: FrameOptions): Source {
  const isInSrgb = options.owned || isSrgb(frame);
  if (isInSrgb && isReadable(frame, options.convert) && hasSquarePixels(frame)) return new FrameSource(frame, options);
  const sides = [frame.displayWidth, frame.displayHeight] as const;
  return new CanvasSource(frame, ...sides, { dispose: options.owned ? () => frame.close() : undefined });
}

function isReadable(frame: VideoFrame, convert: Convert | undefined): boolean {
  if (frame.format === null) return false;
  if (INTERLEAVED.includes(frame.format) || (convert && frame.format in PLANAR)) return true;
  try {
    const { width, height } = frame.visibleRect!;
    return frame.allocationSize({ format: 'RGBA' }) === width * height * 4;
  } catch {
    return false;
  }
}

/** Returns whether a frame is shown in the size of its pixels, turned or not. */
function hasSquarePixels({ visibleRect, displayWidth, displayHeight }: VideoFrame): boolean {
  const { width, height } = visibleRect!;
  return (displayWidth === width && displayHeight === height) || (displayWidth === height && displayHeight === width);
}

class FrameSource implements Source {
  readonly width: number;
  readonly height: number;
  readonly orientation: Orientation;
  readonly #frame: VideoFrame;
  readonly #options: FrameOptions;
  readonly #left: number;
  readonly #top: number;

  constructor(frame: VideoFrame, options: FrameOptions) {
    const { x, y, width, height } = frame.visibleRect!;
    this.#frame = frame;
    this.#options = options;
    [this.width, this.height, this.#left, this.#top] = [width, height, x, y];
    this.orientation = options.orientation;
  }

  async read(rect: Rect, allocate: Allocate): Promise<Raster | Strips> {
    const { format } = this.#frame;
    const { convert } = this.#options;
    try {
      if (format !== null && INTERLEAVED.includes(format))
        return await this.#readInterleaved(rect, allocate, format as Interleaved);
      if (convert && format !== null && format in PLANAR)
        return await this.#readPlanar(rect, allocate, PLANAR[format]!, convert);
      return await this.#readConverted(rect, allocate);
    } catch (cause) {
      throw unreadable(this.#frame, cause);
    }
  }

  close(): void {
    // To give back the memory of a photo takes milliseconds, for which its request need not wait.
    if (this.#options.owned) setTimeout(() => this.#frame.close());
  }

  async #readInterleaved(rect: Rect, allocate: Allocate, format: Interleaved): Promise<Raster> {
    return { ...(await this.#copy(rect, allocate)), format, premultiplied: this.#options.premultiplied === true };
  }

  async #readConverted(rect: Rect, allocate: Allocate): Promise<Raster> {
    const area = this.#align(rect, 0);
    const { data, stride } = await this.#copy(area, allocate, 'RGBA');
    const start = (rect.y - area.y) * stride + (rect.x - area.x) * 4;
    const opaque = !this.#frame.format?.endsWith('A');
    return {
      format: opaque ? 'RGBX' : 'RGBA',
      width: rect.width,
      height: rect.height,
      stride,
      data: data.subarray(start, start + (rect.height - 1) * stride + rect.width * 4),
    };
  }

  async #readPlanar(
    rect: Rect,
    allocate: Allocate,
    { halfWidth, halfHeight, interleaved = false }: (typeof PLANAR)[string],
    convert: Convert,
  ): Promise<Strips> {
    const area = this.#align(rect, 2);
    const options = { rect: this.#toFrame(area) };
    const size = this.#frame.allocationSize(options);
    const data = new Uint8Array(allocate(size), 0, size);
    const [y, u, v = u] = (await this.#frame.copyTo(data, options)) as [PlaneLayout, PlaneLayout, PlaneLayout?];
    const planes = {
      y: data.subarray(y.offset),
      u: data.subarray(u.offset),
      v: data.subarray(v.offset),
      yStride: y.stride,
      uStride: u.stride,
      vStride: v.stride,
      width: area.width,
      height: area.height,
      halfWidth,
      halfHeight,
      interleaved,
      narrow: halfWidth && this.width <= 4,
    };
    const left = rect.x - area.x;
    const above = rect.y - area.y;
    const strip = (top: number, height: number) =>
      convert(planes, { x: left, y: above + top, width: rect.width, height });
    return { format: 'RGBX', width: rect.width, height: rect.height, strip };
  }

  async #copy(rect: Rect, allocate: Allocate, format?: 'RGBA'): Promise<Raster> {
    const options = { rect: this.#toFrame(rect), ...(format && { format }) };
    const size = this.#frame.allocationSize(options);
    const data = new Uint8Array(allocate(size), 0, size);
    const [plane] = await this.#frame.copyTo(data, options);
    return {
      format: 'RGBA',
      width: rect.width,
      height: rect.height,
      stride: plane!.stride,
      data: data.subarray(plane!.offset),
    };
  }

  /** Returns `rect` with a margin around it, extended to even sides, which subsampled chroma needs. */
  #align(rect: Rect, margin: number): Rect {
    const x = Math.max(0, rect.x - margin) & ~1;
    const y = Math.max(0, rect.y - margin) & ~1;
    const right = Math.min(this.width, (rect.x + rect.width + margin + 1) & ~1);
    const bottom = Math.min(this.height, (rect.y + rect.height + margin + 1) & ~1);
    return { x, y, width: right - x, height: bottom - y };
  }

  #toFrame(rect: Rect): Rect {
    return { ...rect, x: rect.x + this.#left, y: rect.y + this.#top };
  }
}
