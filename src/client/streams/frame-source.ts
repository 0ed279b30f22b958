/** What `client.frames` takes, as something that delivers frames. */
import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import type { Picture } from '../requests/pictures.js';
import { readableFrames } from './readable-frames.js';
import { trackFrames } from './track-frames.js';
import { videoFrames } from './video-frames.js';

/**
 * Where `client.frames` takes its frames from: a `<video>`, playing whatever it plays; a track of video, such as a camera's, or a MediaStream that has
 * one; or a ReadableStream of frames or bitmaps.
 */
export type FrameSource = HTMLVideoElement | MediaStreamTrack | MediaStream | ReadableStream<VideoFrame | ImageBitmap>;

/** A frame that a source has delivered. Whoever has it closes its picture. */
export interface Frame {
  readonly picture: Picture;
  /** In microseconds. */
  readonly timestamp: number;
}

/** Takes what a source delivers. */
export interface FrameSink {
  frame(frame: Frame): void;
  /** The source has ended; with an error, if it cannot go on. */
  end(error?: TabServeError): void;
}

/** Starts a source. Returns a function that stops it: then nothing more is delivered. */
export type StartFrames = (sink: FrameSink) => () => void;

/** Checks a source. @throws `invalid-input` if it can deliver no frames; `unsupported` if this browser cannot deliver its frames */
export function readSource(source: unknown): StartFrames {
  if (isA('HTMLVideoElement', source)) return videoFrames(source as HTMLVideoElement);
  if (isA('ReadableStream', source)) return readableFrames(source as ReadableStream);
  if (isA('MediaStreamTrack', source)) return trackFrames(source as MediaStreamTrack);
  if (isA('MediaStream', source)) return trackFrames(trackOf(source as MediaStream));
  throw new TabServeError(
    'invalid-input',
    `frames expects a <video>, a MediaStreamTrack, a MediaStream, or a ReadableStream of VideoFrames or ImageBitmaps, got ${describeValue(source)}.`,
  );
}

function trackOf(stream: MediaStream): MediaStreamTrack {
  const [track] = stream.getVideoTracks();
  if (track) return track;
  throw new TabServeError(
    'invalid-input',
    'The MediaStream has no video track. Ask for video, as in getUserMedia({ video: true }).',
  );
}

/** Returns whether a value is of one of the browser's classes. Not every environment has each of them. */
function isA(
  name: 'HTMLVideoElement' | 'MediaStream' | 'MediaStreamTrack' | 'ReadableStream',
  value: unknown,
): boolean {
  try {
    const known = globalThis[name] as unknown;
    return typeof known === 'function' && value instanceof known;
  } catch {
    // A proxy may throw at any look.
    return false;
  }
}
