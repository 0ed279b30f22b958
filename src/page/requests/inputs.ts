/** Prepares inputs for sending them to a worker. */
import { TabServeError } from '../../contract/errors.js';
import type { AudioSamples } from '../../contract/audio.js';
import { bufferOf, duplicate, isOutOfBounds, listTransferables } from './copy.js';
import { audioFile, samplesOf } from './input-files.js';
import { downloadImage } from './input-files.js';
import { isA } from '../../shared/is-a.js';
import { RetainedValue, type KnownValues, NONE_KNOWN } from './retained-value.js';
import { mapLeaves } from './copy.js';
import { OwnImage } from './pictures.js';
import { isBitmap, isFrame, pictureOf } from './pictures.js';

/** One input, which the page retains until its answer is there. */
export interface Prepared {
  /**
   * Returns a new message at each call; undefined if the input can be sent only once and was sent.
   * @param known the kept inputs of which the worker needs only the key
   * @throws if a copy could not be made, here or in `snapshot`
   */
  message(known?: KnownValues): Message | undefined;
  /** The kept inputs in it, if there are any. */
  readonly retained?: readonly RetainedValue[];
  /**
   * Copies what the caller may change, before the call returns. A message may be made first, so that the worker need
   * not wait for this copy.
   */
  snapshot(): void;
  /** Whether `message` will return another message. */
  readonly replayable: boolean;
  /** Undoes `message`, whose result could not be sent. */
  rollback(): void;
  /** Frees what was made for this input. */
  release(): void;
}

export interface Message {
  readonly value: unknown;
  readonly transferables: readonly Transferable[];
}

export interface PrepareOptions {
  /**
   * Whether the caller's buffers, bitmaps and frames are transferred to the worker, so that the page can no longer use
   * them.
   * @default false
   */
  readonly transfer?: boolean;
  /** Aborts downloads. */
  readonly signal?: AbortSignal;
}

/**
 * Prepares one row: an input, bare or as `{ data }` or `{ body }`, or nested in plain objects and arrays. Returns a
 * promise for inputs that take time: an element, a canvas, an ImageBitmap, a URL, an audio file.
 *
 * | input | sent as | sent again when a worker is lost |
 * |---|---|---|
 * | `<img>` (loaded or not), `<canvas>`, OffscreenCanvas | an ImageBitmap of what it shows at the call, upright | yes |
 * | `<video>` | a VideoFrame of what it shows at the call | yes |
 * | ImageBitmap | a copy | yes |
 * | VideoFrame | a clone, which shares its pixels | yes |
 * | URL | a Blob, which the page downloads once | yes |
 * | AudioBuffer | a copy of its channels | yes |
 * | Blob that is an audio file of a format that no worker decodes here | the samples, which the page decodes | yes |
 * | Blob, File, string, number, … | itself | yes |
 * | `KeptInput` | its key, with a copy of the input if the worker does not know it | yes |
 * | typed array, DataView, ArrayBuffer, ImageData | a copy, which is transferred (a structured clone takes ten times as long) | yes |
 * | any of these with `transfer` | itself, transferred, without a copy | no, unless it is a Blob, a URL, a string, … |
 *
 * The page never reads the pixels of an element. The caller may change or close all of its inputs as soon as the call
 * has returned (if `snapshot` is called within it); `<img>` is the exception, whose picture is taken when it has been
 * loaded. Until the answer is there, the page retains the pixels of each picture, and a `<video>` or VideoFrame one of
 * its decoder's buffers; where that matters, `transfer` avoids it.
 * @throws `image-decode` if an `<img>` is broken or has no source; `invalid-input` if an element has no pixels, or
 *   none that this page may read (another origin's, without CORS), if a buffer, a bitmap or a frame is gone, if a URL
 *   cannot be downloaded
 */
export function prepare(input: unknown, options: PrepareOptions = {}): Prepared | Promise<Prepared> {
  const prepared = new PreparedInput(input, options);
  return prepared.pending ? prepared.pending.then(() => prepared) : prepared;
}

class PreparedInput implements Prepared {
  /** The preparation that takes time; undefined if there is none. */
  readonly pending: Promise<void> | undefined;
  readonly #transfer: boolean;
  /** Pictures by the object that stands for them in `#source`. */
  readonly #images = new Map<object, OwnImage>();
  /** The kept inputs in it. */
  readonly #retained = new Set<RetainedValue>();
  /** What is sent instead of a URL object, or of an audio file that the page decodes. */
  readonly #files = new Map<object, Blob | AudioSamples>();
  #source: unknown;
  #hasSnapshot: boolean;
  #failure: unknown;
  /** The last message: how to undo it, and whether it transfers objects of the caller's. */
  #sent: { readonly undo: (() => void)[]; movesCallers: boolean } | undefined;

