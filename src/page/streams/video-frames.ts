import { asTabServeError, TabServeError } from '../../contract/errors.js';
import { isFrame, isNotShownYet, pictureOf, type Picture } from '../requests/pictures.js';
import type { StartFrames } from './frame-source.js';

/**
 * Delivers each frame that a `<video>` shows, beginning with the one that it shows already, until the video ends. While
 * it loads, is paused or is hidden, there are no frames. Times only decrease if the video seeks, loops or plays
 * backwards, or if a stream has another track.
 * @throws `invalid-input` if it has no source, or cannot play it; `unsupported` in a browser that does not tell when
 *   a video shows a frame
 */
export function videoFrames(video: HTMLVideoElement): StartFrames {
  if (typeof video.requestVideoFrameCallback !== 'function')
    throw new TabServeError(
      'unsupported',
      'This browser has no requestVideoFrameCallback. Pass a ReadableStream of frames.',
    );
  if (video.error) throw unplayable(video);
  if (!video.srcObject && video.networkState === HTMLMediaElement.NETWORK_EMPTY)
    throw new TabServeError('invalid-input', 'The <video> has no source. Set its src or srcObject first.');
  return (sink) => {
    const listening = new AbortController();
    const on = { signal: listening.signal };
    let callback = 0;
    let grabbing = false;
    /** Whether it has begun to seek since the last frame. */
    let hasSought = false;
    /** Whether the next frame may have an earlier time: it has sought, and no frame came after it arrived. */
    let mayGoBack = false;
    /** Frames in a row that could not be read. */
    let unreadable = 0;
    /** The time of the last frame in microseconds; NaN if that is not known, or there was none. */
    let last = NaN;
    /**
     * Whether `last` is the position in the video: the frame that is shown there has the same time or an earlier one.
     */
    let isPosition = false;
    const grab = async (mediaTime?: number): Promise<void> => {
      // Making a bitmap takes time in browsers without VideoFrame.
      if (grabbing || video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return;
      grabbing = true;
      const { currentTime } = video;
      try {
        const picture = (await pictureOf(video))!;
        const own = ownTime(picture, currentTime, mediaTime === undefined);
        const timestamp = own ?? Math.round((mediaTime ?? currentTime) * 1e6);
        // The first callback may be for the frame that was read already. A callback that comes late reads the next
        // frame, whose own callback follows. Under load, a callback of Firefox may tell the time of a later frame; a
        // frame's own time is right.
        const isForward = own === undefined && !mayGoBack && !video.loop && video.playbackRate >= 0;
        const isKnown = timestamp === last || (timestamp < last && (isPosition || isForward));
        if (isKnown || listening.signal.aborted) picture.close();
        else {
          sink.frame({ picture, timestamp });
          // A callback while the video seeks is for the frame that it seeks to.
          hasSought = video.seeking && mediaTime === undefined;
          // But it may be late, for one that was shown before.
          mayGoBack = video.seeking;
        }
        isPosition = own === undefined && mediaTime === undefined;
        // While a video seeks, its position is not that of the frame that it still shows.
        last = isPosition && video.seeking ? NaN : timestamp;
        unreadable = 0;
      } catch (error) {
        // Under load, Chromium calls back before a frame can be read. For a paused video of a MediaStream it calls back
        // too, and no frame can be read.
        const isEarly = isNotShownYet(error) && (video.paused || ++unreadable <= MAX_UNREADABLE);
        if (!isEarly && !listening.signal.aborted) sink.end(asTabServeError(error));
      } finally {
        grabbing = false;
      }
    };
    const shown = (_now: number, { mediaTime }: VideoFrameCallbackMetadata): void => {
      // The empty frame of a camera that was stopped may come before `suspend`.
      if (isStopped(video)) return sink.end();
      callback = video.requestVideoFrameCallback(shown);
      void grab(mediaTime);
    };
    callback = video.requestVideoFrameCallback(shown);
    // The callback for a video's first frame may come before the frame can be read; if the video is paused, there is no
    // other.
    for (const type of ['loadeddata', 'canplay'])
      video.addEventListener(type, () => Number.isNaN(last) && void grab(), on);
    // After a seek, a frame with an earlier time is a new frame.
    const seeking = (): void => {
      hasSought = mayGoBack = true;
      if (isPosition) last = NaN;
    };
    video.addEventListener('seeking', seeking, on);
    // Firefox has no callback for some seeks of a paused video, or one with the time of the frame before.
    video.addEventListener('seeked', () => video.paused && hasSought && void grab(), on);
    video.addEventListener('ended', () => sink.end(), on);
    // When a video's camera is stopped, Chromium fires no `ended`, but `suspend`, and then shows an empty frame.
    video.addEventListener('suspend', () => isStopped(video) && sink.end(), on);
    const emptied = (): void => {
      last = NaN;
      if (hasLostSource(video)) sink.end();
    };
    video.addEventListener('emptied', emptied, on);
    video.addEventListener('error', () => sink.end(unplayable(video)), on);
    void grab().then(() => (video.ended || isStopped(video)) && !listening.signal.aborted && sink.end());
    return () => {
      listening.abort();
      video.cancelVideoFrameCallback(callback);
    };
  };
}

/** Returns whether the page has removed its source. With another source, it continues. */
function hasLostSource(video: HTMLVideoElement): boolean {
  return !video.srcObject && !video.hasAttribute('src') && !video.querySelector('source');
}

/** Returns whether it shows a MediaStream that has ended. */
function isStopped({ srcObject }: HTMLVideoElement): boolean {
  return (srcObject as Partial<MediaStream> | null)?.active === false;
}

/** The limit for frames in a row that cannot be read while the video plays. One more ends the stream with the error. */
const MAX_UNREADABLE = 10;

/** In its first milliseconds, a video shows its first frame. */
const FIRST_FRAME_S = 0.03;

/**
 * Returns the time that a frame itself has, in microseconds; undefined for a bitmap, and if the VideoFrame's timestamp
 * may be something else: Firefox 153 sets it to the whole seconds of `currentTime`, such as 7 for a frame at 7.5
 * seconds, or 0 for every frame of the first second.
 * @param currentTime of the video, in seconds. A true timestamp is a greater number, except that of a video's first
 *   frame, 0.
 * @param isOnly whether no callback tells the frame's time either
 */
function ownTime(picture: Picture, currentTime: number, isOnly: boolean): number | undefined {
  if (!isFrame(picture)) return undefined;
  if (picture.timestamp > currentTime + 1) return picture.timestamp;
  return isOnly && picture.timestamp === 0 && currentTime < FIRST_FRAME_S ? 0 : undefined;
}

function unplayable({ error }: HTMLVideoElement): TabServeError {
  const why = error?.message || `MediaError ${error?.code ?? ''}`.trim();
  return new TabServeError('invalid-input', `The <video> cannot be played: ${why}`, { cause: error });
}
