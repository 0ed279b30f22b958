/**
 * Pictures of elements and canvases, and of bitmaps that stay the caller's. The page never reads their pixels.
 */
import { TabServeError } from '../../contract/errors.js';
import { isA } from './is-a.js';

export type Picture = ImageBitmap | VideoFrame;

/**
 * Returns what an element or a canvas shows at the call, or a copy of an ImageBitmap; undefined for anything else. Node.js has none of these classes.
 * @throws `image-decode` (by rejecting, as below) if an `<img>` is broken or has no source; `invalid-input` if there are no pixels, or none that this page may read
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
  return grab('<img>', image.naturalWidth, image.naturalHeight, () =>
    createImageBitmap(image, { colorSpaceConversion: 'none' }),
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

/** Returns whether the error of a `<video>` says that its current frame cannot be read yet. A frame of another origin is a `SecurityError`. */
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