  constructor(input: unknown, options: PrepareOptions) {
    const { transfer = false } = options;
    this.#transfer = transfer;
    this.#hasSnapshot = transfer;
    const pending: Promise<unknown>[] = [];
    try {
      this.#source = mapLeaves(input, (leaf) => {
        if (leaf instanceof RetainedValue) {
          if (!leaf.use())
            throw new TabServeError('invalid-input', 'The kept input was released. Keep it again: client.keep(input).');
          this.#retained.add(leaf);
          return leaf;
        }
        checkUsable(leaf);
        const work = this.#replace(leaf, options);
        if (work) pending.push(work);
        return samplesOf(leaf, this.#transfer) ?? leaf;
      });
    } catch (error) {
      void Promise.allSettled(pending).then(() => this.release());
      throw error;
    }
    if (pending.length === 0) return;
    this.snapshot();
    this.pending = this.#allOrNone(pending);
  }

  /** Starts to make what is sent instead of `leaf`, where that takes time. */
  #replace(leaf: object, options: PrepareOptions): Promise<unknown> | undefined {
    if (isA('URL', leaf))
      return downloadImage(leaf.href, options.signal)
        .then((blob) => audioFile(blob) ?? blob)
        .then((file) => this.#files.set(leaf, file));
    const decoding = audioFile(leaf);
    if (decoding) return decoding.then((file) => this.#files.set(leaf, file));
    if (this.#transfer && isBitmap(leaf)) return undefined;
    return pictureOf(leaf)?.then(async (picture) => {
      const image = new OwnImage(picture, this.#transfer);
      this.#images.set(leaf, image);
      await image.ready();
    });
  }

  async #allOrNone(pending: readonly Promise<unknown>[]): Promise<void> {
    const failed = (await Promise.allSettled(pending)).find(({ status }) => status === 'rejected');
    if (!failed) return;
    this.release();
    throw (failed as PromiseRejectedResult).reason;
  }

  get retained(): readonly RetainedValue[] {
    return [...this.#retained];
  }

  get replayable(): boolean {
    if (!this.#sent) return true;
    return (
      !this.#sent.movesCallers &&
      this.#failure === undefined &&
      [...this.#images.values()].every(({ available }) => available)
    );
  }

  snapshot(): void {
    if (this.#hasSnapshot) return;
    this.#hasSnapshot = true;
    try {
      this.#source = mapLeaves(this.#source, (leaf) => {
        if (isFrame(leaf)) this.#images.set(leaf, new OwnImage(leaf.clone()));
        return duplicate(leaf);
      });
    } catch (error) {
      this.#failure = error;
    }
  }

  message(known: KnownValues = NONE_KNOWN): Message | undefined {
    if (!this.replayable) return undefined;
    if (this.#failure !== undefined) throw this.#failure;
    const sent: { undo: (() => void)[]; movesCallers: boolean } = (this.#sent = { undo: [], movesCallers: false });
    const transferables = new Set<Transferable>();
    const value = mapLeaves(this.#source, (leaf) => {
      if (leaf instanceof RetainedValue) {
        const message = leaf.message(known);
        for (const one of message.transferables) transferables.add(one);
        return message.value;
      }
      const image = this.#images.get(leaf);
      if (image) {
        const { picture, moves } = image.take();
        sent.undo.push(() => image.putBack(picture));
        if (moves) transferables.add(picture);
        return picture;
      }
      const file = this.#files.get(leaf);
      if (file)
        return mapLeaves(file, (chunk) => {
          const copy = duplicate(chunk);
          listTransferables(copy, transferables);
          return copy;
        });
      const own = this.#transfer ? leaf : duplicate(leaf);
      if (own === leaf && !this.#transfer) return own;
      const before = transferables.size;
      listTransferables(own, transferables);
      if (own === leaf && transferables.size > before) sent.movesCallers = true;
      return own;
    });
    return { value, transferables: [...transferables] };
  }

  rollback(): void {
    for (const undo of this.#sent?.undo ?? []) undo();
    this.#sent = undefined;
  }

  release(): void {
    // Pictures that were not sent are put back, and then closed with the others.
    this.rollback();
    for (const image of this.#images.values()) image.close();
    for (const one of this.#retained) one.leave();
    this.#retained.clear();
  }
}

/**
 * @throws `invalid-input` if it is a picture whose pixels are gone, or a view whose buffer was transferred or has
 *   shrunk
 */
function checkUsable(leaf: object): void {
  if ((isFrame(leaf) && leaf.codedWidth === 0) || (isBitmap(leaf) && leaf.width === 0))
    throw new TabServeError(
      'invalid-input',
      `The ${isFrame(leaf) ? 'VideoFrame' : 'ImageBitmap'} has no pixels: it has been closed or transferred.`,
    );
  const holder = bufferOf(leaf);
  if (isOutOfBounds(leaf))
    throw new TabServeError(
      'invalid-input',
      `The buffer of the ${leaf.constructor.name} was resized and no longer holds its elements. Make a new view of the buffer.`,
    );
  // A buffer that has been transferred is empty.
  if (!(holder instanceof ArrayBuffer) || holder.byteLength > 0) return;
  try {
    holder.slice(0, 0);
  } catch (cause) {
    throw new TabServeError(
      'invalid-input',
      `The ${leaf.constructor.name}'s buffer has been transferred. Pass an array that still has its memory.`,
      { cause },
    );
  }
}
