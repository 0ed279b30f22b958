/** Who is the same person in windows that overlap, without a vector of the voice. */
import { halfEven } from './half-even.js';
import type { Frames, LocalSpeaker, Window } from './segmentation.js';

/**
 * Returns the speaker of each of `local`, from 0 on. Who speaks in the same frames of two windows that follow one
 * another is the same; who does not speak in the frames that both have is somebody new.
 */
export function matchWindows(
  windows: readonly Window[],
  local: readonly LocalSpeaker[],
  speakers: number,
  { windowStep, step, count }: Frames,
): readonly number[] {
  const found: number[] = [];
  let next = 0;
  let before = new Map<number, number>();
  for (const [index, { active }] of windows.entries()) {
    const own = local.filter(({ window }) => window === index).map(({ speaker }) => speaker);
    const shift = halfEven((index * windowStep) / step) - halfEven(((index - 1) * windowStep) / step);
    const together = (old: number, speaker: number): number => {
      const previous = windows[index - 1]!.active;
      let frames = 0;
      for (let frame = 0; frame + shift < count; frame++)
        frames += previous[(frame + shift) * speakers + old]! * active[frame * speakers + speaker]!;
      return frames;
    };
    const pairs = bestPairs(own, [...before.keys()], together);
    const after = new Map<number, number>();
    for (const speaker of own) {
      const old = pairs.get(speaker);
      const identity = old === undefined ? next++ : before.get(old)!;
      after.set(speaker, identity);
      found.push(identity);
    }
    before = after;
  }
  return found;
}

/** Returns the pairs of all whose sum is the largest; none whose own is 0. There are at most five of each kind. */
function bestPairs(
  own: readonly number[],
  others: readonly number[],
  valueOf: (other: number, one: number) => number,
): ReadonlyMap<number, number> {
  const [first, ...rest] = own;
  if (first === undefined) return new Map();
  const options = others.flatMap((other) => {
    const value = valueOf(other, first);
    if (value === 0) return [];
    const left = others.filter((one) => one !== other);
    return [new Map([[first, other], ...bestPairs(rest, left, valueOf)])];
  });
  const sumOf = (pairs: ReadonlyMap<number, number>): number =>
    [...pairs].reduce((sum, [one, other]) => sum + valueOf(other, one), 0);
  return [...options, bestPairs(rest, others, valueOf)].reduce((best, one) => (sumOf(one) > sumOf(best) ? one : best));
}
