/**
 * What a page passes, made ready to cross to the worker.
 */
import { giveBack, takeBuffer, takeReady } from '../../shared/buffers.js';
import { TabServeError } from '../../contract/errors.js';
import { duplicate } from './copies.js';

/** One input, as the page keeps it until it was answered. */
export interface Prepared {
  /** What crosses, and what of it moves; made afresh at each call. Undefined if it can be sent only once, and was. @throws if a copy could not be made, here or in `snapshot` */
  message(): Message | undefined;
  /** Copies what the caller may change, before the call returns: after the first message where there is one already, so that the worker need not wait for it. */
  snapshot(): void;
  /** Whether there is another message to be had. */
  readonly replayable: boolean;
  /** The last message could not be sent: nothing of it has gone. */
  rollback(): void;
  /** Frees what was made for it. */
  release(): void;
}

export interface Message {
  readonly value: unknown;
  readonly transferables: readonly Transferable[];
}

export interface PrepareOptions {
  /** Buffers, bitmaps and frames of the caller's move to the worker, and are gone here. @default false */
  readonly transfer?: boolean;
}

/**
 * Prepares one row: an input, bare or as `{ data }` or `{ body }`, or nested in plain objects and arrays. At once, but for elements:
 * those give a promise.
 *
 * | given | crosses as | more than once |
 * |---|---|---|
 * | `<img>` (loaded or not), `<canvas>`, OffscreenCanvas | an ImageBitmap made of it, upright, moved | no |
 * | `<video>` | a VideoFrame of what it shows, moved | no |
 * | Blob, File, string, … | itself | yes |
 * | ImageBitmap, VideoFrame | itself; the caller leaves it open until the answer is there | yes |
 * | typed array, ArrayBuffer, ImageData | a copy, which moves (a structured clone takes ten times as long); `snapshot` takes another | yes |
 * | any of the caller's own, with `transfer` | itself, moved | no |
 *
 * Pixels of elements are never read on the page. A canvas and a video are taken as they are at the call, and so is an array if `snapshot` follows within it.
 * @throws `image-decode` if an `<img>` is broken or has no source; `invalid-input` if an element has no pixels, or not any
 *   that this page may read (another origin's, without CORS), or if an array's buffer is gone
 */
export function prepare(input: unknown, { transfer = false }: PrepareOptions = {}): Prepared | Promise<Prepared> {
  const images = new Map<object, ImageBitmap | VideoFrame>();
  const pending: Promise<unknown>[] = [];
  const borrowed: ArrayBuffer[] = [];
  const release = (): void => {
    for (const image of images.values()) image.close();
    borrowed.splice(0).forEach(giveBack);
  };

  let kept: unknown;
  try {
    kept = mapLeaves(input, (leaf) => {
      const image = fromElement(leaf);
      if (image) pending.push(image.then((made) => images.set(leaf, made)));
      else checkBuffer(leaf);
      return leaf;
    });
  } catch (error) {
    void Promise.allSettled(pending).then(release);
    throw error;
  }

  let sent = false;
  let failure: unknown;
  let isOwn = transfer;
  const snapshot = (): void => {
    if (isOwn) return;
    isOwn = true;
    try {
      kept = mapLeaves(kept, (leaf) => duplicate(leaf, (bytes) => borrow(bytes, borrowed)));
    } catch (error) {
      failure = error;
    }
  };
  const message = (): Message | undefined => {
    if (!prepared.replayable) return undefined;
    if (failure !== undefined) throw failure;
    sent = true;
    const transferables = new Set<Transferable>();
    const value = mapLeaves(kept, (leaf) => {
      const own = images.get(leaf) ?? (transfer ? leaf : duplicate(leaf, takeReady));
      if (transfer || own !== leaf) list(own, transferables);
      return own;
    });
    return { value, transferables: [...transferables] };
  };
  const prepared: Prepared = {
    message,
    snapshot,
    rollback: () => void (sent = false),
    release,
    get replayable() {
      return !sent || (!transfer && images.size === 0 && failure === undefined);
    },
  };
  if (pending.length === 0) return prepared;
  snapshot();
  return allOrNone(pending, release).then(() => prepared);
}

/** `value` with its arrays and plain objects copied, and each thing in them that is neither replaced by what `replace` gives. */
function mapLeaves(value: unknown, replace: (leaf: object) => unknown, done = new Map<object, unknown>()): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (done.has(value)) return done.get(value);
  if (!isContainer(value)) {
    const own = replace(value);
    done.set(value, own);
    return own;
  }
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [] : {};
  done.set(value, copy);
  for (const [key, item] of Object.entries(value))
    (copy as Record<string, unknown>)[key] = mapLeaves(item, replace, done);
  return copy;
}

function borrow(bytes: number, borrowed: ArrayBuffer[]): ArrayBuffer {
  const buffer = takeBuffer(bytes);
  borrowed.push(buffer);
  return buffer;
}

/** @throws `invalid-input` if it looks at a buffer that is gone */
function checkBuffer(leaf: object): void {
  const holder = bufferOf(leaf);
  if (!(holder instanceof ArrayBuffer)) return;
  try {
    holder.slice(0, 0);
  } catch (cause) {
    throw new TabServeError(
      'invalid-input',
      `The ${leaf.constructor.name}'s buffer is gone: it has been transferred.`,
      { cause },
    );
  }
}

async function allOrNone(pending: readonly Promise<unknown>[], release: () => void): Promise<void> {
  const failed = (await Promise.allSettled(pending)).find(({ status }) => status === 'rejected');
  if (!failed) return;
  release();
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
    throw new TabServeError(
      'image-decode',
      source ? `The <img> could not be loaded or decoded: ${shorten(source)}` : 'The <img> has no source.',
      { cause },
    );
  }
  return grab('<img>', image.naturalWidth, image.naturalHeight, () =>
    createImageBitmap(image, { colorSpaceConversion: 'none' }),
  );
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

async function grab<T extends ImageBitmap | VideoFrame>(
  name: string,
  width: number,
  height: number,
  make: () => Promise<T> | T,
): Promise<T> {
  if (width === 0 || height === 0)
    throw new TabServeError('invalid-input', `The ${name} is ${width} × ${height}: it has no pixels.`);
  try {
    return await make();
  } catch (cause) {
    throw new TabServeError(
      'invalid-input',
      `The pixels of the ${name} cannot be read. Do they come from another origin, without CORS?`,
      { cause },
    );
  }
}

/** What may hold inputs: an array, or an object that is nothing but its properties. */
function isContainer(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === null || prototype === Object.prototype;
}

/** Puts what of `value` can be transferred on the list. Shared memory stays shared. */
function list(value: object, transferables: Set<Transferable>): void {
  const holder = bufferOf(value);
  const isImage =
    (typeof ImageBitmap !== 'undefined' && holder instanceof ImageBitmap) ||
    (typeof VideoFrame !== 'undefined' && holder instanceof VideoFrame);
  if (isImage || holder instanceof ArrayBuffer) transferables.add(holder as Transferable);
}

/** What holds the bytes of an ImageData or of a view; anything else as it is. */
function bufferOf(value: object): object {
  const inner = typeof ImageData !== 'undefined' && value instanceof ImageData ? value.data : value;
  return ArrayBuffer.isView(inner) ? inner.buffer : inner;
}

function shorten(url: string): string {
  return url.length > 100 ? `${url.slice(0, 100)}…` : url;
}
