/**
 * What was said in a recording, of the answers to its chunks: `_decode_asr` of transformers. Chunks overlap, and what
 * two neighbours have both heard is written once.
 */
import type { SegmentQuality, SpokenPart, SpokenSegment } from '../../../contract/spoken-text.js';
import { seam } from './seam.js';

/** Where a chunk lies, in seconds. */
export interface ChunkTimes {
  readonly length: number;
  /** How much of its start the chunk before has heard, too. */
  readonly left: number;
  /** How much of its end the chunk after it hears. */
  readonly right: number;
}

/** What is known of each token of an answer. */
export interface TokenDetails {
  /** When it was said, in seconds since the chunk's start, if words are asked for. */
  readonly ends?: readonly number[] | undefined;
  /** Of its window's answer, if it is measured. */
  readonly qualities?: readonly (SegmentQuality | undefined)[];
}

export interface TranscriptOptions {
  /** The token of 0 seconds; those after it are later. */
  readonly begin: number;
  /** Seconds from one of them to the next. */
  readonly step: number;
  /** Returns whether a token has a text. */
  readonly isText: (token: number) => boolean;
  readonly decode: (tokens: readonly number[]) => string;
  /** Divides a part into words, if those are asked for. */
  readonly wordsOf?: ((tokens: readonly HeardToken[]) => readonly SpokenPart[]) | undefined;
}

/** A token of text. */
export interface HeardToken {
  readonly id: number;
  /** When it was said, in seconds; 0 if words are not asked for. */
  readonly start: number;
  readonly end: number;
}

/** A part that is not complete, as `chunk` of `_decode_asr`. */
interface OpenPart {
  start: number | undefined;
  /** What is settled of its tokens. */
  tokens: HeardToken[];
  /** What chunks have heard of it; the last one may overlap with the next. */
  heard: HeardToken[][];
  hasText: boolean;
}

/** Steps of the window of Whisper's models: 30 seconds. */
const WINDOW_STEPS = 1500;

export class Transcript {
  readonly #options: TranscriptOptions;
  readonly #parts: SpokenSegment[] = [];
  readonly #words: SpokenPart[] = [];
  #open: OpenPart = newPart();
  /** Where the next chunk starts, in seconds. */
  #offset = 0;
  /** Whether the next time is the second one of a pair whose first one was left out. */
  #skips = false;
  /** Of the last window. */
  #quality: SegmentQuality | undefined;
  readonly #settled: number[] = [];

  constructor(options: TranscriptOptions) {
    this.#options = options;
  }

  /** The parts that are complete. */
  get parts(): readonly SpokenSegment[] {
    return this.#parts;
  }

  /** Their words. */
  get words(): readonly SpokenPart[] {
    return this.#words;
  }

  /** The tokens of the text that no later chunk changes, without those of times. */
  get settled(): readonly number[] {
    return this.#settled;
  }

  /**
   * Adds the answer to the next chunk.
   * @param tokens without those that it began with
   */
  add(
    tokens: readonly number[],
    { length, left, right }: ChunkTimes,
    { ends, qualities = [] }: TokenDetails = {},
  ): void {
    const { begin, step, isText } = this.#options;
    this.#offset -= left;
    const firstOwn = begin + left / step;
    const lastOwn = right > 0 ? this.#lastOwn(tokens, length - right) : Infinity;
    const timeOf = (at: number): number => (ends ? hundredths((ends[at] ?? 0) + this.#offset) : 0);
    let current: HeardToken[] = [];
    // Of an answer to several windows: the times of each count from its start.
    let [latest, second, before] = [0, 0, 0];
    for (const [at, token] of tokens.entries()) {
      if (token < begin) {
        if (isText(token)) current.push({ id: token, start: timeOf(at - 1), end: timeOf(at) });
        continue;
      }
      const own = (token - begin) * step;
      if (own < latest) {
        const endedAlone = at >= 2 && !(tokens[at - 1]! >= begin && tokens[at - 2]! >= begin);
        before += endedAlone ? step * WINDOW_STEPS : second;
        if (!endedAlone) latest = second;
      }
      [second, latest] = [latest, own];
      const time = hundredths(own + this.#offset + before);
      // The neighbour decides on what both have heard.
      if (token >= lastOwn) this.#skips = true;
      else if (this.#skips || (this.#open.heard.length > 0 && token < firstOwn)) this.#skips = false;
      else if (this.#open.start === undefined) this.#open.start = time;
      else if (time !== this.#open.start) {
        this.#hear(current);
        this.#close(time, qualities[at]);
        current = [];
      }
    }
    this.#offset += length - right;
    this.#quality = qualities.at(-1) ?? this.#quality;
    if (current.length > 0) this.#hear(current);
    else if (!this.#open.hasText) this.#open = newPart();
  }

  /** Ends the recording. @param duration of it: where a part ends whose end the model has not told */
  end(duration: number): void {
    if (this.#open.heard.length > 0) this.#close(Math.max(this.#start, hundredths(duration)), this.#quality);
  }

  /** Returns the time after which the next chunk decides: the first one of the overlap, or the last one before it. */
  #lastOwn(tokens: readonly number[], overlap: number): number {
    const { begin, step } = this.#options;
    let last: number | undefined;
    for (const token of tokens.toReversed()) {
      if (token < begin) continue;
      if (last !== undefined && (token - begin) * step < overlap) break;
      last = token;
    }
    return last ?? Infinity;
  }

  /** Adds what a chunk has heard of the open part. What it shares with the chunk before is settled. */
  #hear(tokens: HeardToken[]): void {
    const open = this.#open;
    open.hasText ||= tokens.length > 0;
    open.heard.push(tokens);
    if (open.heard.length < 2) return;
    const [left, right] = open.heard as [HeardToken[], HeardToken[]];
    const { leftEnd, rightStart } = seam(left, right, isSame);
    this.#settle(left.slice(0, leftEnd));
    open.heard = [right.slice(rightStart)];
  }

  /** Where the open part starts: after the one before it, if the model has not told. */
  get #start(): number {
    return this.#open.start ?? this.#parts.at(-1)?.end ?? 0;
  }

  #settle(tokens: readonly HeardToken[]): void {
    this.#open.tokens.push(...tokens);
    this.#settled.push(...tokens.map(({ id }) => id));
  }

  #close(end: number, quality: SegmentQuality | undefined): void {
    this.#settle(this.#open.heard[0]!);
    const { tokens } = this.#open;
    const { decode, wordsOf } = this.#options;
    this.#parts.push({ text: decode(tokens.map(({ id }) => id)), start: this.#start, end, ...quality });
    if (wordsOf) this.#words.push(...wordsOf(tokens));
    this.#open = newPart();
  }
}

/** Returns whether two chunks have heard the same token, in the order of time. */
function isSame(left: HeardToken, right: HeardToken): boolean {
  return left.id === right.id && (left.start < right.start || (left.start === right.start && left.end <= right.end));
}

function newPart(): OpenPart {
  return { start: undefined, tokens: [], heard: [], hasText: false };
}

function hundredths(seconds: number): number {
  return Number(seconds.toFixed(2));
}
