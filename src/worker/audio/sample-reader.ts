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
  #failure: unknown;

  /** @param mostSeconds a longer recording is refused */
  constructor(recording: Recording, rate: number, mostSeconds: number, context?: DecodingContext) {
    this.#recording = recording;
    this.#rate = rate;
    this.#mostSeconds = mostSeconds;
    this.#context = context;
  }

  /** Samples in all; of an encoded file about as many, as it says. */
  get length(): number {
    return Math.ceil((this.#recording.length * this.#rate) / this.#recording.sampleRate);
  }

  /** What `read` has thrown. */
  get failure(): unknown {
    return this.#failure;
  }

  /**
   * Returns the samples from `start` to `end`, fewer where the recording ends.
   * @throws `invalid-input`; the reason of the context's signal
   */
  async read(start: number, end: number): Promise<Float32Array> {
    try {
      return await this.#read(start, end);
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  async #read(start: number, end: number): Promise<Float32Array> {
    if (start < this.#before) await this.close();
    this.#blocks ??= resampled(this.#recording, this.#rate, this.#mostSeconds, this.#context);
    this.#forgetBefore(start);
    let made = this.#held.reduce((sum, { length }) => sum + length, this.#before);
    while (made < end) {
      const { value: block } = await this.#blocks.next();
      if (!block) break;
      this.#held.push(block);
      made += block.length;
      this.#forgetBefore(start);
    }
    let at = this.#before;
    const parts = this.#held.map((block) => {
      const part = block.subarray(Math.max(0, start - at), Math.max(0, end - at));
      at += block.length;
      return part;
    });
    return concatenate([new Float32Array(0), ...parts]);
  }

  #forgetBefore(start: number): void {
    while (this.#held.length > 0 && this.#before + this.#held[0]!.length <= start)
      this.#before += this.#held.shift()!.length;
  }

  /** Stops the decoder. A later `read` begins anew. */
  async close(): Promise<void> {
    await this.#blocks?.return();
    this.#blocks = undefined;
    [this.#held, this.#before] = [[], 0];
  }
}
