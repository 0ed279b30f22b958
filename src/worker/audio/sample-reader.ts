import { resampled, type DecodingContext, type Recording } from './read-audio.js';
import { concatenate } from '../tensors/concatenate.js';

/**
 * Reads a recording part by part, at another sample rate, and holds little more than the last part. To read what lies
 * before it, the recording is decoded anew. One part is read at a time.
 */
export class SampleReader {
  readonly #recording: Recording;
  readonly #rate: number;
  readonly #mostSeconds: number;
  readonly #context: DecodingContext | undefined;
  #blocks: AsyncGenerator<Float32Array, void, undefined> | undefined;
  /** The samples that are held, and how many were before them. */
  #held: Float32Array[] = [];
  #before = 0;

  /** @param mostSeconds a longer recording is refused */
  constructor(recording: Recording, rate: number, mostSeconds: number, context?: DecodingContext) {
    this.#recording = recording;
    this.#rate = rate;
    this.#mostSeconds = mostSeconds;
    this.#context = context;
  }

  /**
   * Returns the samples from `start` to `end`, fewer where the recording ends.
   * @throws `invalid-input`; the reason of the context's signal
   */
  async read(start: number, end: number): Promise<Float32Array> {
    if (start < this.#before) await this.close();
    this.#blocks ??= resampled(this.#recording, this.#rate, this.#mostSeconds, this.#context);
    let made = this.#held.reduce((sum, { length }) => sum + length, this.#before);
    while (made < end) {
      const { value: block } = await this.#blocks.next();
      if (!block) break;
      this.#held.push(block);
      made += block.length;
      while (this.#held.length > 0 && this.#before + this.#held[0]!.length <= start)
        this.#before += this.#held.shift()!.length;
    }
    if (this.#held.length === 0) return new Float32Array(0);
    const all = this.#held.length === 1 ? this.#held[0]! : concatenate(this.#held);
    return all.slice(Math.max(0, start - this.#before), Math.max(0, end - this.#before));
  }

  /** Stops the decoder. A later `read` begins anew. */
  async close(): Promise<void> {
    await this.#blocks?.return();
    this.#blocks = undefined;
    [this.#held, this.#before] = [[], 0];
  }
}
