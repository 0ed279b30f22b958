import type { KeptValues } from '../../contract/kept-values.js';
import type { SequenceData } from '../../contract/wire.js';
import { bytesOf } from '../../shared/bytes-of.js';

/** Stands for a state that the page has not sent and that is not kept any more. Who asks for it fails with `state-lost`. */
export const LOST_STATE = Symbol('lost state');

type Sequences = readonly (SequenceData | undefined)[];

/**
 * Returns the state of each row's sequence: what the page has sent, or what is kept. It is not kept any longer: the next
 * one takes its place, and what a handler that fails has done to it has no consequence, since the page has a copy.
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

/** Keeps the new states of the rows' sequences, which no one else has. The page gets copies. */
export function keepStates(sequences: Sequences, states: readonly unknown[], kept: KeptValues): void {
  for (const [index, sequence] of sequences.entries()) {
    const state = states[index];
    if (sequence && state !== undefined) kept.set(sequence.nextKey, state, { bytes: bytesOf(state) });
  }
}
