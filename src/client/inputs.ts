/**
 * What a page passes, made ready to cross to the worker.
 */
import { TabServeError } from '../errors.js';

export interface Message {
  /** The input, with everything in it that cannot cross replaced by something that can. */
  readonly value: unknown;
  /** What travels instead of being copied, for `postMessage`. */
  readonly transferables: readonly Transferable[];
}

export interface Prepared {
  /** What to send. Arrays are copied for it and the copies moved, which takes a tenth of the time of a structured clone. */
  message(): Message;
  /** Whether there may be another message: so it is where nothing of the caller's, and no picture of an element, moves. */
  readonly replayable: boolean;
  /** Closes what was made here; for an input that is never sent. */
  discard(): void;
}

export interface PrepareOptions {
  /** Buffers, bitmaps and frames of the caller's move to the worker, and are gone here. @default false */
  readonly transfer?: boolean;
}

/**
 * Prepares one row: an input, bare or as `{ data }` or `{ body }`, or nested in plain objects and arrays.
 *
 * | given | crosses as |
 * |---|---|
 * | `<img>` (loaded or not), `<canvas>`, OffscreenCanvas | an ImageBitmap made of it, upright, transferred |
 * | `<video>` | a VideoFrame of what it shows, transferred |
 * | Blob, File, string, … | itself |
 * | ImageBitmap, VideoFrame | itself; the caller leaves it open until the answer is there |
 * | typed array, ArrayBuffer, ImageData | a copy as of the call |
 *
 * Pixels of elements are never read on the page. A canvas, a video and an array are taken as they are at the call.
 * @throws `image-decode` if an `<img>` is broken or has no source; `invalid-input` if an element has no pixels, or not any
 *   that this page may read (another origin's, without CORS), or if an array's buffer is gone
 */
export async function prepare(input: unknown, { transfer = false }: PrepareOptions = {}): Promise<Prepared> {
  const transferables = new Set<Transferable>();
  const made: (ImageBitmap | VideoFrame)[] = [];
  const pending: Promise<void>[] = [];
  const walked = new Map<object, unknown>();
  const copies = new Set<unknown>();
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
      const own = transfer ? listed(value, transferables) : snapshot(value);
      if (own !== value) copies.add(own);
      walked.set(value, own);
      put(own);
    }
  };

  let result: unknown;
  try {
    walk(input, (value) => (result = value));
  } catch (error) {
    pending.push(Promise.reject(error));
  }
  const failed = (await Promise.allSettled(pending)).find(({ status }) => status === 'rejected');
  if (failed) {
    discard();
    throw (failed as PromiseRejectedResult).reason;
  }
  return { message: () => moveCopies(result, copies, transferables), replayable: transferables.size === 0, discard };
}

/** `value` with each of `copies` in it copied once more, to be moved: the first copy stays for another message. */
function moveCopies(value: unknown, copies: ReadonlySet<unknown>, moved: ReadonlySet<Transferable>): Message {
  if (copies.size === 0) return { value, transferables: [...moved] };
  const transferables = new Set(moved);
  const walked = new Map<unknown, unknown>();
  const walk = (item: unknown): unknown => {
    if (typeof item !== 'object' || item === null) return item;
    if (walked.has(item)) return walked.get(item);
    if (copies.has(item)) {
      const copy = listed(snapshot(item) as object, transferables);
      walked.set(item, copy);
      return copy;
    }
    if (!isContainer(item)) return item;
    const container: Record<string, unknown> | unknown[] = Array.isArray(item) ? [] : {};
    walked.set(item, container);
    for (const [key, inner] of Object.entries(item)) (container as Record<string, unknown>)[key] = walk(inner);
    return container;
  };
  return { value: walk(value), transferables: [...transferables] };
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
function snapshot(value: object): unknown {
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

/** `value` itself, and what of it can be transferred put on the list. Shared memory stays shared. */
function listed(value: object, transferables: Set<Transferable>): unknown {
  const inner = typeof ImageData !== 'undefined' && value instanceof ImageData ? value.data : value;
  const holder = ArrayBuffer.isView(inner) ? inner.buffer : inner;
  const isImage = (typeof ImageBitmap !== 'undefined' && holder instanceof ImageBitmap) || (typeof VideoFrame !== 'undefined' && holder instanceof VideoFrame);
  if (isImage || holder instanceof ArrayBuffer) transferables.add(holder as Transferable);
  return value;
}

function shorten(url: string): string {
  return url.length > 100 ? `${url.slice(0, 100)}…` : url;
}
