/** The segments of models that have a class and a mask for each of their queries: MaskFormer, Mask2Former, OneFormer, DETR. */
import type { MaybePromise } from '../../../contract/handler.js';
import { axis, bilinear, type Grid } from '../../outputs/interpolate.js';
import { eachRowWithPauses } from '../../outputs/interpolate-with-pauses.js';
import type { Maps } from '../../outputs/maps.js';
import { runMask, type RunMask } from '../../outputs/runs.js';
import { logistic, softmax } from '../../outputs/scores.js';
import type { Box } from '../../outputs/boxes/detection.js';

/** What is segmented: objects and regions (panoptic), or objects alone (instance). */
export type Subtask = 'panoptic' | 'instance';

/** What a model returns for one image. */
export interface Queries {
  /** `[queries, classes + 1]`: logits of each query's class; the last one is none. */
  readonly classes: Float32Array;
  /** A map of logits for each query. */
  readonly masks: Maps;
  /** The side of the square that maps are interpolated to before the sigmoid; undefined for their own size. */
  readonly side: number | undefined;
}

export interface SegmentThresholds {
  /** A query counts if the probability of its class is above this. */
  readonly score: number;
  /** A pixel is in a query's own mask if its probability, times that of the class, is at least this. */
  readonly mask: number;
  /** A segment counts if it has more than this part of the query's own mask: others cover the rest. */
  readonly overlap: number;
}

/** A segment of a photo. */
export interface Segment {
  readonly classIndex: number;
  readonly score: number;
  readonly mask: RunMask;
  readonly box: Box;
}

/** Stands for pixels that a crop removed. */
const NONE = 0xffff;

/**
 * Returns the segments of a photo, best first: each pixel belongs to the query whose probability there, times that of its
 * class, is highest. Of instances it is the logit instead of the probability, as in transformers.
 * @see https://github.com/huggingface/transformers/blob/main/src/transformers/models/oneformer/image_processing_oneformer.py
 *   `post_process_panoptic_segmentation`, without classes to fuse, and `post_process_instance_segmentation`
 * @param grid samples maps of the size of `masks`, or of `side`, at the photo's pixels
 * @param pause is called every few tenths of a second; what it throws ends the work
 */
export async function segmentsOf(
  { classes, masks, side }: Queries,
  grid: Grid,
  thresholds: SegmentThresholds,
  subtask: Subtask,
  pause: () => MaybePromise<void>,
): Promise<readonly Segment[]> {
  const size = masks.width * masks.height;
  const count = masks.channels;
  const [choose, valueOf] = subtask === 'instance' ? [likeliestPairs, identity] : [likeliestClasses, logistic];
  const chosen = choose(classes, count).filter(({ score }) => score > thresholds.score);
  if (chosen.length === 0) return [];

  const own = side === undefined ? { width: masks.width, height: masks.height } : { width: side, height: side };
  const square = side === undefined ? undefined : { columns: axis(side, masks.width), rows: axis(side, masks.height) };
  const data = new Float32Array(chosen.length * own.width * own.height);
  for (const [at, { query }] of chosen.entries()) {
    const map = masks.data.subarray(query * size, (query + 1) * size);
    const logits = square ? bilinear({ ...masks, channels: 1, data: map }, square) : map;
    data.set(logits.map(valueOf), at * own.width * own.height);
  }

  const [columns, rows] = [grid.columns.size, grid.rows.size];
  const owners = new Uint16Array(columns * rows).fill(NONE);
  const areas = new Float64Array(chosen.length);
  const ownAreas = new Float64Array(chosen.length);
  const visit = (values: Float64Array, y: number): void => {
    for (let x = grid.columns.first; x < grid.columns.end; x++) {
      let owner = 0;
      let best = -Infinity;
      for (let at = 0; at < chosen.length; at++) {
        const value = values[at * columns + x]! * chosen[at]!.score;
        if (value >= thresholds.mask) ownAreas[at]! += 1;
        if (value > best) [owner, best] = [at, value];
      }
      owners[y * columns + x] = owner;
      areas[owner]! += 1;
    }
  };
  await eachRowWithPauses({ ...own, channels: chosen.length, data, layout: 'NCHW' }, grid, visit, pause);
  const segments: Segment[] = [];
  for (const [at, { score, classIndex }] of chosen.entries()) {
    if (!(ownAreas[at]! > 0 && areas[at]! / ownAreas[at]! > thresholds.overlap)) continue;
    await pause();
    const found = runMask(columns, rows, (index) => owners[index] === at);
    if (found) segments.push({ classIndex, score, ...found });
  }
  return segments.toSorted((a, b) => b.score - a.score);
}

/** A query that may become a segment, and its class with the probability of it. */
interface Candidate {
  readonly query: number;
  readonly classIndex: number;
  readonly score: number;
}

/** Returns the queries with the likeliest class of each, without those that are none. */
function likeliestClasses(classes: Float32Array, count: number): readonly Candidate[] {
  const none = classes.length / count - 1;
  return probabilities(classes, count)
    .map((scores, query) => {
      const score = scores.reduce((best, value) => Math.max(best, value), 0);
      return { query, score, classIndex: scores.indexOf(score) };
    })
    .filter(({ classIndex }) => classIndex < none);
}

/** Returns the likeliest pairs of a query and a class, as many as there are queries. A query may be in several. */
function likeliestPairs(classes: Float32Array, count: number): readonly Candidate[] {
  return probabilities(classes, count)
    .flatMap((scores, query) =>
      Array.from(scores.subarray(0, -1), (score, classIndex) => ({ query, classIndex, score })),
    )
    .toSorted((a, b) => b.score - a.score)
    .slice(0, count);
}

function probabilities(classes: Float32Array, count: number): readonly Float64Array[] {
  const width = classes.length / count;
  return Array.from({ length: count }, (_, query) => softmax(classes.subarray(query * width, (query + 1) * width)));
}

function identity(logit: number): number {
  return logit;
}
