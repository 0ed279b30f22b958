/**
 * Bitmaps, canvases and frames, read through a 2D canvas.
 *
 * A canvas stores premultiplied colors, so a color with a low alpha loses precision. After compositing it is within 1 of the exact value.
 */
import type { Rect } from '../contract/images.js';
import { TabServeError } from '../contract/errors.js';
import type { Orientation } from './orientation.js';
import type { Raster, Source } from './source.js';

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

  read({ x, y, width, height }: Rect): Raster {
    try {
      const context = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true })!;
      context.drawImage(this.image, -x, -y, this.width, this.height);
      return { format: 'RGBA', width, height, stride: width * 4, data: context.getImageData(0, 0, width, height).data };
    } catch (cause) {
      throw unreadable(this.image, cause);
    }
  }

  close(): void {
    this.#dispose?.();
  }
}

export function unreadable(image: object, cause: unknown): TabServeError {
  const message = `The ${image.constructor.name} could not be read. Has it been closed or transferred?`;
  return new TabServeError('invalid-input', message, { cause });
}
