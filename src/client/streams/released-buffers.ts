import { isKeptReady } from '../../shared/buffers.js';
import { mapLeaves } from '../requests/leaves.js';

/** More are of no use: one goes with each frame, and comes back with its answer. */
const MOST = 4;

/** The memory of results that the app has released. It goes to a worker with the next frame, which writes the next result to it. */
export class ReleasedBuffers {
  #buffers: ArrayBuffer[] = [];
  #most = MOST;

  /** Takes the memory of a result's large arrays, which are then empty. What is empty already is left. */
  add(result: unknown): void {
    mapLeaves(result, (leaf) => {
      const buffer = ArrayBuffer.isView(leaf) ? leaf.buffer : leaf;
      if (buffer instanceof ArrayBuffer && isKeptReady(buffer.byteLength))
        this.#buffers.push(structuredClone(buffer, { transfer: [buffer] }));
      return leaf;
    });
    this.#buffers.splice(0, this.#buffers.length - this.#most);
  }

  /** Keeps nothing from now on: no frame follows. */
  close(): void {
    this.#most = 0;
    this.#buffers = [];
  }

  /** Returns the memory that is there, which has left the page then. */
  takeAll(): readonly ArrayBuffer[] {
    return this.#buffers.splice(0);
  }
}
