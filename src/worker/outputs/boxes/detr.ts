import { numbersAt, toBox, toPixels } from './boxes.js';
import {
  checkColumns,
  checkCounts,
  isBatch,
  isBoxTable,
  isTable,
  mismatchError,
  withBatchAxis,
  type Format,
} from './decoder.js';
import type { Box } from './detection.js';
import { allProbabilities, bestProbabilities, type Activation, type Background } from './proposals.js';
import { findOutputs, type Role } from './roles.js';

const ROLES: readonly Role[] = [
  { name: 'logits', usualNames: ['logits', 'pred_logits'], dims: '[batch, queries, classes]', fits: isTable },
  { name: 'boxes', usualNames: ['pred_boxes', 'boxes'], dims: '[batch, queries, 4]', fits: isBoxTable },
];

const COUNTS = 'as many boxes as logits';

export interface DetrOptions {
  /** The names of the outputs, if the decoder cannot recognize them by name or dims. */
  readonly outputs?: {
    /** The name of the output with the dims [batch, queries, classes]. */
    readonly logits?: string;
    /** The name of the output with the dims [batch, queries, 4]. */
    readonly boxes?: string;
  };
  /**
   * How logits become probabilities: softmax (DETR, YOLOS), sigmoid (Deformable DETR, RT-DETR), or none if they
   * are probabilities already. Default softmax.
   */
  readonly activation?: Activation;
  /** The position of the logit for "no object". Default: last with softmax, otherwise none. */
  readonly background?: Background;
  /**
   * Whether a query is one detection for each of its classes, as in Deformable DETR and RT-DETR, or only for its
   * best one. Default false.
   */
  readonly multiLabel?: boolean;
}

/** DETR and related models: each query has logits and a box, as center and size in fractions of the tensor's sides. */
export const detr: Format<DetrOptions> = {
  iouThreshold: 1,
  create(options, model) {
    const { outputs = {}, activation = 'softmax', multiLabel = false } = options;
    const { background = activation === 'softmax' ? 'last' : 'none' } = options;
    const found = findOutputs('detr', ROLES, outputs, model).map(([output]) => output!);
    const columns = found[0]!.dims.at(-1);
    checkCounts(
      'detr',
      COUNTS,
      found,
      found.map(({ dims }) => dims.at(-2)),
    );
    checkColumns('detr', columns, background, found);
    return {
      outputs: found.map(({ name }) => name),
      isBatched: isBatch(found[0]!),
      classes: typeof columns === 'number' ? columns - (background === 'last' ? 1 : 0) : undefined,
      decode([logits, boxes], size) {
        const [count, columns] = logits!.dims as readonly [number, number];
        const given = withBatchAxis(found, [logits!, boxes!]);
        if (boxes!.dims.at(-1) !== 4) throw mismatchError('detr', `boxes ${ROLES[1]!.dims}`, given);
        if (boxes!.data.length !== count * 4) throw mismatchError('detr', COUNTS, given);
        checkColumns('detr', columns, background, given);
        const layout = { count, classes: columns, offset: 0, boxStride: columns, classStride: 1 };
        const box = (query: number): Box =>
          toPixels(toBox('cxcywh', ...numbersAt(boxes!.data, query * 4)), 'fraction', size);
        if (!multiLabel) return { ...bestProbabilities(logits!.data, layout, activation, background), box };
        const all = allProbabilities(logits!.data, layout, activation, background);
        return { ...all, box: (index) => box(Math.floor((index * count) / all.scores.length)) };
      },
    };
  },
};
