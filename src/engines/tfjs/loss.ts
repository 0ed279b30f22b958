import { TabServeError } from '../../errors.js';

/** The loss of a GPU, and the run that waits: on WebGL TensorFlow.js waits for ever for a context that is gone. */
export class Loss {
  #told = false;
  #reject: ((error: TabServeError) => void) | undefined;

  get told(): boolean {
    return this.#told;
  }

  tell(): void {
    this.#told = true;
    this.#reject?.(new TabServeError('device-lost', 'The GPU was lost during the run.'));
  }

  /** `work`, or a rejection when the GPU is lost first. One at a time. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#reject = reject;
      work.then(resolve, reject).finally(() => (this.#reject = undefined));
    });
  }
}
