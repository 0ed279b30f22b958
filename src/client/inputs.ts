/**
 * What a page passes, made ready to cross to the worker.
 */
import { TabServeError } from '../errors.js';

export interface Prepared {
  /** The input, with everything in it that cannot cross replaced by something that can. */
  readonly value: unknown;
  /** What travels instead of being copied, for `postMessage`. */
  readonly transferables: readonly Transferable[];
  /** Closes what was made here; for an input that is never sent. */
  discard(): void;
}

export interface PrepareOptions {
  /** Buffers, bitmaps and frames of the caller's move to the worker, and are gone here. @default false */
  readonly transfer?: boolean;
}

/**
 * Prepares one row: an input, bare or as `{ data }` or `{ body }`, or nested in plain objects and arrays. At once, but for elements:
 * those give a promise.
 *
 * | given | crosses as |
 * |---|---|
 * | `<img>` (loaded or not), `<canvas>`, OffscreenCanvas | an ImageBitmap made of it, upright, transferred |
 * | `<video>` | a VideoFrame of what it shows, transferred |
 * | Blob, File, string, … | itself |
 * | ImageBitmap, VideoFrame | itself; the caller leaves it open until the answer is there |
 * | typed array, ArrayBuffer, ImageData | a copy, made before this returns and moved: a structured clone takes ten times as long |
 *
 * Pixels of elements are never read on the page. A canvas, a video and an array are taken as they are at the call.
 * @throws `image-decode` if an `<img>` is broken or has no source; `invalid-input` if an element has no pixels, or not any
 *   that this page may read (another origin's, without CORS), or if an array's buffer is gone
 */
export function prepare(input: unknown, { transfer = false }: PrepareOptions = {}): Prepared | Promise<Prepared> {
  const transferables = new Set<Transferable>();
  const made: (ImageBitmap | VideoFrame)[] = [];
  const pending: Promise<void>[] = [];
  const walked = new Map<object, unknown>();
  const discard = (): void => made.forEach((image) => image.close());

  const walk = (value: unknown, put: (value: unknown) => void): void => {
    if (typeof value !== 'object' || value === null) return put(value);
    if (walked.has(value)) return put(walked.get(value));
    const image = fromElement(value);
    if (image) {
      const arrive = (bitmap: ImageBitmap | VideoFrame): void => {
        made.push(bitmap);
        transferables.add(bitmap);
        put(bitmap);
      };
      pending.push(image.then(arrive));
    } else if (isContainer(value)) {
      const copy: Record<PropertyKey, unknown> | unknown[] = Array.isArray(value) ? [] : {};
      walked.set(value, copy);
      put(copy);
      for (const [key, item] of Object.entries(value)) walk(item, (ready) => ((copy as Record<string, unknown>)[key] = ready));
    } else {
      const own = transfer ? value : snapshot(value);
      if (transfer || own !== value) list(own, transferables);
      walked.set(value, own);
      put(own);
    }
  };

  let result: unknown;
  try {
    walk(input, (value) => (result = value));
  } catch (error) {
    void Promise.allSettled(pending).then(discard);
    throw error;
  }
  const prepared = (): Prepared => ({ value: result, transferables: [...transferables], discard });
  return pending.length === 0 ? prepared() : allOrNone(pending, discard).then(prepared);
}

async function allOrNone(pending: readonly Promise<void>[], discard: () => void): Promise<void> {
  const failed = (await Promise.allSettled(pending)).find(({ status }) => status === 'rejected');
  if (!failed) return;
  discard();
  throw (failed as PromiseRejectedResult).reason;
}

/** An element's or a canvas's picture; undefined if `value` is neither. Under Node there are no such classes. */
function fromElement(value: object): Promise<ImageBitmap | VideoFrame> | undefined {
  if (typeof HTMLImageElement !== 'undefined' && value instanceof HTMLImageElement) return fromImage(value);
  if (typeof HTMLVideoElement !== 'undefined' && value instanceof HTMLVideoElement) return fromVideo(value);
  if (typeof HTMLCanvasElement !== 'undefined' && value instanceof HTMLCanvasElement) return fromCanvas(value);
  if (typeof OffscreenCanvas !== 'undefined' && value instanceof OffscreenCanvas) return fromCanvas(value);
  return undefined;
}

async function fromImage(image: HTMLImageElement): Promise<ImageBitmap> {
  try {
    await image.decode();
  } catch (cause) {
    const source = image.currentSrc || image.src;
    throw new TabServeError('image-decode', source ? `The <img> could not be loaded or decoded: ${shorten(source)}` : 'The <img> has no source.', { cause });
  }
  return grab('<img>', image.naturalWidth, image.naturalHeight, () => createImageBitmap(image, { colorSpaceConversion: 'none' }));
}

async function fromVideo(video: HTMLVideoElement): Promise<ImageBitmap | VideoFrame> {
  if (video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) {
    throw new TabServeError('invalid-input', 'The <video> has no current frame yet: wait for its "loadeddata" event.');
  }
  return grab<ImageBitmap | VideoFrame>('<video>', video.videoWidth, video.videoHeight, () =>
    typeof VideoFrame === 'undefined' ? createImageBitmap(video) : new VideoFrame(video),
  );
}

async function fromCanvas(canvas: HTMLCanvasElement | OffscreenCanvas): Promise<ImageBitmap> {
  return grab('canvas', canvas.width, canvas.height, () => createImageBitmap(canvas));
}

async function grab<T extends ImageBitmap | VideoFrame>(name: string, width: number, height: number, make: () => Promise<T> | T): Promise<T> {
  if (width === 0 || height === 0) throw new TabServeError('invalid-input', `The ${name} is ${width} × ${height}: it has no pixels.`);
  try {
    return await make();
  } catch (cause) {
    throw new TabServeError('invalid-input', `The pixels of the ${name} cannot be read. Do they come from another origin, without CORS?`, { cause });
  }
}

/** What may hold inputs: an array, or an object that is nothing but its properties. */
function isContainer(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === null || prototype === Object.prototype;
}

/** A copy of what the caller might change before it is sent; other things as they are. */
function snapshot(value: object): object {
  try {
    if (value instanceof DataView) return new DataView(value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength));
    if (ArrayBuffer.isView(value)) return (value as Uint8Array).slice();
    if (value instanceof ArrayBuffer) return value.slice(0);
    if (typeof ImageData !== 'undefined' && value instanceof ImageData) return structuredClone(value);
    return value;
  } catch (cause) {
    throw new TabServeError('invalid-input', `The ${value.constructor.name}'s buffer is gone: it has been transferred.`, { cause });
  }
}

/** Puts what of `value` can be transferred on the list. Shared memory stays shared. */
function list(value: object, transferables: Set<Transferable>): void {
  const inner = typeof ImageData !== 'undefined' && value instanceof ImageData ? value.data : value;
  const holder = ArrayBuffer.isView(inner) ? inner.buffer : inner;
  const isImage = (typeof ImageBitmap !== 'undefined' && holder instanceof ImageBitmap) || (typeof VideoFrame !== 'undefined' && holder instanceof VideoFrame);
  if (isImage || holder instanceof ArrayBuffer) transferables.add(holder as Transferable);
}

function shorten(url: string): string {
  return url.length > 100 ? `${url.slice(0, 100)}…` : url;
}
