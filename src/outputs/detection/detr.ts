import { numbersAt, toBox, toPixels } from './boxes.js';
import { checkCounts, isBatch, isBoxTable, isTable, mismatchError, withBatchAxis, type Format } from './decoder.js';
import { ACTIVATIONS, BACKGROUNDS, bestProbabilities, type ProbabilityOptions } from './proposals.js';
import { findOutputs, rolesSchema, type OutputNames, type Role } from './roles.js';

const ROLES: readonly Role[] = [
  { name: 'logits', usualNames: ['logits', 'pred_logits'], dims: '[batch, queries, classes]', fits: isTable },
  { name: 'boxes', usualNames: ['pred_boxes', 'boxes'], dims: '[batch, queries, 4]', fits: isBoxTable },
];

const COUNTS = 'as many boxes as logits';

export interface DetrOptions extends ProbabilityOptions {
  readonly outputs?: OutputNames;
}

/** DETR and related models: each query has logits and a box, as center and size in fractions of the tensor's sides. */
export const detr: Format<DetrOptions> = {
  description:
    'DETR: logits [batch, queries, classes], and boxes [batch, queries, 4] as center and size in fractions of the input’s sides.',
  options: {
    outputs: rolesSchema(ROLES),
    activation: {
      enum: [...ACTIVATIONS],
      description:
        'How logits become probabilities: softmax (DETR, YOLOS), sigmoid (Deformable DETR, RT-DETR), or none if they are probabilities already. Default softmax.',
    },
    background: {
      enum: [...BACKGROUNDS],
      description: 'The position of the logit for "no object". Default: last with softmax, otherwise none.',
    },
  },
  iouThreshold: 1,
  create({ outputs = {}, activation = 'softmax', background = activation === 'softmax' ? 'last' : 'none' }, model) {
    const found = findOutputs('detr', ROLES, outputs, model).map(([output]) => output!);
    const columns = found[0]!.dims.at(-1);
    checkCounts('detr', COUNTS, found, found.map(({ dims }) => dims.at(-2))); // prettier-ignore
    return {
      outputs: found.map(({ name }) => name),
      isBatched: isBatch(found[0]!),
      classes: typeof columns === 'number' ? columns - (background === 'last' ? 1 : 0) : undefined,
      decode([logits, boxes], size) {
        const [count, columns] = logits!.dims as readonly [number, number];
        if (boxes!.data.length !== count * 4)
          throw mismatchError('detr', COUNTS, withBatchAxis(found, [logits!, boxes!]));
        return {
          ...bestProbabilities(
            logits!.data,
            { count, classes: columns, offset: 0, boxStride: columns, classStride: 1 },
            activation,
            background,
          ),
          box: (index) => toPixels(toBox('cxcywh', ...numbersAt(boxes!.data, index * 4)), 'fraction', size),
        };
      },
    };
  },
};
