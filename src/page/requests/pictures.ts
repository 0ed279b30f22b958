/**
 * Pictures of elements and canvases, and of bitmaps that stay the caller's. The page never reads their pixels.
 */
import { TabServeError } from '../../contract/errors.js';
import { isA } from '../../shared/is-a.js';

export type Picture = ImageBitmap | VideoFrame;

/**
 * Returns what an element or a canvas shows at the call, or a copy of an ImageBitmap; undefined for anything else.
 * Node.js has none of these classes.
 * @throws `image-decode` (by rejecting, as below) if an `<img>` is broken or has no source; `invalid-input` if there
 *   are no pixels, or none that this page may read
 */
export function pictureOf(value: object): Promise<Picture> | undefined {
  if (isA('HTMLImageElement', value)) return ofImage(value);
  if (isA('HTMLVideoElement', value)) return ofVideo(value);
  if (isA('HTMLCanvasElement', value)) return ofCanvas(value);
  if (isA('OffscreenCanvas', value)) return ofCanvas(value);
  if (isBitmap(value)) return ofBitmap(value);
  return undefined;
}

export function isBitmap(value: unknown): value is ImageBitmap {
  return isA('ImageBitmap', value);
}

export function isFrame(value: unknown): value is VideoFrame {
  return isA('VideoFrame', value);
}

/**
 * Returns the picture as the browser shows it, so that boxes can be drawn over the element. The browser shows a JPEG,
 * PNG or AVIF upright. It shows a WebP as it is coded, whatever its EXIF orientation says, although it turns the same
 * WebP upright if it is a Blob.
 */
async function ofImage(image: HTMLImageElement): Promise<ImageBitmap> {
  try {
    // The browser loads a lazy image only when the visitor has scrolled to it.
    if (image.loading === 'lazy' && !image.complete) image.loading = 'eager';
    await image.decode();
  } catch (cause) {
    const source = image.currentSrc || image.src;
    throw new TabServeError(
      'image-decode',
      source
        ? `The <img> could not be loaded or decoded: ${shortenUrl(source)}. Check that this URL is an image.`
        : 'The <img> has no source. Set its src first.',
      { cause },
    );
  }
  return grab(
    '<img>',
    image.naturalWidth,
    image.naturalHeight,
    () => createImageBitmap(image, { colorSpaceConversion: 'none' }),
    (cause) =>
      isInvalidState(cause)
        ? 'The <img> has no size of its own, as an SVG without width and height. Set both in its <svg>, or draw it on a canvas and pass that.'
        : undefined,
  );
}

async function ofVideo(video: HTMLVideoElement): Promise<Picture> {
  if (video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) {
    throw new TabServeError('invalid-input', 'The <video> has no current frame yet: wait for its "loadeddata" event.');
  }
  return grab<Picture>(
    '<video>',
    video.videoWidth,
    video.videoHeight,
    () => (typeof VideoFrame === 'undefined' ? createImageBitmap(video) : new VideoFrame(video)),
    (cause) =>
      isInvalidState(cause)
        ? 'The <video> has a current frame, but the browser cannot read it yet. Wait for a callback of its requestVideoFrameCallback, then try again.'
        : undefined,
  );
}

/**
 * Returns whether the error of a `<video>` says that its current frame cannot be read yet. A frame of another origin is
 * a `SecurityError`.
 */
export function isNotShownYet(error: unknown): boolean {
  return error instanceof TabServeError && isInvalidState(error.cause);
}

function isInvalidState(error: unknown): boolean {
  return (error as { readonly name?: unknown } | undefined)?.name === 'InvalidStateError';
}

async function ofCanvas(canvas: HTMLCanvasElement | OffscreenCanvas): Promise<ImageBitmap> {
  return grab('canvas', canvas.width, canvas.height, () => createImageBitmap(canvas));
}

async function ofBitmap(bitmap: ImageBitmap): Promise<ImageBitmap> {
  return grab('ImageBitmap', bitmap.width, bitmap.height, () => createImageBitmap(bitmap));
}

/** @param explain returns what an error of `make` means; undefined if the pixels are most likely another origin's */
async function grab<T extends Picture>(
  name: string,
  width: number,
  height: number,
  make: () => Promise<T> | T,
  explain: (cause: unknown) => string | undefined = () => undefined,
): Promise<T> {
  if (width === 0 || height === 0)
    throw new TabServeError('invalid-input', `The ${name} is ${width} × ${height}: it has no pixels.`);
  try {
    return await make();
  } catch (cause) {
    throw new TabServeError(
      'invalid-input',
      explain(cause) ??
        `The pixels of the ${name} cannot be read. If they come from another origin, that server must allow it (CORS), and an <img> or <video> needs crossorigin="anonymous".`,
      { cause },
    );
  }
}

/** Returns a URL for a message: a `data:` URL may have megabytes. */
export function shortenUrl(url: string): string {
  return url.length > 100 ? `${url.slice(0, 100)}…` : url;
}

/**
 * A picture of the page's own, of which each message sends a copy, so that it can be sent again when a worker is lost.
 *
 * - A VideoFrame is sent by structured clone: both sides share its pixels, and nothing is copied.
 * - An ImageBitmap is sent by transferring a copy of it. Chromium makes the copy's pixels when the copy is
 *   transferred: 36 ms for 12 megapixels, 2 ms for 1280 × 720. A structured clone takes 101 ms and 4 ms. Transferring
 *   the bitmap itself costs nothing.
 */
export class OwnImage {
  readonly #original: Picture;
  readonly #once: boolean;
  /** Copies that are ready to be sent. */
  readonly #copies: ImageBitmap[] = [];
  #sentAway = false;
  #closed = false;

  /** @param once whether the picture itself is transferred, which costs nothing but cannot be repeated */
  constructor(original: Picture, once = false) {
    this.#original = original;
    this.#once = once;
  }

  /** Waits until the picture can be sent more than once, where it can. */
  async ready(): Promise<this> {
    if (!this.#once) await this.#addCopy();
    return this;
  }

  /** Whether there is something left to send. */
  get available(): boolean {
    return !this.#sentAway;
  }

  /** Returns what to send, and whether it is to be transferred. */
  take(): { readonly picture: Picture; readonly moves: boolean } {
    if (isFrame(this.#original) && !this.#once) return { picture: this.#original, moves: false };
    const copy = this.#copies.pop();
    if (copy) void this.#addCopy();
    else this.#sentAway = true;
    return { picture: copy ?? this.#original, moves: true };
  }

  /** Takes back a picture that `take` returned and that could not be sent. */
  putBack(picture: Picture): void {
    if (picture === this.#original) this.#sentAway = false;
    else if (this.#closed) picture.close();
    else this.#copies.push(picture as ImageBitmap);
  }

  close(): void {
    this.#closed = true;
    this.#original.close();
    for (const copy of this.#copies.splice(0)) copy.close();
  }

  /** Copies the picture, so that it can be sent again. If there is no memory for a copy, the original is sent, once. */
  async #addCopy(): Promise<void> {
    if (isFrame(this.#original)) return;
    try {
      const copy = await createImageBitmap(this.#original);
      if (this.#closed) copy.close();
      else this.#copies.push(copy);
    } catch {
      // `take` falls back to the original.
    }
  }
}
