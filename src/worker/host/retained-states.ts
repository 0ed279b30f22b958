import type { KeptValues } from '../../contract/kept-values.js';
import type { SequenceData } from '../../contract/wire.js';
import { bytesOf } from '../../shared/bytes-of.js';

/** Stands for a state that the page has not sent and that is no longer cached. Reading it throws `state-lost`. */
export const LOST_STATE = Symbol('lost state');

type Sequences = readonly (SequenceData | undefined)[];

/**
 * Returns the state of each row's sequence: what the page has sent, or what is cached here. Removes it from the cache,
 * because the next state replaces it. A handler that fails may have changed it, which does no harm: the page has a copy.
 */
export function takeStates(sequences: Sequences, kept: KeptValues): unknown[] {
  return sequences.map((sequence) => {
    if (!sequence?.state) return undefined;
    const { state } = sequence;
    const own = kept.has(state.keptKey) ? kept.get(state.keptKey) : LOST_STATE;
    kept.delete(state.keptKey);
    return 'value' in state ? state.value : own;
  });
}

/** Returns copies for rows that may run again: a handler that fails may have changed its state. */
export function copyStates(states: readonly unknown[]): unknown[] {
  return states.map((state) => (state === LOST_STATE ? state : structuredClone(state)));
}

/** Caches the new states of the rows' sequences. The page gets copies. */
export function keepStates(sequences: Sequences, states: readonly unknown[], kept: KeptValues): void {
  for (const [index, sequence] of sequences.entries()) {
    const state = states[index];
    if (sequence && state !== undefined) kept.set(sequence.nextKey, state, { bytes: bytesOf(state) });
  }
}
