/**
 * Ids for the boxes of a sequence of frames: ByteTrack (Zhang et al., 2022, arXiv:2110.06864), which also looks among
 * the boxes of low score for the objects that it follows.
 */
import { assign } from './assignment.js';
import type { Box } from '../boxes/detection.js';
import { iou } from '../boxes/nms.js';
import { boxOf, correct, predict, startMotion, type Motion } from './kalman.js';

/** What the tracker follows. */
interface Track {
  readonly id: number;
  readonly motion: Motion;
  readonly score: number;
  /** The frames in which it began, and in which it was last seen. */
  readonly began: number;
  readonly seen: number;
  /** Whether it counts: it was there in the first frame, or in two. */
  readonly isConfirmed: boolean;
  readonly isLost: boolean;
}

/** What a sequence remembers: plain data. */
export interface TrackerState {
  readonly frame: number;
  readonly lastId: number;
  readonly tracks: readonly Track[];
}

export interface TrackerOptions {
  /** Boxes of a higher score are matched first, and those 0.1 above it begin a track, in 0..1. */
  readonly highScore: number;
  /** For how many frames an object that is not seen keeps its id. */
  readonly maxLost: number;
  /** The largest cost of a match: 1 − IoU · score. */
  readonly maxCost: number;
}

export const NO_TRACKS: TrackerState = { frame: 0, lastId: 0, tracks: [] };

/**
 * The largest numbers of boxes in a frame, and of objects that are not seen: those with the highest scores, and those
 * that were seen last. Assigning takes a time that grows with the third power of their numbers.
 */
export const [MAX_TRACKED_BOXES, MAX_LOST_TRACKS] = [500, 500];
/** Boxes of a lower score are ignored. */
const LOW_SCORE = 0.1;
/** A track begins with a score that is higher than `highScore` by so much. */
const MORE_TO_BEGIN = 0.1;
/** The largest costs of a match with a box of low score, and of one with a track that was seen once. */
const [MAX_LOW_COST, MAX_NEW_COST] = [0.5, 0.7];
/** A track that is lost and one that is not are the same if 1 − IoU is less. */
const DUPLICATE = 0.15;

/**
 * Follows the boxes of one more frame.
 * @returns the state with it, and for each box the id of its track; undefined for a box of none
 */
export function track(
  state: TrackerState,
  boxes: readonly Box[],
  scores: readonly number[],
  { highScore, maxLost, maxCost }: TrackerOptions,
): { readonly state: TrackerState; readonly ids: readonly (number | undefined)[] } {
  const frame = state.frame + 1;
  const ids: (number | undefined)[] = boxes.map(() => undefined);
  // A box without an inside has no ratio of width to height.
  const solid = highest(
    [...boxes.keys()].filter((at) => boxes[at]!.xmax > boxes[at]!.xmin && boxes[at]!.ymax > boxes[at]!.ymin),
    (at) => scores[at]!,
    MAX_TRACKED_BOXES,
  );
  const high = solid.filter((at) => scores[at]! > highScore);
  const low = solid.filter((at) => scores[at]! > LOW_SCORE && scores[at]! < highScore);
  const moved = state.tracks.map((one) =>
    one.isConfirmed || one.isLost ? { ...one, motion: predict(one.motion, one.isLost) } : one,
  );
  const unconfirmed = moved.filter((one) => !one.isConfirmed && !one.isLost);
  const seen: Track[] = [];
  const see = (one: Track, at: number): void => {
    ids[at] = one.id;
    const isConfirmed = one.isConfirmed || !one.isLost;
    const motion = correct(one.motion, boxes[at]!);
    seen.push({ ...one, motion, score: scores[at]!, seen: frame, isConfirmed, isLost: false });
  };
  /** Matches tracks and boxes. Returns those that are left. */
  const match = (tracks: readonly Track[], among: readonly number[], cost: number, weighsScore: boolean) => {
    const found = cheapest(tracks, among, boxes, scores, cost, weighsScore);
    found.forEach((order, index) => order >= 0 && see(tracks[index]!, among[order]!));
    const taken = new Set(found);
    return {
      tracks: tracks.filter((_, index) => found[index]! < 0),
      boxes: among.filter((_, order) => !taken.has(order)),
    };
  };
  // Those that are followed come first, then those that are lost, as the order decides among equals.
  const followed = moved.filter((one) => one.isConfirmed && !one.isLost);
  const first = match([...followed, ...moved.filter((one) => one.isLost)], high, maxCost, true);
  const second = match(
    first.tracks.filter((one) => !one.isLost),
    low,
    MAX_LOW_COST,
    false,
  );
  const third = match(unconfirmed, first.boxes, MAX_NEW_COST, true);
  let { lastId } = state;
  const begun = third.boxes.flatMap((at): Track[] => {
    if (scores[at]! < highScore + MORE_TO_BEGIN) return [];
    lastId += 1;
    const one = { id: lastId, motion: startMotion(boxes[at]!), score: scores[at]!, began: frame, seen: frame };
    if (frame === 1) ids[at] = lastId;
    return [{ ...one, isConfirmed: frame === 1, isLost: false }];
  });
  const stillLost = [
    ...first.tracks.filter((one) => one.isLost),
    ...second.tracks.map((one) => ({ ...one, isLost: true })),
  ].filter((one) => frame - one.seen <= maxLost + 1);
  const lost = highest(stillLost, ({ seen }) => seen, MAX_LOST_TRACKS);
  const inOrder = moved.flatMap((one) => (one.isLost ? [] : (seen.find(({ id }) => id === one.id) ?? [])));
  const found = seen.filter((one) => !inOrder.includes(one));
  const tracks = withoutDuplicates([...inOrder, ...begun, ...found], lost);
  const kept = new Set(tracks.map(({ id }) => id));
  return {
    state: { frame, lastId, tracks },
    ids: ids.map((id) => (id !== undefined && kept.has(id) ? id : undefined)),
  };
}

/** Returns the `most` items with the highest ranks, in their order. */
function highest<T>(items: readonly T[], rank: (item: T) => number, most: number): readonly T[] {
  if (items.length <= most) return items;
  const chosen = new Set(items.toSorted((one, other) => rank(other) - rank(one)).slice(0, most));
  return items.filter((item) => chosen.has(item));
}

/** Returns for each track the index of its box in `among`, or −1. */
function cheapest(
  tracks: readonly Track[],
  among: readonly number[],
  boxes: readonly Box[],
  scores: readonly number[],
  most: number,
  weighsScore: boolean,
): readonly number[] {
  if (tracks.length === 0 || among.length === 0) return tracks.map(() => -1);
  const costs = tracks.flatMap(({ motion }) => {
    const box = boxOf(motion);
    return among.map((at) => 1 - iou(box, boxes[at]!) * (weighsScore ? scores[at]! : 1));
  });
  const bounded = Float64Array.from(costs, (cost) => (cost > most ? most + 1e-4 : cost));
  return Array.from(assign(bounded, tracks.length, among.length), (order, index) =>
    order >= 0 && costs[index * among.length + order]! <= most ? order : -1,
  );
}

/**
 * Removes duplicates: if a followed track and a lost one are at the same position, keeps the one that was followed for
 * longer.
 */
function withoutDuplicates(followed: readonly Track[], lost: readonly Track[]): readonly Track[] {
  const dropped = new Set<Track>();
  for (const one of followed)
    for (const other of lost) {
      if (1 - iou(boxOf(one.motion), boxOf(other.motion)) >= DUPLICATE) continue;
      dropped.add(one.seen - one.began > other.seen - other.began ? other : one);
    }
  return [...followed, ...lost].filter((one) => !dropped.has(one));
}
