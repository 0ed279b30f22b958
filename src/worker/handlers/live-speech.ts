/** Speech recognition of a live recording, piece by piece. */
import type { AudioInput } from '../../contract/audio.js';
import type { SpokenPart, SpokenText } from '../../contract/spoken-text.js';
import { concatenate } from '../tensors/concatenate.js';
import { agree, NO_WORDS, settle, type HeardWord, type WordsState } from '../outputs/live-words.js';
import { readPiece, type LiveSamples } from '../audio/live-samples.js';

/** What one piece of a sequence adds to a transcript. */
export interface LiveText {
  /** The words that are final now: no later answer changes them. These texts, one after another, are the transcript. */
  readonly final: Required<SpokenText>;
  /** The words after them, which the next answer may change. */
  readonly interim: Required<SpokenText>;
}

/** The state of a sequence. */
interface LiveState extends LiveSamples, WordsState {
  /** The sound that is heard again, at the model's sample rate. */
  readonly samples: Float32Array;
  /** How many samples were before it. */
  readonly offset: number;
  /** How many of `samples` the last hypothesis has heard. */
  readonly heard: number;
}

/** What the handler says of a piece. */
export interface LiveOptions {
  /** The model's sample rate. */
  readonly sampleRate: number;
  /** The most samples that are heard again. From half of it on, the sound is cut where its words are final. */
  readonly most: number;
  /** The fewest samples that the model takes. */
  readonly least: number;
  /** The most seconds of a piece. */
  readonly maxDuration: number;
  /** Whether all words become final. */
  readonly finalize: boolean;
}

/** Seconds of new sound that are worth another hypothesis. */
const NEW_SECONDS = 1;

/** A piece of a live recording, with the sound before it that is heard again. */
export class LivePiece {
  readonly #before: LiveState;
  readonly #options: LiveOptions;

  private constructor(before: LiveState, options: LiveOptions) {
    this.#before = before;
    this.#options = options;
  }

  /** @param state of the sequence: what `answer` has returned for the piece before @throws `invalid-input` */
  static async read(input: AudioInput, state: unknown, options: LiveOptions): Promise<LivePiece> {
    const before = state as LiveState | undefined;
    const { sampleRate: rate, maxDuration: most } = options;
    const { samples, live } = await readPiece(input, before, { rate, step: 1, most });
    const { offset, heard, final, interim } = before ?? { offset: 0, heard: 0, ...NO_WORDS };
    const all = before ? concatenate([before.samples, samples]) : samples;
    return new LivePiece({ ...live, samples: all, offset, heard, final, interim }, options);
  }

  /** The sound to hear now; none if there is too little new. */
  get samples(): Float32Array {
    const { samples, heard } = this.#before;
    const { sampleRate, least, finalize } = this.#options;
    const isDue = samples.length - heard >= (finalize ? 1 : NEW_SECONDS * sampleRate) && samples.length >= least;
    return isDue ? samples : new Float32Array(0);
  }

  /**
   * Returns the answer to the piece, and the sequence's new state.
   * @param hypothesis the words of `samples`, in seconds since its start; undefined if nothing was heard
   */
  answer(hypothesis: readonly HeardWord[] | undefined): { readonly result: LiveText; readonly state: unknown } {
    const before = this.#before;
    const start = before.offset / this.#options.sampleRate;
    const heard = hypothesis?.map((word) => ({ ...word, start: start + word.start, end: start + word.end }));
    const { words, cut, gone } = this.#cut(heard ? agree(before, heard) : before, heard !== undefined);
    const state: LiveState = {
      sampleRate: before.sampleRate,
      resampler: before.resampler,
      rest: before.rest,
      samples: before.samples.slice(cut),
      offset: before.offset + cut,
      heard: Math.max(0, (heard ? before.samples.length : before.heard) - cut),
      final: words.final.slice(gone),
      interim: words.interim,
    };
    const final = spoken(words.final.slice(before.final.length));
    return { result: { final, interim: spoken(words.interim) }, state };
  }

  /**
   * Cuts the sound at the end of a segment whose words are final, so that Whisper hears the next segment from its start.
   * @returns the words, of which the cut may make more final; the position of the cut, in samples; and how many final
   *   words lie before it
   */
  #cut(
    words: WordsState,
    isHeard: boolean,
  ): { readonly words: WordsState; readonly cut: number; readonly gone: number } {
    const { samples, offset, heard, interim } = this.#before;
    const { sampleRate, most, finalize } = this.#options;
    if (finalize) return { words: settle(words, Infinity), cut: samples.length, gone: Infinity };
    if (!isHeard || samples.length <= most / 2) return { words, cut: 0, gone: 0 };
    const all = [...words.final, ...words.interim];
    const cutAfter = (last: number): number =>
      Math.min(samples.length, Math.max(0, Math.floor(all[last]!.end * sampleRate) - offset));
    // The last segment may not be complete, and what is left is no longer than what is heard again.
    const ends = all.flatMap(({ endsSegment }, at) =>
      endsSegment && at < all.length - 1 && samples.length - cutAfter(at) <= most ? [at] : [],
    );
    const last = ends.findLast((at) => at < words.final.length);
    if (last !== undefined) return { words, cut: cutAfter(last), gone: last + 1 };
    // What was new for the last hypothesis has no word, as both agree.
    if (interim.length === 0 && words.interim.length === 0) return { words, cut: heard, gone: Infinity };
    if (samples.length <= most) return { words, cut: 0, gone: 0 };
    const end = ends.at(-1);
    if (end === undefined) return { words: settle(words, Infinity), cut: samples.length, gone: Infinity };
    return { words: settle(words, end + 1 - words.final.length), cut: cutAfter(end), gone: end + 1 };
  }
}

function spoken(words: readonly HeardWord[]): Required<SpokenText> {
  const parts = words.map(({ text, start, end }): SpokenPart => ({ text, start, end }));
  return { text: parts.map(({ text }) => text).join(''), parts };
}
