import type { DecodedImage, Pixels, Rect, Region } from '../../contract/images.js';
import type { AffineMap, Border } from './crop-kernel.js';
import { cropRegion, mapOf, partOf } from './crop-region.js';

/**
 * A rotated part of an open image, as `cropRegion` cuts it out, as an image of its own. It is cut out where its pixels
 * are needed: on the CPU when it is read, or on a GPU.
 */
export class ImageCrop implements DecodedImage {
  readonly width: number;
  readonly height: number;

  constructor(
    readonly source: DecodedImage,
    readonly region: Region,
    { columns, rows }: { readonly columns: number; readonly rows: number },
    readonly border: Border,
  ) {
    this.width = columns;
    this.height = rows;
  }

  /** The map from its pixels to those of the source. */
  get map(): AffineMap {
    return mapOf(this.region, this.width, this.height);
  }

  /** Returns the same part of another image. */
  of(source: DecodedImage): ImageCrop {
    return new ImageCrop(source, this.region, { columns: this.width, rows: this.height }, this.border);
  }

  async read(rect?: Rect): Promise<Pixels> {
    const { source, region, width: columns, height: rows, border } = this;
    const pixels = await cropRegion(source, region, { columns, rows }, border);
    return rect ? partOf(pixels, rect) : pixels;
  }

  /** Leaves the source open: whoever has opened it closes it. */
  close(): void {}
}
