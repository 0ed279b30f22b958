import type { Message, Prepared } from '../requests/inputs.js';
import { isFrame } from '../requests/pictures.js';
import type { Frame } from './frame-source.js';

/** A frame with its number among all frames of its source, from 1. */
export interface NumberedFrame extends Frame {
  readonly number: number;
}

/**
 * The input of a request for a frame that is chosen when a worker takes the request: until then, newer frames may
 * arrive. The frame is transferred, and so is sent once.
 */
export class FrameInput implements Prepared {
  readonly #take: () => NumberedFrame;
  readonly #giveBack: (frame: NumberedFrame) => void;
  /** The frame that was sent; undefined until then. */
  frame: NumberedFrame | undefined;
  /**
   * A clone of the frame that was sent, which shares its pixels. The reader of the answer closes it. Undefined for a
   * bitmap.
   */
  copy: VideoFrame | undefined;

  /**
   * @param take returns the newest frame
   * @param giveBack takes it back if it could not be sent
   */
  constructor(take: () => NumberedFrame, giveBack: (frame: NumberedFrame) => void) {
    this.#take = take;
    this.#giveBack = giveBack;
  }

  get replayable(): boolean {
    return this.frame === undefined;
  }

  message(): Message {
    this.frame = this.#take();
    const { picture } = this.frame;
    this.copy = isFrame(picture) ? picture.clone() : undefined;
    return { value: picture, transferables: [picture] };
  }

  snapshot(): void {}

  rollback(): void {
    if (this.frame) this.#giveBack(this.frame);
    this.frame = undefined;
    this.copy?.close();
    this.copy = undefined;
  }

  /** Closes a frame that was not sent; for one that was, this does nothing. */
  release(): void {
    this.frame?.picture.close();
  }
}
