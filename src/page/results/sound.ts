/** What an app does with sound that a handler has made. */
import { TabServeError } from '../../contract/errors.js';
import { unlessAborted } from '../../shared/abort.js';
import type { Samples } from '../../shared/wav.js';
import type { SpokenAudio } from '../../contract/spoken-text.js';

/**
 * Returns sound as an `AudioBuffer` of Web Audio.
 * @param context any context, also an offline one
 * @throws `unsupported` for sound that the browser does not play: of a rate below 3,000, or without a sample
 */
export function toAudioBuffer(
  { samples, sampleRate }: Samples,
  context: Pick<BaseAudioContext, 'createBuffer'>,
): AudioBuffer {
  const buffer = bufferFor(samples.length, sampleRate, context);
  buffer.copyToChannel(samples as Float32Array<ArrayBuffer>, 0);
  return buffer;
}

function bufferFor(length: number, sampleRate: number, context: Pick<BaseAudioContext, 'createBuffer'>): AudioBuffer {
  try {
    return context.createBuffer(1, length, sampleRate);
  } catch (cause) {
    throw new TabServeError(
      'unsupported',
      `The browser plays no sound of ${length} samples at ${sampleRate} Hz. It needs one sample or more, and 3,000 to 768,000 a second: resample it, or store it with toWav.`,
      { cause },
    );
  }
}

/** Milliseconds in which a context starts that may. Before the first click, a browser that plays nothing never says so. */
const START_MS = 1_000;

/** Starts a context. @throws `unsupported` if it does not start, because nobody has clicked yet */
async function resumed(context: AudioContext): Promise<void> {
  if (globalThis.navigator?.userActivation?.hasBeenActive !== false) return await context.resume();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const refused = new Promise<never>((_, reject) => {
    const message = 'The browser plays no sound before the first click or key on the page. Call it when one has come.';
    timer = setTimeout(() => reject(new TabServeError('unsupported', message)), START_MS);
  });
  await Promise.race([context.resume(), refused]).finally(() => clearTimeout(timer));
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
 * @throws `unsupported` if the browser plays nothing before the first click, and as `toAudioBuffer` does; `aborted` by the signal, and what the stream
 *   throws
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
    await resumed(context);
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
