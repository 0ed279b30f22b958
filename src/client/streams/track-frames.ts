import { TabServeError } from '../../contract/errors.js';
import type { StartFrames } from './frame-source.js';
import { readableFrames } from './readable-frames.js';
import { videoFrames } from './video-frames.js';

/** Chromium's class, which TypeScript does not know. */
type Processor = new (options: { readonly track: MediaStreamTrack }) => { readonly readable: ReadableStream };

/**
 * Delivers the frames of a track of video, until it ends. The track goes on when the reader stops: it belongs to whoever made it.
 * @throws `invalid-input` if it is a track of sound, has ended or is muted
 */
export function trackFrames(track: MediaStreamTrack): StartFrames {
  const { kind, readyState, muted } = track;
  if (kind !== 'video') throw invalid(`The track is of the kind "${kind}". Pass a track of video.`);
  if (readyState === 'ended') throw invalid('The track has ended: it delivers no more frames. Start the camera again.');
  if (muted)
    throw invalid('The track is muted: its source delivers no frames now. Wait for the event "unmute" of the track.');
  const Processor = (globalThis as { MediaStreamTrackProcessor?: Processor }).MediaStreamTrackProcessor;
  return Processor ? (sink) => readableFrames(new Processor({ track }).readable)(sink) : throughVideo(track);
}

/** Firefox and Safari have no MediaStreamTrackProcessor on a page: there a `<video>` that nobody sees plays the track. */
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
    // What keeps it from playing, such as the end of the track, ends the frames by itself.
    video.play().catch(() => {});
    return () => {
      listening.abort();
      stopVideo();
      video.srcObject = null;
    };
  };
}

function invalid(message: string): TabServeError {
  return new TabServeError('invalid-input', message);
}
