import { asTabServeError, type TabServeError } from '../../contract/errors.js';
import { notify } from '../client/events.js';
import type { FrameAnswer } from '../streams/frame-reader.js';

/** What a component knows of something that it reads item by item. */
export interface ReadingState {
  /**
   * `idle`: nothing is read yet, or `stop` has ended it. `running`: items come, or the model is loading. `done`: it has
   * ended by itself.
   */
  readonly status: 'idle' | 'running' | 'done' | 'error';
  /** With `error`: why it ended. What came before stays. */
  readonly error: TabServeError | undefined;
}

/** What a component knows of an answer that comes in parts. */
export interface StreamState<Item> extends ReadingState {
  /** What has come so far, in order: the parts, and at last the result. */
  readonly items: readonly Item[];
  /** The parts that are texts, joined. */
  readonly text: string;
}

/** What a component knows of the frames that a model answers. */
export interface FramesState<Result> extends ReadingState {
  /** The latest answer. */
  readonly result: Result | undefined;
}

const NOTHING = { status: 'idle', error: undefined } as const satisfies ReadingState;

/** Reads for a component: the store that it subscribes to. Of two readings, the later one ends the other. */
export class Reading<Item, State extends ReadingState> {
  readonly #empty: State;
  readonly #add: (state: State, item: Item) => State;
  readonly #listeners = new Set<() => void>();
  #state: State;
  #iterator: AsyncIterator<Item, undefined> | undefined;

  /** @param empty the state before the first item @param add returns the state with one more item */
  constructor(empty: State, add: (state: State, item: Item) => State) {
    this.#state = this.#empty = empty;
    this.#add = add;
  }

  readonly getState = (): State => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  /**
   * Reads from now on.
   * @param seen called with each item before the next one is asked for
   */
  start(items: AsyncIterable<Item>, seen: (item: Item) => void = () => {}): void {
    this.#end();
    this.#set({ ...this.#empty, status: 'running' });
    void this.#read((this.#iterator = items[Symbol.asyncIterator]() as AsyncIterator<Item, undefined>), seen);
  }

  /** Ends what is read. What came stays. */
  readonly stop = (): void => {
    if (this.#end()) this.#set({ ...this.#state, status: 'idle' });
  };

  async #read(iterator: AsyncIterator<Item, undefined>, seen: (item: Item) => void): Promise<void> {
    const isCurrent = (): boolean => iterator === this.#iterator;
    try {
      for (;;) {
        const { done, value } = await iterator.next();
        if (!isCurrent()) return;
        if (done) break;
        this.#set(this.#add(this.#state, value));
        notify(seen, value);
        // It may have stopped the reading.
        if (!isCurrent()) return;
      }
      this.#iterator = undefined;
      this.#set({ ...this.#state, status: 'done' });
    } catch (error) {
      if (!isCurrent()) return;
      this.#iterator = undefined;
      this.#set({ ...this.#state, status: 'error', error: asTabServeError(error) });
    }
  }

  /** @returns whether something was read */
  #end(): boolean {
    const iterator = this.#iterator;
    this.#iterator = undefined;
    void iterator?.return?.();
    return iterator !== undefined;
  }

  #set(state: State): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

/** Returns the store of an answer in parts. */
export function streamReading<Item>(): Reading<Item, StreamState<Item>> {
  return new Reading<Item, StreamState<Item>>({ ...NOTHING, items: [], text: '' }, (state, item) => ({
    ...state,
    items: [...state.items, item],
    text: typeof item === 'string' ? state.text + item : state.text,
  }));
}

/** Returns the store of the answers to frames. */
export function framesReading<Result>(): Reading<FrameAnswer<Result>, FramesState<Result>> {
  return new Reading<FrameAnswer<Result>, FramesState<Result>>(
    { ...NOTHING, result: undefined },
    (state, { result }) => ({ ...state, result }),
  );
}
