import { numbersAt, toBox, toPixels } from './boxes.js';
import { checkCounts, isBatch, isBoxTable, isTable, misfit, ofBatch, type Format } from './decoder.js';
import { ACTIVATIONS, BACKGROUNDS, bestProbabilities, type ProbabilityOptions } from './proposals.js';
import { findOutputs, rolesSchema, type OutputNames, type Role } from './roles.js';

const ROLES: readonly Role[] = [
  { name: 'logits', usual: ['logits', 'pred_logits'], dims: '[batch, queries, classes]', fits: isTable },
  { name: 'boxes', usual: ['pred_boxes', 'boxes'], dims: '[batch, queries, 4]', fits: isBoxTable },
];

const COUNTS = 'as many boxes as logits';

export interface DetrOptions extends ProbabilityOptions {
  readonly outputs?: OutputNames;
}

/** DETR and its relatives: logits of each query, and its box as center and size in fractions of the tensor's sides. */
export const detr: Format<DetrOptions> = {
  description:
    'DETR: logits [batch, queries, classes] and boxes [batch, queries, 4] as center and size in fractions of the input’s sides.',
  options: {
    outputs: rolesSchema(ROLES),
    activation: {
      enum: [...ACTIVATIONS],
      description:
        'What makes probabilities of logits: softmax (DETR, YOLOS; the default) or sigmoid (Deformable DETR, RT-DETR); none where they are some.',
    },
    background: {
      enum: [...BACKGROUNDS],
      description: 'Where the logit of "no object" is. last by default; none with sigmoid.',
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
        if (boxes!.data.length !== count * 4) throw misfit('detr', COUNTS, ofBatch(found, [logits!, boxes!]));
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
