import { TabServeError } from '../contract/errors.js';

/** A device's loss may become known only after the run that it breaks has failed. */
const GRACE_MS = 100;

/** The loss of a GPU. It rejects the runs that wait, since some engines never answer them, and is reported once. */
export class DeviceLoss {
  #isLost = false;
  readonly #listeners = new Set<() => void>();

  /** @param isGone asked at each check, for a device that can be asked: a run may end before the loss is reported */
  constructor(
    private readonly onLost: (why: string) => void,
    private readonly isGone: () => boolean = () => false,
  ) {}

  get isLost(): boolean {
    if (!this.#isLost && this.isGone()) this.report();
    return this.#isLost;
  }

  /** Runs and failures that wait for the loss at this moment. */
  get waiting(): number {
    return this.#listeners.size;
  }

  /** Called by whoever finds out that the device is lost. */
  report(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.onLost('The GPU was lost.');
    for (const listener of this.#listeners) listener();
  }

  /** Settles as `work` does, or rejects with `device-lost` when the GPU is lost first. */
  async race<T>(work: Promise<T>): Promise<T> {
    let listener!: () => void;
    const loss = new Promise<never>((_, reject) => {
      listener = () => reject(lost());
      this.#listeners.add(listener);
    });
    try {
      return await Promise.race([work, loss]);
    } catch (error) {
      // In most browsers the loss is reported in the task after the failure; the next run must not begin before it.
      await new Promise((resolve) => setTimeout(resolve));
      throw error;
    } finally {
      this.#listeners.delete(listener);
    }
  }

  /** @throws `device-lost` if it is lost */
  check(): void {
    if (this.isLost) throw lost();
  }

  /** Returns the loss, if it caused the failure of a run; otherwise the failure. Waits a moment where the loss may still be reported. */
  async explain(failure: unknown): Promise<unknown> {
    if (!mayBeLoss(failure)) return failure;
    if (!this.isLost) await this.#pause();
    return this.isLost ? lost(failure) : failure;
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const stop = (): void => {
        clearTimeout(timer);
        this.#listeners.delete(stop);
        resolve();
      };
      const timer = setTimeout(stop, GRACE_MS);
      this.#listeners.add(stop);
    });
  }
}

/** An error that says what else is wrong, such as the input, was not caused by a loss. */
function mayBeLoss(failure: unknown): boolean {
  return !(failure instanceof TabServeError) || failure.code === 'inference-failed' || failure.code === 'worker-lost';
}

function lost(cause?: unknown): TabServeError {
  return new TabServeError('device-lost', 'The GPU was lost.', { cause });
}
