import type { DType, OutputInfo } from '../../../contract/tensors.js';
import { boxFormatSchema, numbersAt, toBox, toPixels, unitSchema, type BoxFormat, type Unit } from './boxes.js';
import { checkCounts, isBatch, isBoxTable, mismatchError, type Format } from './decoder.js';
import { chosenClasses } from './proposals.js';
import { findOutputs, rolesSchema, type OutputNames, type Role } from './roles.js';

const isInteger = (dtype: DType): boolean => dtype.includes('int');
const isList = ({ dims }: Pick<OutputInfo, 'dims'>): boolean => dims.length < 3;

const ROLES: readonly Role[] = [
  {
    name: 'boxes',
    usualNames: ['boxes', 'detection_boxes', 'bboxes'],
    dims: '[boxes, 4] or [batch, boxes, 4]',
    fits: isBoxTable,
  },
  {
    name: 'labels',
    usualNames: ['labels', 'detection_classes', 'classes'],
    dims: '[boxes] or [batch, boxes], integers',
    fits: isList,
    acceptsDtype: isInteger,
  },
  {
    name: 'scores',
    usualNames: ['scores', 'detection_scores'],
    dims: '[boxes] or [batch, boxes]',
    fits: isList,
    acceptsDtype: (dtype) => !isInteger(dtype),
  },
];

const COUNTS = 'as many labels and scores as boxes';

export interface TorchvisionOptions {
  readonly outputs?: OutputNames;
  readonly format?: BoxFormat;
  readonly unit?: Unit;
}

/** torchvision's exported detectors: final boxes, labels and scores in three outputs, usually without a batch axis. */
export const torchvision: Format<TorchvisionOptions> = {
  description:
    "Final boxes, labels and scores in three outputs, as torchvision's detectors and TensorFlow's Object Detection API return them. Labels use the class numbers of the model: in torchvision, class 0 is the background.",
  options: { outputs: rolesSchema(ROLES), format: boxFormatSchema, unit: unitSchema },
  iouThreshold: 1,
  create({ outputs = {}, format = 'xyxy', unit = 'pixels' }, model) {
    const found = findOutputs('torchvision', ROLES, outputs, model).map(([output]) => output!);
    const [boxes, ...others] = found;
    checkCounts('torchvision', COUNTS, found, [boxes!.dims.at(-2), ...others.map(({ dims }) => dims.at(-1))]);
    return {
      outputs: found.map(({ name }) => name),
      isBatched: isBatch(found[0]!),
      classes: undefined,
      decode([boxes, labels, scores], size) {
        const given = [boxes!, labels!, scores!].map(({ dims }, index) => ({ name: found[index]!.name, dims }));
        if (boxes!.data.length > 0 && boxes!.dims.at(-1) !== 4)
          throw mismatchError('torchvision', `boxes ${ROLES[0]!.dims}`, given);
        checkCounts('torchvision', COUNTS, given, [boxes!.data.length / 4, labels!.data.length, scores!.data.length]);
        return {
          ...chosenClasses(scores!.data, labels!.data),
          box: (index) => toPixels(toBox(format, ...numbersAt(boxes!.data, index * 4)), unit, size),
        };
      },
    };
  },
};
