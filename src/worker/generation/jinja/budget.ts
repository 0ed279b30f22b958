import { TemplateError } from './errors.js';

/** A step takes up to a microsecond. A conversation of 1000 messages has some hundred thousand. */
const MAX_STEPS = 3_000_000;
/** UTF-16 units of all texts, and items of all lists, that a rendering makes. */
const MAX_SIZE = 20_000_000;
/** How often it may make texts as long as all that it is given. A message is trimmed, joined to its role and printed. */
const COPIES = 10;
/** The characters of a text that a filter or a method reads in the time of one step. */
const CHARACTERS_PER_STEP = 50;
/** Calls within calls. Each takes some frames of the stack. */
const MAX_DEPTH = 200;
/** Bits of an integer. Python refuses to print one of more than 14,000. */
const MAX_BITS = 15_000;

/**
 * What one rendering may still use. A template is somebody else's program: one that does not end must not stop the
 * worker, and nothing else runs meanwhile.
 */
export class Budget {
  #steps = MAX_STEPS;
  readonly #most: number;
  #size: number;
  #depth = MAX_DEPTH;

  /** @param given UTF-16 units of the texts that are rendered */
  constructor(given: number) {
    this.#most = MAX_SIZE + COPIES * given;
    this.#size = this.#most;
  }

  /** @throws `limit` if there were too many */
  step(count = 1): void {
    this.#steps -= count;
    if (this.#steps < 0) throw new TemplateError('limit', `It takes more than ${MAX_STEPS} steps.`);
  }

  /** Counts the characters of a text that are read one by one. @throws `limit` */
  read(text: string): void {
    this.step(text.length / CHARACTERS_PER_STEP);
  }

  /**
   * Counts a text or a list before it is made.
   * @throws `limit` if all together are too large
   */
  make(length: number): void {
    this.#size -= length;
    if (!(this.#size >= 0)) throw new TemplateError('limit', `It makes texts of more than ${this.#most} characters.`);
  }

  /** Checks an integer before it is made. @throws `limit` */
  integer(bits: number): void {
    if (!(bits <= MAX_BITS))
      throw new TemplateError('limit', `It calculates with integers of more than ${MAX_BITS} bits.`);
  }

  /** Runs a call. @throws `limit` if too many are within one another */
  nested<Result>(run: () => Result): Result {
    if (this.#depth === 0) throw new TemplateError('limit', `More than ${MAX_DEPTH} calls are within one another.`);
    this.#depth -= 1;
    try {
      return run();
    } finally {
      this.#depth += 1;
    }
  }
}
