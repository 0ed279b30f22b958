/** Follows faces, hands and people over the frames of a sequence. */
import type { Region } from '../../../contract/images.js';
import { iou } from '../../outputs/boxes/nms.js';
import { NO_TRACKS, track, type TrackerState } from '../../outputs/tracking/byte-track.js';
import { LANDMARK_SMOOTHING, oneEuro, type OneEuroState } from './one-euro.js';
import { boxAround, type FoundLandmarks } from './found.js';
import { boxOfRegion, hasInside } from './region.js';

/** Where one of them is expected in the next frame, and its smoothed landmarks: undefined if they are not smoothed. */
export interface Followed {
  readonly region: Region;
  readonly id: number | undefined;
  readonly smooth?: OneEuroState | undefined;
}

/** What a sequence remembers: plain data. */
export interface FollowState {
  /** The size of the last frame, in pixels. */
  readonly width: number;
  readonly height: number;
  /** When the last frame was, in seconds. */
  readonly time: number;
  /** Frames since the detector ran. */
  readonly sinceDetection: number;
  readonly followed: readonly Followed[];
  readonly tracks: TrackerState;
}

/** What the model of landmarks says of a region. */
export interface Reading<Found> {
  readonly found: Found;
  /** Where to look in the next frame. */
  readonly next: Region;
}

/** A frame of a sequence. */
export interface FollowedFrame extends Pick<FollowState, 'width' | 'height'> {
  /** When it was taken, in seconds; undefined if it does not say so. */
  readonly time: number | undefined;
  /** Whether the detector has run. */
  readonly detects: boolean;
  /** Whether landmarks are smoothed. */
  readonly smoothing: boolean;
}

/** The time from frame to frame where the frames do not say it, in seconds. */
const FRAME_SECONDS = 1 / 30;

/** Regions that overlap more show the same one. */
const SAME_REGION = 0.5;
/** For how many frames an id is retained for a person who is not seen. */
const LOST_FRAMES = 30;

/** A lower score counts as this one: who is in the answer is followed, whatever the handler's `scoreThreshold` is. */
const MIN_SCORE = 0.5;

/** Returns those in `all` that are not the same one as an earlier one of them, at most `limit`. */
export function distinct<T extends Pick<Followed, 'region'>>(all: readonly T[], limit: number): readonly T[] {
  const kept: T[] = [];
  for (const one of all) {
    const box = boxOfRegion(one.region);
    if (kept.length < limit && kept.every(({ region }) => iou(boxOfRegion(region), box) <= SAME_REGION)) kept.push(one);
  }
  return kept;
}

/** Returns the state before a frame, if its size is the same: with another one, everybody is elsewhere. */
export function stateFor(
  { width, height }: Pick<FollowState, 'width' | 'height'>,
  last: FollowState | undefined,
): FollowState | undefined {
  return last?.width === width && last.height === height ? last : undefined;
}

/**
 * Gives those that were found in a frame their ids, and smooths their landmarks.
 * @param last the state after the frame before
 */
export function follow<F extends FoundLandmarks>(
  last: FollowState | undefined,
  readings: readonly Reading<F>[],
  { width, height, time: taken, detects, smoothing }: FollowedFrame,
): { readonly state: FollowState; readonly found: readonly F[] } {
  const before = stateFor({ width, height }, last);
  const time = taken ?? (last ? last.time + FRAME_SECONDS : 0);
  const elapsed = last && time > last.time ? time - last.time : FRAME_SECONDS;
  const { state: tracks, ids } = identify(
    before?.tracks ?? (last && startAnew(last.tracks)),
    readings.map(({ found }) => found),
  );
  const smoothed = readings.map(({ found }, at) => {
    const known = ids[at] === undefined ? undefined : before?.followed.find(({ id }) => id === ids[at])?.smooth;
    return smoothing ? smooth(found, known, elapsed) : { found, state: undefined };
  });
  const followed = readings
    .map(({ next }, at) => ({ region: next, id: ids[at], smooth: smoothed[at]!.state }))
    .filter(({ region }) => hasInside(region));
  const sinceDetection = detects ? 0 : before!.sinceDetection + 1;
  return {
    state: { width, height, time, sinceDetection, followed, tracks },
    found: smoothed.map(({ found }, at) => (ids[at] === undefined ? found : { id: ids[at], ...found })),
  };
}

/** Returns the ids of those that were found, and the tracks with this frame: a new one has an id from its second frame on. */
function identify(
  tracks: TrackerState | undefined,
  found: readonly FoundLandmarks[],
): { readonly state: TrackerState; readonly ids: readonly (number | undefined)[] } {
  return track(
    tracks ?? NO_TRACKS,
    found.map(({ box }) => box),
    found.map(({ score }) => Math.max(score, MIN_SCORE)),
    { highScore: 0.25, maxCost: 0.8, maxLost: LOST_FRAMES },
  );
}

/** Returns the tracks of nobody. Their ids go on, so that none is given to two. */
function startAnew({ lastId }: TrackerState): TrackerState {
  return { ...NO_TRACKS, lastId };
}

/** Smooths the landmarks of one of them, and the box around them, by its state in the frame before. */
function smooth<F extends FoundLandmarks>(
  found: F,
  before: OneEuroState | undefined,
  seconds: number,
): { readonly found: F; readonly state: OneEuroState } {
  const { box, landmarks } = found;
  const values = landmarks.flatMap(({ x, y, z = 0 }) => [x, y, z]);
  const size = (box.xmax - box.xmin + box.ymax - box.ymin) / 2;
  const known = before?.values.length === values.length && size > 0 ? before : undefined;
  const state = oneEuro(known, values, seconds, size, LANDMARK_SMOOTHING);
  const smoothed = landmarks.map((point, at) => ({
    ...point,
    x: state.values[3 * at]!,
    y: state.values[3 * at + 1]!,
    ...(point.z === undefined ? {} : { z: state.values[3 * at + 2]! }),
  }));
  // The model's own box stays as it is.
  const around = boxAround(landmarks);
  const isAround = (['xmin', 'ymin', 'xmax', 'ymax'] as const).every((edge) => box[edge] === around[edge]);
  return { found: { ...found, box: isAround ? boxAround(smoothed) : box, landmarks: smoothed }, state };
}
