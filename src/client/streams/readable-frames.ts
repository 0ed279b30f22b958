import { describeValue } from '../../contract/describe-value.js';
import { messageOf, TabServeError } from '../../contract/errors.js';
import { isBitmap, isFrame } from '../requests/pictures.js';
import type { Frame, FrameSink, StartFrames } from './frame-source.js';

/** The most frames in a stream's queue that are closed when the stream is stopped. Sources of frames keep one or a few. */
const MOST_QUEUED = 32;

/**
 * Reads a stream of frames as fast as it delivers them: a camera does not wait. When it is stopped, the stream is canceled.
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
      for (let count = 0; count < MOST_QUEUED; count++)
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
    // A stream that always has another frame must not keep the page from everything else.
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
  try {
    (chunk as { close?: () => void } | undefined)?.close?.();
  } catch {
    // It is none of the browser's classes.
  }
}

function failed(cause: unknown): TabServeError {
  return new TabServeError('invalid-input', `The stream of frames failed: ${messageOf(cause)}`, { cause });
}
