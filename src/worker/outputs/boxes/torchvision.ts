import type { DType, OutputInfo } from '../../../contract/tensors.js';
import { numbersAt, toBox, toPixels, type BoxFormat, type Unit } from './boxes.js';
import { checkCounts, isBatch, isBoxTable, mismatchError, type Format } from './decoder.js';
import { chosenClasses } from './proposals.js';
import { findOutputs, type Role } from './roles.js';

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
  /** The names of the outputs, if the decoder cannot recognize them by name or dims. */
  readonly outputs?: {
    /** The name of the output with the dims [boxes, 4] or [batch, boxes, 4]. */
    readonly boxes?: string;
    /** The name of the output with the dims [boxes] or [batch, boxes], integers. */
    readonly labels?: string;
    /** The name of the output with the dims [boxes] or [batch, boxes]. */
    readonly scores?: string;
  };
  /**
   * How four numbers describe a box: corners (xyxy), corners with y first (yxyx), left top corner and size (xywh),
   * or center and size (cxcywh). Default xyxy.
   */
  readonly format?: BoxFormat;
  /**
   * The unit of the boxes: pixels of the model's input (pixels), or fractions of its sides (fraction). Default
   * pixels.
   */
  readonly unit?: Unit;
}

/** torchvision's exported detectors: final boxes, labels and scores in three outputs, usually without a batch axis. */
export const torchvision: Format<TorchvisionOptions> = {
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
