/**
 * The samples of a live track, as the browser has them: with MediaStreamTrackProcessor where it takes audio (Chromium),
 * otherwise with a ScriptProcessorNode. The latter is deprecated, but needs no module: an AudioWorklet's would be a
 * file that each bundler must copy, and that a Content-Security-Policy must allow.
 */
import { messageOf, TabServeError } from '../../contract/errors.js';

export interface TrackListener {
  /** Called with the mean of the channels. */
  readonly onSamples: (samples: Float32Array, sampleRate: number) => void;
  /** Called once, when the track has ended. */
  readonly onEnd: (error?: TabServeError) => void;
}

/** What lib.dom lacks: https://www.w3.org/TR/mediacapture-transform/. */
type Processor = new (init: { readonly track: MediaStreamTrack }) => { readonly readable: ReadableStream<AudioData> };

/** Samples that a ScriptProcessorNode gives at once: 46 ms at 44.1 kHz. */
const BLOCK = 2048;

/**
 * Listens to a track. Returns a function that stops listening; the track continues.
 * @throws `unsupported` if the browser has neither way
 */
export function listenToTrack(track: MediaStreamTrack, listener: TrackListener): () => void {
  const { MediaStreamTrackProcessor, AudioContext } = globalThis as unknown as {
    readonly MediaStreamTrackProcessor?: Processor;
    readonly AudioContext?: new () => AudioContext;
  };
  if (MediaStreamTrackProcessor) {
    try {
      return read(new MediaStreamTrackProcessor({ track }).readable.getReader(), listener);
    } catch {
      // This browser's processor takes only video.
    }
  }
  if (AudioContext) return throughAudioContext(AudioContext, track, listener);
  throw new TabServeError(
    'unsupported',
    'This browser cannot read the samples of a MediaStreamTrack: it has no Web Audio. Record pieces, and pass them as samples.',
  );
}

/** @throws `invalid-input` if Web Audio does not take the track; its context is closed then */
function throughAudioContext(
  Context: new () => AudioContext,
  track: MediaStreamTrack,
  listener: TrackListener,
): () => void {
  let context: AudioContext | undefined;
  try {
    context = new Context();
    return process(context, track, listener);
  } catch (cause) {
    void context?.close();
    throw new TabServeError('invalid-input', `The audio track cannot be read: ${messageOf(cause)}`, { cause });
  }
}

function read(reader: ReadableStreamDefaultReader<AudioData>, { onSamples, onEnd }: TrackListener): () => void {
  let stopped = false;
  const next = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || stopped) {
        value?.close();
        return;
      }
      try {
        onSamples(meanOf(value), value.sampleRate);
      } finally {
        value.close();
      }
    }
  };
  next().then(
    () => onEnd(),
    (cause: unknown) => onEnd(new TabServeError('invalid-input', 'The audio track could not be read on.', { cause })),
  );
  return () => {
    stopped = true;
    void reader.cancel().catch(() => {});
  };
}

function meanOf(data: AudioData): Float32Array {
  const channels = Array.from({ length: data.numberOfChannels }, (_, planeIndex) => {
    const channel = new Float32Array(data.numberOfFrames);
    data.copyTo(channel, { planeIndex, format: 'f32-planar' });
    return channel;
  });
  return meanOfChannels(channels);
}

function process(context: AudioContext, track: MediaStreamTrack, { onSamples, onEnd }: TrackListener): () => void {
  const source = context.createMediaStreamSource(new MediaStream([track]));
  const node = context.createScriptProcessor(BLOCK, 2, 1);
  let ended = false;
  const stop = (): void => {
    if (ended) return;
    ended = true;
    track.removeEventListener('ended', stop);
    source.disconnect();
    node.disconnect();
    void context.close();
    onEnd();
  };
  node.onaudioprocess = ({ inputBuffer }) => {
    // A track that the page itself has stopped sends no event.
    if (track.readyState === 'ended') return stop();
    const { numberOfChannels, sampleRate } = inputBuffer;
    const channels = Array.from({ length: numberOfChannels }, (_, index) => inputBuffer.getChannelData(index));
    onSamples(meanOfChannels(channels), sampleRate);
  };
  track.addEventListener('ended', stop);
  source.connect(node);
  // The node runs only if it has an output. It writes nothing, so nothing is heard.
  node.connect(context.destination);
  // A context may be suspended until the visitor clicks on the page.
  context.resume().catch(() => {});
  return stop;
}

/** Returns the mean of channels of equal length, as a list of its own. */
function meanOfChannels(channels: readonly Float32Array[]): Float32Array {
  return channels[0]!.map((_, index) => channels.reduce((sum, channel) => sum + channel[index]!, 0) / channels.length);
}
