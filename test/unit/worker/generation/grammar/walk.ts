/** Texts of a grammar at random. */
import type { Automaton, State } from '../../../../../src/worker/generation/grammar/automaton.ts';
import { random } from '../../../../random.ts';

/** The characters that are likely: others come less often. */
const LIKELY = new TextEncoder().encode('"0123456789abcxyzAZ-@.:/T[]{},\\ntrue');

/** Returns a text of a grammar, byte by byte; undefined if it gets too long. @throws if no byte leads on */
export function walk(grammar: Automaton, seed: number): string | undefined {
  const next = random(seed);
  const bytes: number[] = [];
  let state: State = grammar.start;
  // The longer it gets, the sooner it ends.
  for (let length = 0; length < 3000; length++) {
    grammar.beginSearch();
    const found: (readonly [number, State])[] = [];
    for (let byte = 0; byte < 256; byte++) {
      const after = grammar.step(state, byte);
      if (after) found.push([byte, after]);
    }
    if (found.length === 0 && !state.mayEnd) throw new Error(`No byte leads on from ${decoded(bytes)}`);
    if (state.mayEnd && (found.length === 0 || next() < 0.3)) return decoded(bytes);
    const closing = length > 100 ? found.filter(([byte]) => byte === 0x22 || byte === 0x5d || byte === 0x7d) : [];
    const likely = next() < 0.9 ? found.filter(([byte]) => LIKELY.includes(byte)) : [];
    const from = closing.length > 0 ? closing : likely.length > 0 ? likely : found;
    const [byte, after] = from[Math.floor(next() * from.length)]!;
    bytes.push(byte);
    state = after;
  }
  return undefined;
}

function decoded(bytes: readonly number[]): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
}
