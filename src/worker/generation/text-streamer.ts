import type { Detokenizer } from '../text/tokenizer.js';

/** A window of fewer pieces is not worth a new one. */
const MIN_WINDOW = 32;

/**
 * The text of an answer whose tokens come one by one. It gives what no later token can change: whole characters, and
 * nothing of a stop string. What it gave, joined, is the text.
 */
export class TextStreamer {
  readonly #detokenizer: Detokenizer;
  readonly #stops: readonly string[];
  /** The pieces of the last part of the answer. The first one is text that was given; it decides on spaces. */
  #window: string[] = [];
  /** How many characters of the window's text were taken. */
  #taken = 0;
  /** Text that may be the beginning of a stop string. */
  #pending = '';
  #isStopped = false;

  /**
   * @param stops the answer ends before the first of them
   * @param before the token before the answer, if it continues a prompt: then a space that the answer begins with is one
   */
  constructor(detokenizer: Detokenizer, stops: readonly string[], before?: number) {
    this.#detokenizer = detokenizer;
    this.#stops = stops;
    const piece = before === undefined ? undefined : detokenizer.pieceOf(before);
    if (piece === undefined) return;
    this.#window = [piece];
    this.#taken = detokenizer.join(this.#window).length;
  }

  /** Whether a stop string has been found. No text comes after it. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Adds a token. Returns the text that is settled with it. */
  add(token: number): string {
    const piece = this.#detokenizer.pieceOf(token);
    if (piece === undefined || this.#isStopped) return '';
    this.#window.push(piece);
    if (this.#detokenizer.isByte(piece)) return '';
    const text = this.#detokenizer.join(this.#window);
    const settled = this.#settledLength(text);
    const isWhole = settled === text.length;
    const found = this.#take(text, settled);
    if (isWhole && this.#window.length >= MIN_WINDOW) {
      this.#window = [piece];
      this.#taken = this.#detokenizer.join(this.#window).length;
    }
    return found;
  }

  /** Returns the rest of the text, when no token follows. */
  end(): string {
    if (this.#isStopped) return '';
    const text = this.#detokenizer.join(this.#window);
    const rest = this.#take(text, text.length) + (this.#isStopped ? '' : this.#pending);
    this.#pending = '';
    return rest;
  }

  /** Returns how much of the text no later piece changes. */
  #settledLength(text: string): number {
    // The bytes of one character may be in several pieces; until they are complete, they are U+FFFD.
    const settled = text.endsWith('\u{FFFD}') ? text.length - 1 : text.length;
    const { unsettled } = this.#detokenizer;
    if (unsettled === 0) return settled;
    const space = text.lastIndexOf(' ');
    return space >= 0 && text.length - space <= unsettled ? Math.min(settled, space) : settled;
  }

  #take(text: string, end: number): string {
    const fresh = text.slice(this.#taken, end);
    this.#taken = Math.max(this.#taken, end);
    this.#pending += fresh;
    const at = this.#stops.map((stop) => this.#pending.indexOf(stop)).filter((index) => index >= 0);
    if (at.length > 0) {
      this.#isStopped = true;
      return this.#pending.slice(0, Math.min(...at));
    }
    const retained = Math.max(0, ...this.#stops.map((stop) => overlap(this.#pending, stop)));
    const given = this.#pending.slice(0, this.#pending.length - retained);
    this.#pending = this.#pending.slice(given.length);
    return given;
  }
}

/** Returns how many characters at the end of a text are the beginning of a stop string. */
export function overlap(text: string, stop: string): number {
  for (let length = Math.min(text.length, stop.length - 1); length > 0; length--)
    if (text.endsWith(stop.slice(0, length))) return length;
  return 0;
}
