import { TabServeError } from '../contract/errors.js';

/** A device's loss may be told only after the run that it breaks has failed. */
const GRACE_MS = 100;

/** The loss of a GPU: told once, to the run that waits (some engines never answer it) and to whoever else wants to know. */
export class Loss {
  #told = false;
  #onTold = new Set<() => void>();

  /** @param isGone asked at each check, where one can ask: a run may end before the loss is told */
  constructor(
    onLost: (why: string) => void,
    private readonly isGone: () => boolean = () => false,
  ) {
    this.#onTold.add(() => onLost('The GPU was lost.'));
  }

  get told(): boolean {
    if (!this.#told && this.isGone()) this.tell();
    return this.#told;
  }

  tell(): void {
    if (this.#told) return;
    this.#told = true;
    for (const on of this.#onTold) on();
  }

  /** `work`, or a rejection when the GPU is lost first. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const onLost = (): void => reject(lost());
      this.#onTold.add(onLost);
      work.then(resolve, reject).finally(() => this.#onTold.delete(onLost));
    });
  }

  /** @throws `device-lost` if it is lost */
  check(): void {
    if (this.told) throw lost();
  }

  /** For what has failed: the loss, should it be why. */
  async explain(failure: unknown): Promise<unknown> {
    if (!this.told) await Promise.race([new Promise<void>((resolve) => this.#onTold.add(resolve)), silence()]);
    return this.told ? lost(failure) : failure;
  }
}

function silence(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, GRACE_MS));
}

function lost(cause?: unknown): TabServeError {
  return new TabServeError('device-lost', 'The GPU was lost.', { cause });
}
