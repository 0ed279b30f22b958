import type { Progress } from '../../contract/archive.js';
import { abortError, unlessAborted } from '../../shared/abort.js';
import { notify } from './events.js';
import type { InitializeOptions } from '../requests/request-options.js';
import { readInitializeOptions } from '../requests/request-options.js';

/** An `initialize` that is under way. */
interface Opening {
  readonly done: Promise<void>;
  readonly signal: AbortSignal | undefined;
  readonly listeners: Set<(progress: Progress) => void>;
}

/** What an initializer needs of its client. */
export interface InitializerOptions {
  /** Aborts when the client is disposed of. */
  readonly disposed: AbortSignal;
  readonly isServing: () => boolean;
  /** Opens the first worker, and starts to serve. */
  readonly open: (signal: AbortSignal, onProgress: (progress: Progress) => void) => Promise<void>;
}

/** Runs a client's `initialize`: once, however many callers wait for it. */
export class Initializer {
  readonly #options: InitializerOptions;
  #opening: Opening | undefined;

  constructor(options: InitializerOptions) {
    this.#options = options;
  }

  /** @throws what `open` throws; `aborted`, `disposed`, `invalid-input` */
  async initialize(options: InitializeOptions): Promise<void> {
    const { signal, onProgress } = readInitializeOptions(options);
    const { disposed, isServing } = this.#options;
    if (disposed.aborted) throw abortError(disposed);
    if (isServing()) return;
    const joined = this.#opening;
    if (!joined) return await this.#begin(signal, onProgress).done;
    const listener = (progress: Progress): void => onProgress?.(progress);
    joined.listeners.add(listener);
    try {
      await unlessAborted(joined.done, signal);
    } catch (error) {
      joined.listeners.delete(listener);
      // The caller that started it has aborted, but this one has not, so start again.
      if (!joined.signal?.aborted || signal?.aborted) throw error;
      await this.initialize(options);
    }
  }

  #begin(signal: AbortSignal | undefined, onProgress: InitializeOptions['onProgress']): Opening {
    const listeners = new Set(onProgress ? [onProgress] : []);
    const ends = AbortSignal.any([this.#options.disposed, ...(signal ? [signal] : [])]);
    const done = this.#open(ends, listeners).finally(() => (this.#opening = undefined));
    return (this.#opening = { done, signal, listeners });
  }

  async #open(signal: AbortSignal, listeners: Opening['listeners']): Promise<void> {
    await this.#options.open(signal, (progress) => listeners.forEach((listener) => notify(listener, progress)));
    // A listener of `backendchange` may have disposed of the client.
    if (signal.aborted) throw abortError(signal);
  }
}
