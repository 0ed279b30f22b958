import { mapLeaves } from '../requests/leaves.js';
import { isBitmap, isFrame } from '../requests/pictures.js';

/** The pixels of a VideoFrame, and what its constructor takes. */
interface Planes {
  readonly data: ArrayBuffer;
  readonly init: VideoFrameBufferInit;
}

/** A value that a BroadcastChannel can carry to another tab. A VideoFrame cannot go there, so an empty buffer stands in its place, which a structured clone keeps apart from all others. */
export interface Packed {
  readonly value: unknown;
  readonly frames?: readonly (readonly [stand: ArrayBuffer, Planes])[];
}

/** Returns a value with the pixels of its VideoFrames as they are in memory; at once, if it has none. */
export function pack(value: unknown): Packed | Promise<Packed> {
  const found = new Map<VideoFrame, ArrayBuffer>();
  const packed = mapLeaves(value, (leaf) => {
    if (!isFrame(leaf)) return leaf;
    const stand = found.get(leaf) ?? new ArrayBuffer(0);
    found.set(leaf, stand);
    return stand;
  });
  if (found.size === 0) return { value };
  return Promise.all([...found].map(async ([frame, stand]) => [stand, await planesOf(frame)] as const)).then(
    (frames) => ({ value: packed, frames }),
  );
}

/** Returns the value that was packed. */
export function unpack({ value, frames }: Packed): unknown {
  if (!frames) return value;
  const made = new Map(frames.map(([stand, { data, init }]) => [stand, new VideoFrame(data, init)]));
  return mapLeaves(value, (leaf) => made.get(leaf as ArrayBuffer) ?? leaf);
}

/** Closes the pictures in a value that has been sent, or that nobody wants. */
export function closePictures(value: unknown): void {
  mapLeaves(value, (leaf) => {
    if (isFrame(leaf) || isBitmap(leaf)) leaf.close();
    return leaf;
  });
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
      ...turnOf(frame),
    },
  };
}

/** TypeScript's declarations do not have a frame's rotation and flip yet. A browser without them has undefined, which its constructor takes as nothing. */
function turnOf(frame: VideoFrame): object {
  const { rotation, flip } = frame as { readonly rotation?: number; readonly flip?: boolean };
  return { rotation, flip };
}
