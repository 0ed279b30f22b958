/** Cuts rotated rectangles out of images. */
import type { DecodedImage, Pixels, Rect, Region } from '../../contract/images.js';
import { channelByte, PIXEL_BYTES } from './pixel-window.js';

/**
 * What is beyond the image: its nearest pixel; black, which the outermost pixels fade to (zero); or black without
 * fading, as scipy's `affine_transform` has it (cut).
 */
export type Border = 'replicate' | 'zero' | 'cut';

/**
 * Cuts a rotated rectangle out of an image and scales it, by bilinear sampling without antialiasing. Pixel (u, v) of the
 * crop is the image at `center + R(angle) · ((u / columns − ½) · width, (v / rows − ½) · height)`, where R turns
 * clockwise, rounded to 8 bits. It is `cv2.warpAffine(…, WARP_INVERSE_MAP | INTER_LINEAR)` of OpenCV 5 with this matrix,
 * up to the last bit of a few pixels, since OpenCV computes in float32.
 * @returns 8-bit RGB, `[rows, columns]`
 */
export async function cropRegion(
  image: DecodedImage | Pixels,
  region: Region,
  { columns, rows }: { readonly columns: number; readonly rows: number },
  border: Border = 'replicate',
): Promise<Pixels> {
  const crop = { format: 'RGB', width: columns, height: rows, stride: columns * 3 } as const;
  const map = mapOf(region, columns, rows);
  const source = neededPart(map, columns, rows, image, border);
  if (!source) return { ...crop, data: new Uint8Array(crop.stride * rows) };
  const part = 'read' in image ? await image.read(source) : image;
  const origin = 'read' in image ? source : { x: 0, y: 0 };
  return { ...crop, data: sample(part, origin, image, map, crop, border) };
}

/** (x, y) = (a·u + b·v + c, d·u + e·v + f) */
interface AffineMap {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
  readonly e: number;
  readonly f: number;
}

/** Returns the map from pixels of a crop to those of the image. */
function mapOf({ x, y, width, height, angle }: Region, columns: number, rows: number): AffineMap {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return {
    a: (cos * width) / columns,
    b: (-sin * height) / rows,
    c: x - (cos * width) / 2 + (sin * height) / 2,
    d: (sin * width) / columns,
    e: (cos * height) / rows,
    f: y - (sin * width) / 2 - (cos * height) / 2,
  };
}

/** Returns the part of the image that the crop shows; undefined if it shows nothing but the border. */
function neededPart(
  { a, b, c, d, e, f }: AffineMap,
  columns: number,
  rows: number,
  { width, height }: Pick<Pixels, 'width' | 'height'>,
  border: Border,
): Rect | undefined {
  const corners = [
    [0, 0],
    [columns - 1, 0],
    [0, rows - 1],
    [columns - 1, rows - 1],
  ] as const;
  const range = (positions: readonly number[], size: number): readonly [number, number] => {
    const [first, last] = [Math.floor(Math.min(...positions)), Math.floor(Math.max(...positions)) + 2];
    // Beyond the image, its border is what counts.
    return border === 'replicate'
      ? [Math.min(Math.max(0, first), size - 1), Math.max(Math.min(size, last), 1)]
      : [Math.max(0, first), Math.min(size, last)];
  };
  const [left, right] = range(
    corners.map(([u, v]) => a * u + b * v + c),
    width,
  );
  const [top, bottom] = range(
    corners.map(([u, v]) => d * u + e * v + f),
    height,
  );
  return left < right && top < bottom ? { x: left, y: top, width: right - left, height: bottom - top } : undefined;
}

/** @param part the pixels of the image from `origin` on */
function sample(
  { data: from, format, stride }: Pixels,
  origin: Pick<Rect, 'x' | 'y'>,
  { width, height }: Pick<Pixels, 'width' | 'height'>,
  { a, b, c, d, e, f }: AffineMap,
  crop: Pick<Pixels, 'width' | 'height'>,
  border: Border,
): Uint8ClampedArray {
  const step = PIXEL_BYTES[format];
  const isZero = border !== 'replicate';
  const channels = [0, 1, 2].map((color) => channelByte(format, color));
  // It rounds halves to even numbers, as OpenCV does.
  const data = new Uint8ClampedArray(crop.width * crop.height * 3);
  for (let v = 0, to = 0; v < crop.height; v++)
    for (let u = 0; u < crop.width; u++, to += 3) {
      const [x, y] = [a * u + b * v + c, d * u + e * v + f];
      if (border === 'cut' && (x < 0 || x > width - 1 || y < 0 || y > height - 1)) continue;
      const [left, top] = [Math.floor(x), Math.floor(y)];
      const [right, down] = [x - left, y - top];
      const [x0, x1] = [clamp(left, width), clamp(left + 1, width)];
      const [y0, y1] = [clamp(top, height), clamp(top + 1, height)];
      const west = (1 - right) * Number(!isZero || x0 === left);
      const east = right * Number(!isZero || x1 === left + 1);
      const north = (1 - down) * Number(!isZero || y0 === top);
      const south = down * Number(!isZero || y1 === top + 1);
      const upper = (y0 - origin.y) * stride - origin.x * step;
      const lower = (y1 - origin.y) * stride - origin.x * step;
      for (let color = 0; color < 3; color++) {
        const byte = channels[color]!;
        const [at0, at1] = [x0 * step + byte, x1 * step + byte];
        data[to + color] =
          north * (from[upper + at0]! * west + from[upper + at1]! * east) +
          south * (from[lower + at0]! * west + from[lower + at1]! * east);
      }
    }
  return data;
}

function clamp(position: number, size: number): number {
  return position < 0 ? 0 : position >= size ? size - 1 : position;
}
