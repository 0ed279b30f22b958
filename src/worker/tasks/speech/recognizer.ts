/** What the kinds of speech recognizers share: what they hear in frames of sound, and how it becomes a text. */
import type { Context } from '../../../contract/handler.js';
import type { Tensors } from '../../../contract/tensors.js';
import type { SpeechChunk } from '../../audio/speech-chunks.js';
import type { TextPart } from './ctc-text.js';

/** A class of the vocabulary that a model has heard. */
export interface Heard {
  readonly id: number;
  /** Its first frame, and the one after its last. */
  readonly start: number;
  readonly end: number;
}

/** A kind of model: what it hears, and what it writes of that. */
export interface Recognizer {
  /** Samples per second. */
  readonly sampleRate: number;
  /** The samples of the shortest sound that the model takes. */
  readonly leastSamples: number;
  /** Samples for each frame. */
  readonly ratio: number;
  /** Returns the inputs of a run for trying a backend. */
  example(node: string | undefined): Tensors | undefined;
  /** Returns what the model hears, in the order of its frames. @throws `inference-failed`, `aborted` */
  hear(samples: Float32Array, context: Context): Promise<readonly Heard[]>;
  /** Returns the characters of what was heard, or the pieces of words. */
  partsOf(heard: readonly Heard[]): readonly TextPart[];
  /** Joins them to a text. */
  textOf(parts: readonly TextPart[]): string;
  /** Joins them to words. */
  wordsOf(parts: readonly TextPart[]): readonly TextPart[];
}

/** Joins what was heard in chunks that overlap. */
export class HeardChunks {
  readonly #all: Heard[] = [];
  readonly #ratio: number;
  /** What counts of the last chunk begins with this frame. */
  #from = 0;
  #last: readonly Heard[] = [];

  /** @param ratio samples for each frame */
  constructor(ratio: number) {
    this.#ratio = ratio;
  }

  /** Adds what was heard in the next chunk. */
  add({ start, from }: Omit<SpeechChunk, 'progress'>, heard: readonly Heard[]): void {
    const first = start / this.#ratio;
    const moved = heard.map((one) => ({ id: one.id, start: one.start + first, end: one.end + first }));
    if (start > 0) this.#takeUntil(seamOf(first + from, Math.floor(from / 2), this.#last, moved));
    this.#last = moved;
  }

  /** Returns what was heard in the whole recording. */
  end(): readonly Heard[] {
    this.#takeUntil(Infinity);
    return this.#all;
  }

  #takeUntil(seam: number): void {
    for (const one of this.#last) if (one.start >= this.#from && one.start < seam) this.#all.push(one);
    this.#from = seam;
  }
}

/**
 * Returns the frame from which the later of two chunks counts: near the middle of what both have heard, in the longest
 * pause. There, a class that one of them heard a frame earlier than the other is neither lost nor written twice. A model
 * that says something of each frame has no pauses, and the middle counts.
 * @param reach frames before and after the middle
 */
function seamOf(middle: number, reach: number, earlier: readonly Heard[], later: readonly Heard[]): number {
  const taken = new Set([...earlier, ...later].map(({ start }) => start));
  let [seam, longest] = [middle, 0];
  for (let start = middle - reach; start < middle + reach; start++) {
    let end = start;
    while (end < middle + reach && !taken.has(end)) end++;
    if (end - start > longest) [seam, longest] = [Math.floor((start + end) / 2), end - start];
    start = end;
  }
  return seam;
}

/** The numbers of what was heard in a tensor: the class, the first frame, and the one after the last. */
const NUMBERS = 3;

/** Returns what was heard in each row, int32 `[rows, most, 3]`; −1 after a row's last one. */
export function toTensor(rows: readonly (readonly Heard[])[]): Tensors[string] {
  const most = Math.max(1, ...rows.map(({ length }) => length));
  const data = new Int32Array(rows.length * most * NUMBERS).fill(-1);
  for (const [index, row] of rows.entries())
    for (const [at, { id, start, end }] of row.entries()) data.set([id, start, end], (index * most + at) * NUMBERS);
  return { dtype: 'int32', dims: [rows.length, most, NUMBERS], data };
}

/** Reads what was heard in a row. */
export function fromTensor({ data, dims }: Tensors[string], index: number): readonly Heard[] {
  const numbers = data as Int32Array;
  const size = dims[1]! * NUMBERS;
  const heard: Heard[] = [];
  for (let at = index * size; at < (index + 1) * size && numbers[at]! >= 0; at += NUMBERS)
    heard.push({ id: numbers[at]!, start: numbers[at + 1]!, end: numbers[at + 2]! });
  return heard;
}
