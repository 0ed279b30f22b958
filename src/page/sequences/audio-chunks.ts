import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import { streamAbortError } from '../../shared/abort.js';
import { readCallOptions } from '../../shared/read-options.js';
import { checkedSignal } from '../requests/request-options.js';
import { listenToTrack } from './track-samples.js';

/** A segment of a live recording: one channel. It is an input of a handler of audio. */
export interface AudioChunk {
  readonly samples: Float32Array;
  readonly sampleRate: number;
  /** Samples that were lost before this segment, because nobody read for ten seconds. */
  readonly dropped: number;
}

/** What `audioChunks` takes in addition to the track. */
export interface AudioChunksOptions {
  /** Ends the loop with `aborted`. */
  readonly signal?: AbortSignal;
}

/** Seconds of the shortest segment: shorter ones wait, except for the last. */
const MIN_SECONDS = 0.03;

/** Seconds that are buffered for a reader that does not read. */
const MAX_SECONDS = 10;

/**
 * Yields what a live audio track records, in segments without gaps. Each has everything that was recorded since the one
 * before, so a slow reader gets longer segments. A segment is the mean of the channels, at the track's own sample rate.
 * If the track changes its rate, as with another microphone, a segment ends there. It ends with the track, and with
 * `break`, which leaves the track as it is. A muted track may yield silence, or nothing until it is unmuted.
 *
 * ```ts
 * const { speaking } = await sequence.predict(chunk); // in: for await (const chunk of audioChunks(track))
 * ```
 * @throws `invalid-input` if it is no audio track, or has ended; `unsupported` in a browser without Web Audio;
 *   `aborted`
 */
export async function* audioChunks(
  track: MediaStreamTrack,
  options: AudioChunksOptions = {},
): AsyncGenerator<AudioChunk, void, undefined> {
  const signal = checkedSignal(readCallOptions(options, 'audioChunks', ['signal']).signal);
  checkTrack(track);
  if (signal?.aborted) throw streamAbortError(signal);
  const buffer = new ChunkBuffer();
  const stop = listenToTrack(track, {
    onSamples: (samples, sampleRate) => buffer.add(samples, sampleRate),
    onEnd: (error) => buffer.end(error),
  });
  const abort = (): void => buffer.end(streamAbortError(signal!), true);
  signal?.addEventListener('abort', abort);
  try {
    for (let chunk = await buffer.take(); chunk; chunk = await buffer.take()) yield chunk;
  } finally {
    signal?.removeEventListener('abort', abort);
    stop();
  }
}

/** @throws `invalid-input` */
function checkTrack(track: MediaStreamTrack): void {
  const { kind, readyState } = (typeof track === 'object' && track !== null ? track : {}) as Partial<MediaStreamTrack>;
  if (kind === undefined || readyState === undefined)
    throw new TabServeError(
      'invalid-input',
      `Expected an audio track, such as stream.getAudioTracks()[0], got ${describeValue(track)}.`,
    );
  if (kind !== 'audio')
    throw new TabServeError(
      'invalid-input',
      `Expected an audio track, got one of ${kind}. For video use client.frames(track).`,
    );
  if (readyState === 'ended')
    throw new TabServeError('invalid-input', 'The audio track has ended. Get another one with getUserMedia().');
}

/** Samples that were recorded and not read yet. */
class ChunkBuffer {
  #parts: Omit<AudioChunk, 'dropped'>[] = [];
  #dropped = 0;
  #end: { readonly error: TabServeError | undefined } | undefined;
  #wake = (): void => {};

  add(samples: Float32Array, sampleRate: number): void {
    if (this.#end) return;
    this.#parts.push({ samples, sampleRate });
    while (secondsOf(this.#parts) > MAX_SECONDS) this.#dropped += this.#parts.shift()!.samples.length;
    this.#wake();
  }

  /** @param now whether to stop without reading what was recorded */
  end(error?: TabServeError, now = false): void {
    this.#end ??= { error };
    if (now) this.#parts = [];
    this.#wake();
  }

  /**
   * Returns all that was recorded, up to a change of the sample rate; undefined at the end.
   * @throws the error that ended it
   */
  async take(): Promise<AudioChunk | undefined> {
    while (!this.#end && secondsOf(this.#parts) < MIN_SECONDS)
      await new Promise<void>((resolve) => (this.#wake = resolve));
    const [first] = this.#parts;
    if (!first) {
      if (this.#end?.error) throw this.#end.error;
      return undefined;
    }
    const { sampleRate } = first;
    const change = this.#parts.findIndex((part) => part.sampleRate !== sampleRate);
    const taken = this.#parts.splice(0, change < 0 ? this.#parts.length : change);
    const samples = new Float32Array(taken.reduce((sum, part) => sum + part.samples.length, 0));
    let at = 0;
    for (const part of taken) {
      samples.set(part.samples, at);
      at += part.samples.length;
    }
    const chunk = { samples, sampleRate, dropped: this.#dropped };
    this.#dropped = 0;
    return chunk;
  }
}

function secondsOf(parts: readonly Omit<AudioChunk, 'dropped'>[]): number {
  return parts.reduce((sum, { samples, sampleRate }) => sum + samples.length / sampleRate, 0);
}
