import type { DecodedImage } from '../contract/images.js';

/**
 * The most images of a batch that are decoded at a time. A browser decodes each on a thread of its own; four of them keep one worker busy, which transforms a photo in about a third
 * of the time that it takes to decode it.
 */
const MOST = 4;
/** No further image is decoded ahead while those that are ready have this many pixels: a quarter of a gigabyte as RGBA. */
const MOST_PIXELS = 2 ** 26;

/** Decodes the images of a batch side by side, a few ahead of the one that is being transformed. */
export class ImagesAhead {
  readonly #decode: (index: number) => Promise<DecodedImage> | undefined;
  readonly #count: number;
  #next = 0;
  /** The images that have not been taken. */
  readonly #ahead = new Map<number, Promise<DecodedImage> | undefined>();
  /** The pixels of those that are decoded. */
  #pixels = 0;

  /** @param decode returns undefined for a row that needs no decoding */
  constructor(count: number, decode: (index: number) => Promise<DecodedImage> | undefined) {
    this.#count = count;
    this.#decode = decode;
  }

  /** Returns what `decode` returns for a row; the caller closes the image. Call it for each row once, in order. */
  take(index: number): Promise<DecodedImage> | undefined {
    while (this.#next < this.#count && (this.#next <= index || this.#hasRoom)) this.#start(this.#next++);
    const image = this.#ahead.get(index);
    this.#ahead.delete(index);
    void image?.then(
      ({ width, height }) => (this.#pixels -= width * height),
      () => {},
    );
    return image;
  }

  /** Closes the images that were not taken. */
  close(): void {
    this.#next = this.#count;
    for (const image of this.#ahead.values())
      void image?.then(
        (decoded) => decoded.close(),
        () => {},
      );
    this.#ahead.clear();
  }

  get #hasRoom(): boolean {
    return this.#ahead.size < MOST && this.#pixels < MOST_PIXELS;
  }

  #start(index: number): void {
    const image = this.#decode(index);
    this.#ahead.set(index, image);
    // A failure is reported when the image is taken.
    void image?.then(
      ({ width, height }) => (this.#pixels += width * height),
      () => {},
    );
  }
}
