import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import { abortError } from '../../shared/abort.js';
import { readOptions } from '../read-options.js';
import { checkedSignal } from '../requests/request-options.js';
import { listenToTrack } from './track-samples.js';

/** A piece of a live recording: one channel. It is an input of a handler of audio. */
export interface AudioChunk {
  readonly samples: Float32Array;
  readonly sampleRate: number;
  /** Samples that were lost before this piece, because nobody read for ten seconds. */
  readonly dropped: number;
}

/** What `audioChunks` takes beside the track. */
export interface AudioChunksOptions {
  /** Ends the loop with `aborted`. */
  readonly signal?: AbortSignal;
}

/** Seconds of the shortest piece: shorter ones wait, except for the last. */
const LEAST_SECONDS = 0.03;

/** Seconds that are kept for a reader that does not read. */
const MOST_SECONDS = 10;

/**
 * Yields what a live audio track records, in pieces without gaps, each with all that was recorded since the one before: a slow reader gets longer pieces. The mean of its channels, at the
 * track's own sample rate. It ends with the track, and with `break`, which leaves the track as it is. A muted track may yield silence, or nothing until it is unmuted.
 *
 * ```ts
 * const { speaking } = await sequence.predict(chunk); // in: for await (const chunk of audioChunks(track))
 * ```
 * @throws `invalid-input` if it is no audio track, or has ended; `unsupported` in a browser without Web Audio; `aborted`
 */
export async function* audioChunks(
  track: MediaStreamTrack,
  options: AudioChunksOptions = {},
): AsyncGenerator<AudioChunk, void, undefined> {
  const signal = checkedSignal(readOptions(options, 'an object as options', 'invalid-input').signal);
  checkTrack(track);
  if (signal?.aborted) throw abortError(signal);
  const buffer = new ChunkBuffer();
  const stop = listenToTrack(track, {
    onSamples: (samples, sampleRate) => buffer.add(samples, sampleRate),
    onEnd: (error) => buffer.end(error),
  });
  const abort = (): void => buffer.end(abortError(signal!), true);
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
  #parts: Float32Array[] = [];
  #length = 0;
  #dropped = 0;
  #sampleRate = 0;
  #end: { readonly error: TabServeError | undefined } | undefined;
  #wake = (): void => {};

  add(samples: Float32Array, sampleRate: number): void {
    if (this.#end) return;
    this.#sampleRate = sampleRate;
    this.#parts.push(samples);
    this.#length += samples.length;
    while (this.#length > MOST_SECONDS * sampleRate) {
      const { length } = this.#parts.shift()!;
      this.#length -= length;
      this.#dropped += length;
    }
    this.#wake();
  }

  /** @param now whether what was recorded is not read any more */
  end(error?: TabServeError, now = false): void {
    this.#end ??= { error };
    if (now) this.#clear();
    this.#wake();
  }

  /** Returns all that was recorded; undefined at the end. @throws the error that ended it */
  async take(): Promise<AudioChunk | undefined> {
    while (!this.#end && (this.#length === 0 || this.#length < LEAST_SECONDS * this.#sampleRate))
      await new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#length === 0) {
      if (this.#end?.error) throw this.#end.error;
      return undefined;
    }
    const samples = new Float32Array(this.#length);
    let at = 0;
    for (const part of this.#parts) {
      samples.set(part, at);
      at += part.length;
    }
    const chunk = { samples, sampleRate: this.#sampleRate, dropped: this.#dropped };
    this.#clear();
    return chunk;
  }

  #clear(): void {
    this.#parts = [];
    this.#length = this.#dropped = 0;
  }
}
