/** What an app does with sound that a handler has made. */
import { unlessAborted } from '../../shared/abort.js';
import type { Samples } from '../../shared/wav.js';
import type { SpokenAudio } from '../../worker/outputs/spoken-text.js';

/** Returns sound as an `AudioBuffer` of Web Audio. @param context any context, also an offline one */
export function toAudioBuffer(
  { samples, sampleRate }: Samples,
  context: Pick<BaseAudioContext, 'createBuffer'>,
): AudioBuffer {
  const buffer = context.createBuffer(1, samples.length, sampleRate);
  buffer.copyToChannel(samples as Float32Array<ArrayBuffer>, 0);
  return buffer;
}

/** The options of `playSpeech`. */
export interface PlaySpeechOptions {
  /** Where it is played. @default a new one, which is closed at the end */
  readonly context?: AudioContext;
  /** Stops it. */
  readonly signal?: AbortSignal;
}

/**
 * Plays a spoken answer, part by part as `client.stream` yields them: each part begins where the one before ends.
 * Browsers let a page play sound after a click. Resolves when all has been heard.
 *
 * ```ts
 * button.onclick = () => playSpeech(client.stream('Hello there. How are you?'));
 * ```
 * @throws `aborted` by the signal, and what the stream throws
 */
export async function playSpeech(
  parts: AsyncIterable<SpokenAudio>,
  { context: given, signal }: PlaySpeechOptions = {},
): Promise<void> {
  const context = given ?? new AudioContext();
  const sources = new Set<AudioBufferSourceNode>();
  let [count, end] = [0, 0];
  let heard: Promise<void> = Promise.resolve();
  const play = async (): Promise<void> => {
    await context.resume();
    for await (const { audio, parts: own } of parts) {
      if (signal?.aborted) return;
      // The last item of a stream is the whole: it begins where its first part did.
      if (Math.round((own[0]?.start ?? 0) * audio.sampleRate) < count) continue;
      const source = context.createBufferSource();
      source.buffer = toAudioBuffer(audio, context);
      source.connect(context.destination);
      sources.add(source);
      heard = new Promise((resolve) => source.addEventListener('ended', () => resolve()));
      const start = Math.max(context.currentTime, end);
      source.start(start);
      end = start + source.buffer.duration;
      count += audio.samples.length;
    }
    await heard;
  };
  try {
    await unlessAborted(play(), signal);
  } finally {
    if (signal?.aborted) for (const source of sources) source.stop();
    if (!given) await context.close();
  }
}
