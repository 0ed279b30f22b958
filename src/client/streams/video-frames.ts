import { asTabServeError, TabServeError } from '../../contract/errors.js';
import { pictureOf } from '../requests/pictures.js';
import type { StartFrames } from './frame-source.js';

/**
 * Delivers each frame that a `<video>` shows, the one that it shows already first, until the video ends. While it loads, is paused or is hidden, there
 * are no frames.
 * @throws `invalid-input` if it has no source, or cannot play it; `unsupported` in a browser that does not tell when a video shows a frame
 */
export function videoFrames(video: HTMLVideoElement): StartFrames {
  if (typeof video.requestVideoFrameCallback !== 'function')
    throw new TabServeError(
      'unsupported',
      'This browser has no requestVideoFrameCallback, which tells when a <video> shows a frame. Pass a ReadableStream of frames.',
    );
  if (video.error) throw unplayable(video);
  if (!video.srcObject && video.networkState === HTMLMediaElement.NETWORK_EMPTY)
    throw new TabServeError('invalid-input', 'The <video> has no source. Set its src or srcObject first.');
  return (sink) => {
    const listening = new AbortController();
    const on = { signal: listening.signal };
    let callback = 0;
    let grabbing = false;
    /** The time of the last frame. The first callback may be for the frame that was shown already. */
    let last = NaN;
    // Firefox gives each VideoFrame of a MediaStream the timestamp 0.
    const grab = async (seconds: number): Promise<void> => {
      // Making a bitmap takes time in browsers without VideoFrame.
      if (grabbing || video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return;
      grabbing = true;
      try {
        const picture = (await pictureOf(video))!;
        if (listening.signal.aborted) picture.close();
        else sink.frame({ picture, timestamp: Math.round(seconds * 1e6) });
        last = seconds;
      } catch (error) {
        if (!listening.signal.aborted) sink.end(asTabServeError(error));
      } finally {
        grabbing = false;
      }
    };
    const shown = (_now: number, { mediaTime }: VideoFrameCallbackMetadata): void => {
      callback = video.requestVideoFrameCallback(shown);
      if (mediaTime !== last) void grab(mediaTime);
    };
    callback = video.requestVideoFrameCallback(shown);
    // The callback for a video's first frame may come before the frame can be read; if the video is paused, there is no other.
    video.addEventListener('loadeddata', () => Number.isNaN(last) && void grab(video.currentTime), on);
    video.addEventListener('ended', () => sink.end(), on);
    video.addEventListener('error', () => sink.end(unplayable(video)), on);
    void grab(video.currentTime).then(() => video.ended && !listening.signal.aborted && sink.end());
    return () => {
      listening.abort();
      video.cancelVideoFrameCallback(callback);
    };
  };
}

function unplayable({ error }: HTMLVideoElement): TabServeError {
  const why = error?.message || `MediaError ${error?.code ?? ''}`.trim();
  return new TabServeError('invalid-input', `The <video> cannot be played: ${why}`, { cause: error });
}
