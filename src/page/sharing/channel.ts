import { mapLeaves } from '../requests/copy.js';
import { isBitmap, isFrame } from '../requests/pictures.js';

/** The pixels of a VideoFrame, and what its constructor takes. */
interface Planes {
  readonly data: ArrayBuffer;
  readonly init: VideoFrameBufferInit;
}

/**
 * A value that a BroadcastChannel can carry to another tab. A VideoFrame cannot go there, so an empty buffer stands in
 * its place, which a structured clone keeps apart from all others.
 */
interface Packed {
  readonly value: unknown;
  readonly frames?: readonly (readonly [placeholder: ArrayBuffer, Planes])[];
}

export interface ChannelEvents<Received> {
  readonly onMessage: (message: Received) => void;
  /** A message cannot be read here. */
  readonly onUnreadable: () => void;
}

/** A BroadcastChannel between two tabs, which also carries the pixels of VideoFrames. */
export class TabChannel<Sent, Received> {
  readonly #channel: BroadcastChannel;
  /** Messages leave in their order, though reading a frame's pixels takes time. Undefined if none is being read. */
  #sending: Promise<void> | undefined;
  #isClosed = false;

  constructor(channel: BroadcastChannel, { onMessage, onUnreadable }: ChannelEvents<Received>) {
    this.#channel = channel;
    channel.addEventListener('messageerror', onUnreadable);
    channel.addEventListener('message', ({ data }: MessageEvent<Packed>) => {
      let message: unknown;
      try {
        message = unpack(data);
      } catch {
        return onUnreadable();
      }
      onMessage(message as Received);
    });
  }

  /**
   * Sends a message, at once if it has no VideoFrame and follows none. The pictures in it are closed.
   * @throws `DataCloneError`; by rejecting, as below, if a frame's pixels cannot be read
   */
  post(message: Sent): void | Promise<void> {
    const packed = this.#sending ? this.#sending.then(() => pack(message)) : pack(message);
    if (!(packed instanceof Promise)) return this.#post(message, packed);
    const sending = packed.then(
      (value) => this.#post(message, value),
      (error: unknown) => {
        closePictures(message);
        throw error;
      },
    );
    const done = sending.catch(() => {});
    this.#sending = done;
    void done.then(() => {
      if (this.#sending === done) this.#sending = undefined;
    });
    return sending;
  }

  #post(message: Sent, packed: Packed): void {
    try {
      if (!this.#isClosed) this.#channel.postMessage(packed);
    } finally {
      closePictures(message);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#channel.close();
  }
}

/** Closes the pictures in a value that has been sent, or that nobody wants. */
export function closePictures(value: unknown): void {
  mapLeaves(value, (leaf) => {
    if (isFrame(leaf) || isBitmap(leaf)) leaf.close();
    return leaf;
  });
}

/** Returns a value with the pixels of its VideoFrames as they are in memory; at once, if it has none. */
function pack(value: unknown): Packed | Promise<Packed> {
  const found = new Map<VideoFrame, ArrayBuffer>();
  const packed = mapLeaves(value, (leaf) => {
    if (!isFrame(leaf)) return leaf;
    const placeholder = found.get(leaf) ?? new ArrayBuffer(0);
    found.set(leaf, placeholder);
    return placeholder;
  });
  if (found.size === 0) return { value };
  const reading = [...found].map(async ([frame, placeholder]) => [placeholder, await planesOf(frame)] as const);
  return Promise.all(reading).then((frames) => ({ value: packed, frames }));
}

/** Returns the value that was packed. */
function unpack({ value, frames }: Packed): unknown {
  if (!frames) return value;
  const made = new Map(frames.map(([placeholder, { data, init }]) => [placeholder, new VideoFrame(data, init)]));
  return mapLeaves(value, (leaf) => made.get(leaf as ArrayBuffer) ?? leaf);
}

/** Reads a frame's pixels: in the format that it has, or as RGBA if it is opaque (a frame on the GPU). */
async function planesOf(frame: VideoFrame): Promise<Planes> {
  const { format, visibleRect, timestamp, duration, displayWidth, displayHeight, colorSpace } = frame;
  const options: VideoFrameCopyToOptions = format === null ? { format: 'RGBA' } : {};
  const data = new ArrayBuffer(frame.allocationSize(options));
  const layout = await frame.copyTo(data, options);
  return {
    data,
    init: {
      format: format ?? 'RGBA',
      codedWidth: visibleRect!.width,
      codedHeight: visibleRect!.height,
      displayWidth,
      displayHeight,
      timestamp,
      ...(duration !== null && { duration }),
      layout,
      ...(format !== null && { colorSpace: colorSpace.toJSON() }),
      ...orientationOf(frame),
    },
  };
}

/**
 * Returns a frame's rotation and flip, which TypeScript's declarations do not have yet. In a browser without them they
 * are undefined, which the constructor of a frame ignores.
 */
function orientationOf(frame: VideoFrame): object {
  const { rotation, flip } = frame as { readonly rotation?: number; readonly flip?: boolean };
  return { rotation, flip };
}
