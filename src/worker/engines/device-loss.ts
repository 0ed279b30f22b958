import { TabServeError } from '../../contract/errors.js';

/** The longest wait for the report of a loss, which may come only after the run has failed. */
const GRACE_MS = 100;

/** How to find out whether a device is lost. */
export interface DeviceLossOptions {
  /** What is lost, as messages name it. @default 'GPU' */
  readonly what?: string;
  /**
   * Returns whether the device is lost. It is called at each check, because a run may end before the loss is reported.
   * @default only a report shows it
   */
  readonly isGone?: () => boolean;
  /**
   * Asks the device for something that needs no time. It answers, or fails, after it has reported a loss.
   * @default a failure waits for the report up to the limit
   */
  readonly roundTrip?: () => Promise<unknown> | undefined;
}

/**
 * Watches for the loss of a GPU. On a loss, rejects the waiting runs, because some engines never answer them. Reports
 * the loss once.
 */
export class DeviceLoss {
  #isLost = false;
  readonly #listeners = new Set<() => void>();

  constructor(
    private readonly onLost: (why: string) => void,
    private readonly options: DeviceLossOptions = {},
  ) {}

  get isLost(): boolean {
    if (!this.#isLost && this.options.isGone?.()) this.report();
    return this.#isLost;
  }

  /** Number of runs and failures that wait for the loss now. */
  get waiting(): number {
    return this.#listeners.size;
  }

  /** Reports that the device is lost. Every part that notices the loss calls it. */
  report(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.onLost(this.#message);
    for (const listener of this.#listeners) listener();
  }

  /** Settles as `work` does, or rejects with `device-lost` if the GPU is lost first. */
  async race<T>(work: Promise<T>): Promise<T> {
    let listener!: () => void;
    const loss = new Promise<never>((_, reject) => {
      listener = () => reject(this.#lost());
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
    if (this.isLost) throw this.#lost();
  }

  /** Returns the loss if it caused the failure of a run; otherwise the failure. Waits while it may still be reported. */
  async explain(failure: unknown): Promise<unknown> {
    if (!mayBeLoss(failure)) return failure;
    // This device can be asked, and it is not lost.
    if (!this.isLost && !this.options.isGone) await this.#reported();
    return this.isLost ? this.#lost(failure) : failure;
  }

  get #message(): string {
    return `The ${this.options.what ?? 'GPU'} was lost.`;
  }

  #lost(cause?: unknown): TabServeError {
    return new TabServeError('device-lost', this.#message, { cause });
  }

  /** Resolves when a loss that may have happened has been reported. */
  #reported(): Promise<void> {
    return new Promise((resolve) => {
      const stop = (): void => {
        clearTimeout(timer);
        this.#listeners.delete(stop);
        resolve();
      };
      const timer = setTimeout(stop, GRACE_MS);
      this.#listeners.add(stop);
      this.options.roundTrip?.()?.then(stop, stop);
    });
  }
}

/** Returns whether a loss may have caused a failure: not if the error names another cause, such as the input. */
function mayBeLoss(failure: unknown): boolean {
  return !(failure instanceof TabServeError) || failure.code === 'inference-failed' || failure.code === 'worker-lost';
}
