// Ids of boxes against ByteTrack of `supervision` in Python: `test/goldens/tracking/make.py`.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, test } from '@playwright/test';
import { assign } from '../../../../../src/worker/outputs/tracking/assignment.ts';
import {
  MAX_TRACKED_BOXES,
  MAX_LOST_TRACKS,
  NO_TRACKS,
  track,
} from '../../../../../src/worker/outputs/tracking/byte-track.ts';
import { boxOf, startMotion } from '../../../../../src/worker/outputs/tracking/kalman.ts';

interface Sequence {
  readonly options: Readonly<Record<string, number>>;
  readonly frames: readonly (readonly number[])[][];
  readonly tracks: readonly (readonly number[])[][];
}
const sequences = JSON.parse(
  gunzipSync(readFileSync(new URL('../../../../goldens/tracking/byte-track.json.gz', import.meta.url))).toString(),
) as readonly Sequence[];

for (const [index, { options, frames, tracks }] of sequences.entries())
  test(`sequence ${index}: ids are equal, and boxes to 0.01 pixels${index === 0 ? '' : ' @full'}`, () => {
    let state = NO_TRACKS;
    const idOf = new Map<number, number>();
    for (const [frame, rows] of frames.entries()) {
      const boxes = rows.map(([xmin, ymin, xmax, ymax]) => ({ xmin: xmin!, ymin: ymin!, xmax: xmax!, ymax: ymax! }));
      const followed = track(
        // What a page holds of a state is a copy.
        structuredClone(state),
        boxes,
        rows.map((row) => row[4]!),
        {
          highScore: options['track_activation_threshold'] ?? 0.25,
          maxLost: options['lost_track_buffer'] ?? 30,
          maxCost: options['minimum_matching_threshold'] ?? 0.8,
        },
      );
      state = followed.state;
      const own = state.tracks.filter(({ isLost, isConfirmed }) => !isLost && isConfirmed);
      expect(own, `frame ${frame}`).toHaveLength(tracks[frame]!.length);
      for (const [theirs, ...corners] of tracks[frame]!) {
        const same = own.find(({ motion }) => {
          const { xmin, ymin, xmax, ymax } = boxOf(motion);
          return [xmin, ymin, xmax, ymax].every((value, at) => Math.abs(value - corners[at]!) < 0.01);
        });
        // Python numbers what begins in one frame in the order of a set: by chance.
        if (!idOf.has(theirs!) && same) idOf.set(theirs!, same.id);
        expect(idOf.get(theirs!), `frame ${frame}, id ${theirs}`).toBe(same?.id);
      }
      // Each id belongs to one box, and is one of a track that is followed.
      const ids = followed.ids.filter((id) => id !== undefined);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.toSorted((a, b) => a - b)).toEqual(own.map(({ id }) => id).toSorted((a, b) => a - b));
    }
    expect(new Set(idOf.values()).size).toBe(idOf.size);
  });

test('a frame of very many boxes, and objects that are never seen again, cost bounded time and memory', () => {
  const grid = (count: number, from: number) =>
    Array.from({ length: count }, (_, at) => {
      const [x, y] = [20 * (at % 50) + from, 20 * Math.floor(at / 50)];
      return { xmin: x, ymin: y, xmax: x + 10, ymax: y + 10 };
    });
  const options = { highScore: 0.25, maxLost: 10_000, maxCost: 0.8 };
  const scores = Array.from({ length: 3000 }, (_, at) => 0.5 + at / 10_000);
  const many = track(NO_TRACKS, grid(3000, 0), scores, options);
  // Those with the highest scores have ids.
  expect(many.ids.map((id) => id !== undefined)).toEqual(scores.map((_, at) => at >= 3000 - MAX_TRACKED_BOXES));
  let { state } = many;
  for (let frame = 1; frame <= 20; frame++)
    ({ state } = track(state, frame % 2 ? [] : grid(100, 1e4 * frame), scores.slice(0, 100), options));
  expect(state.tracks.filter(({ isLost }) => isLost).length).toBeLessThanOrEqual(MAX_LOST_TRACKS);
  expect(state.tracks.length).toBeLessThanOrEqual(MAX_TRACKED_BOXES + MAX_LOST_TRACKS);
});

test('the assignment has the least sum of all', () => {
  let seed = 1;
  const random = (): number => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const best = (costs: Float64Array, rows: number, columns: number, row = 0, used = 0): number => {
    if (row === rows) return 0;
    let least = Infinity;
    for (let column = 0; column < columns; column++)
      if (!(used & (1 << column)))
        least = Math.min(
          least,
          costs[row * columns + column]! + best(costs, rows, columns, row + 1, used | (1 << column)),
        );
    return least;
  };
  for (const [rows, columns] of [
    [1, 1],
    [3, 3],
    [2, 5],
    [5, 6],
    [6, 6],
  ] as const)
    for (let round = 0; round < 20; round++) {
      // Few different costs, so that there are ties.
      const costs = Float64Array.from({ length: rows * columns }, () => Math.floor(random() * 6));
      const found = assign(costs, rows, columns);
      expect(new Set(found).size).toBe(rows);
      const sum = found.reduce((total, column, row) => total + costs[row * columns + column]!, 0);
      expect(sum).toBe(best(costs, rows, columns));
      const turned = Float64Array.from(costs, (_, at) => costs[(at % rows) * columns + Math.floor(at / rows)]!);
      const other = assign(turned, columns, rows);
      expect([...other].filter((column) => column >= 0)).toHaveLength(rows);
      expect(other.reduce((total, column, row) => total + (column < 0 ? 0 : turned[row * rows + column]!), 0)).toBe(
        sum,
      );
    }
});

const boxAt = (x: number) => ({ xmin: x, ymin: 0, xmax: x + 10, ymax: 10 });
const OPTIONS = { highScore: 0.5, maxLost: 2, maxCost: 0.8 };

test('an object that is not seen keeps its id until the frame after maxLost, as in ByteTrack, which removes it late', () => {
  const idAfter = (missing: number): number | undefined => {
    let state = NO_TRACKS;
    let ids: readonly (number | undefined)[] = [];
    for (const isSeen of [true, true, ...Array.from({ length: missing }, () => false), true, true])
      ({ state, ids } = track(state, isSeen ? [boxAt(0)] : [], isSeen ? [0.9] : [], OPTIONS));
    return ids[0];
  };
  expect([1, 2, 3, 4].map(idAfter)).toEqual([1, 1, 1, 2]);
});

test('only a box whose score is 0.1 above highScore begins a track', () => {
  const begins = (score: number): number => track(NO_TRACKS, [boxAt(0)], [score], OPTIONS).state.tracks.length;
  expect([0.4, 0.55, 0.59, 0.61].map(begins)).toEqual([0, 0, 0, 1]);
});

test('of a lost track and a followed one at the same place, the one that was followed for longer is left', () => {
  const one = { motion: startMotion(boxAt(0)), score: 0.9, isConfirmed: true };
  const idsLeft = (lostBegan: number, followedBegan: number): readonly number[] => {
    const lost = { ...one, id: 1, began: lostBegan, seen: 9, isLost: true };
    const followed = { ...one, id: 2, began: followedBegan, seen: 10, isLost: false };
    const state = { frame: 10, lastId: 2, tracks: [lost, followed] };
    return track(state, [boxAt(0)], [0.9], OPTIONS).state.tracks.map(({ id }) => id);
  };
  expect(idsLeft(1, 8)).toEqual([1]);
  expect(idsLeft(8, 1)).toEqual([2]);
});
