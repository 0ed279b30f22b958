import type { Context } from '../contract/handler.js';
import type { HandleRequest } from '../contract/wire.js';

/** The states of a batch's rows, each the state of its sequence. A row of no sequence has none. */
export class RowStates implements Pick<Context, 'sequenceId' | 'state' | 'setState'> {
  readonly #ids: HandleRequest['sequenceIds'];
  readonly #states: HandleRequest['states'];
  readonly #set = new Map<number, unknown>();

  constructor(ids: HandleRequest['sequenceIds'], states: HandleRequest['states']) {
    this.#ids = ids;
    this.#states = states;
  }

  readonly sequenceId = (index: number): string | undefined => this.#ids?.[index];

  readonly state = (index: number): unknown => this.#states?.[index];

  readonly setState = (index: number, value: unknown): void => {
    if (this.sequenceId(index) !== undefined) this.#set.set(index, value);
  };

  /** The state that the handler has set, by row. */
  get changed(): ReadonlyMap<number, unknown> {
    return this.#set;
  }
}
