import type { Handler } from '../../contract/handler.js';
import type { InputOf } from '../../contract/handler-types.js';
import type { FrameSettings } from '../../contract/settings.js';
/** What `client.frames` takes, as something that delivers frames. */
import { describeValue } from '../../contract/describe-value.js';
import { invalidInput, messageOf, TabServeError } from '../../contract/errors.js';
import { isA } from '../../shared/is-a.js';
import { type Picture, isBitmap, isFrame } from '../requests/pictures.js';
import { videoFrames } from './video-frames.js';

/**
 * Where `client.frames` takes its frames from: a `<video>`, whatever its source; a video track, such as a
 * camera's, or a MediaStream that has one; or a ReadableStream of frames or bitmaps.
 */
export type FrameSource = HTMLVideoElement | MediaStreamTrack | MediaStream | ReadableStream<VideoFrame | ImageBitmap>;

/** The source that a page may pass to `frames`; `never` unless the handler takes a frame as its input. */
export type ClientFrames<H extends Handler> = [InputOf<H>] extends [never]
  ? FrameSource
  : VideoFrame extends InputOf<H>
    ? FrameSource
    : never;

/** What `frames` takes in addition to the source. */
export interface FramesOptions<Params extends object = object> extends FrameSettings {
  /** Ends the stream with `aborted`. */
  readonly signal?: AbortSignal;
  /** Parameters of the handler for every frame, e.g. `{ topK: 3 }`. */
  readonly params?: Params;
}

/** A frame that a source has delivered. Whoever has it closes its picture. */
export interface Frame {
  readonly picture: Picture;
  /** In microseconds. */
  readonly timestamp: number;
}

/** Takes what a source delivers. */
export interface FrameSink {
  frame(frame: Frame): void;
  /** Reports that the source has ended; with an error, if it cannot continue. */
  end(error?: TabServeError): void;
}

/** Starts a source. Returns a function that stops it: then nothing more is delivered. */
export type StartFrames = (sink: FrameSink) => () => void;

/**
 * Checks a source.
 * @throws `invalid-input` if it can deliver no frames; `unsupported` if this browser cannot deliver its frames
 */
export function readSource(source: unknown): StartFrames {
  if (isA('HTMLVideoElement', source)) return videoFrames(source);
  if (isA('ReadableStream', source)) return readableFrames(source);
  if (isA('MediaStreamTrack', source)) return trackFrames(source);
  if (isA('MediaStream', source)) return trackFrames(trackOf(source));
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

/**
 * The limit for the frames in a stream's queue that are closed when the stream is stopped. Sources of frames buffer one
 * or a few.
 */
const MAX_QUEUED = 32;

/**
 * Reads a stream of frames as fast as it delivers them: a camera does not wait. When it is stopped, the stream is
 * canceled.
 * @throws `invalid-input` if another reader has locked it
 */
export function readableFrames(stream: ReadableStream<unknown>): StartFrames {
  if (stream.locked)
    throw new TabServeError(
      'invalid-input',
      'The ReadableStream is locked: something else reads it. Pass a stream that nobody reads.',
    );
  return (sink) => {
    const reader = stream.getReader();
    let stopped = false;
    const stop = (): void => {
      stopped = true;
      // Frames that wait in the stream's queue would be thrown away, but not closed.
      for (let count = 0; count < MAX_QUEUED; count++)
        reader.read().then(
          ({ value }) => close(value),
          () => {},
        );
      reader.cancel().catch(() => {});
    };
    void deliver(reader, sink, () => stopped).catch((cause: unknown) => {
      if (stopped) return;
      stop();
      sink.end(cause instanceof TabServeError ? cause : failed(cause));
    });
    return stop;
  };
}

async function deliver(
  reader: ReadableStreamDefaultReader<unknown>,
  sink: FrameSink,
  isStopped: () => boolean,
): Promise<void> {
  for (;;) {
    const { done, value } = await reader.read();
    if (isStopped()) return close(value);
    if (done) return sink.end();
    sink.frame(frameOf(value));
    // A stream that always has another frame must not block the page.
    await new Promise((resolve) => setTimeout(resolve));
    if (isStopped()) return;
  }
}

/** @throws `invalid-input` */
function frameOf(chunk: unknown): Frame {
  if (isFrame(chunk) && chunk.codedWidth > 0) return { picture: chunk, timestamp: chunk.timestamp };
  if (isBitmap(chunk) && chunk.width > 0) return { picture: chunk, timestamp: Math.round(performance.now() * 1000) };
  close(chunk);
  const got = isFrame(chunk)
    ? 'a VideoFrame that has been closed'
    : isBitmap(chunk)
      ? 'an ImageBitmap that has been closed'
      : describeValue(chunk);
  throw new TabServeError('invalid-input', `Expected a stream of VideoFrames or ImageBitmaps, got ${got}.`);
}

function close(chunk: unknown): void {
  (chunk as { close?: () => void } | undefined | null)?.close?.();
}

function failed(cause: unknown): TabServeError {
  return new TabServeError('invalid-input', `The stream of frames failed: ${messageOf(cause)}`, { cause });
}

/** Chromium's class, which TypeScript does not know. */
type Processor = new (options: { readonly track: MediaStreamTrack }) => { readonly readable: ReadableStream };

/**
 * Delivers the frames of a track of video, until it ends. The track goes on when the reader stops: it belongs to
 * whoever made it.
 * @throws `invalid-input` if it is a track of sound, has ended or is muted
 */
export function trackFrames(track: MediaStreamTrack): StartFrames {
  const { kind, readyState, muted } = track;
  if (kind !== 'video') throw invalidInput(`The track is of the kind "${kind}". Pass a track of video.`);
  if (readyState === 'ended')
    throw invalidInput('The track has ended: it delivers no more frames. Start the camera again.');
  if (muted)
    throw invalidInput(
      'The track is muted: its source delivers no frames now. Wait for the event "unmute" of the track.',
    );
  const Processor = (globalThis as { MediaStreamTrackProcessor?: Processor }).MediaStreamTrackProcessor;
  return Processor ? (sink) => readableFrames(new Processor({ track }).readable)(sink) : throughVideo(track);
}

/** Plays the track in a hidden `<video>`: Firefox and Safari have no MediaStreamTrackProcessor on a page. */
function throughVideo(track: MediaStreamTrack): StartFrames {
  const video = document.createElement('video');
  video.muted = true;
  video.playsInline = true;
  video.srcObject = new MediaStream([track]);
  const start = videoFrames(video);
  return (sink) => {
    const listening = new AbortController();
    const stopVideo = start(sink);
    track.addEventListener('ended', () => sink.end(), { signal: listening.signal });
    // Whatever prevents it from playing, such as the end of the track, also ends the frames.
    video.play().catch(() => {});
    return () => {
      listening.abort();
      stopVideo();
      video.srcObject = null;
    };
  };
}
