import type { Message, Prepared } from '../requests/inputs.js';
import { isFrame } from '../requests/pictures.js';
import type { Frame } from './frame-source.js';
import type { ReleasedBuffers } from './released-buffers.js';

/** A frame with its place among all frames of its source, from 1. */
export interface NumberedFrame extends Frame {
  readonly number: number;
}

/**
 * The input of a request for a frame that is chosen when a worker takes the request: until then, newer frames may arrive. The frame is transferred, and so
 * is sent once.
 */
export class FrameTicket implements Prepared {
  readonly #take: () => NumberedFrame;
  readonly #giveBack: (frame: NumberedFrame) => void;
  readonly #released: ReleasedBuffers;
  /** The frame that was sent; undefined until then. */
  frame: NumberedFrame | undefined;
  /** A second hold on the pixels of the frame that was sent: no copy of them. Whoever reads the answer closes it. Undefined for a bitmap. */
  copy: VideoFrame | undefined;

  /**
   * @param take returns the newest frame
   * @param giveBack takes it back if it could not be sent
   * @param released goes to the worker with the frame
   */
  constructor(take: () => NumberedFrame, giveBack: (frame: NumberedFrame) => void, released: ReleasedBuffers) {
    this.#take = take;
    this.#giveBack = giveBack;
    this.#released = released;
  }

  get replayable(): boolean {
    return this.frame === undefined;
  }

  message(): Message {
    this.frame = this.#take();
    const { picture } = this.frame;
    this.copy = isFrame(picture) ? picture.clone() : undefined;
    return { value: picture, transferables: [picture], released: this.#released.takeAll() };
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
