/**
 * How decoders take points and boxes, and return masks: the forms in which Segment Anything and its like are exported.
 */
import { checkFloats } from '../../outputs/floats.js';
import { TabServeError } from '../../../contract/errors.js';
import type { Session, Tensor, TensorInfo, Tensors } from '../../../contract/tensors.js';
import { concat, slice } from '../../tensors/tensors.js';
import type { Placement } from '../../handlers/placements.js';
import type { Prompts } from './prompts.js';

/** One form. Coordinates are pixels of the tensor. */
export interface PromptForm {
  /** The decoder's inputs that prompts fill. */
  readonly inputs: readonly string[];
  readonly outputs: readonly [masks: string, scores: string];
  readonly takesBoxes: boolean;
  /**
   * Returns the decoder's inputs for prompts, for each of its runs.
   * @throws `invalid-input` for prompts that the model cannot take
   */
  feeds(prompts: Prompts, placement: Placement): readonly Tensors[];
  /**
   * Returns the outputs of one run as `[1, objects, masks, height, width]` of logits and `[1, objects, masks]` of
   * scores.
   */
  read(masks: Tensor, scores: Tensor): readonly [Tensor, Tensor];
}

/** A point of a corner of a box; of nothing, which stands where there is no box. */
const [CORNERS, NOTHING] = [[2, 3], -1] as const;
/** How many points EfficientSAM's decoder reads: `decoder_max_num_input_points` of its published models. */
const EFFICIENT_POINTS = 6;

/** Returns the form of transformers' models, with the input names of Optimum and transformers.js. */
function transformersForm(inputs: readonly TensorInfo[]): PromptForm {
  const takesBoxes = inputs.some(({ name }) => name === 'input_boxes');
  return {
    inputs: ['input_points', 'input_labels', ...(takesBoxes ? ['input_boxes'] : [])],
    outputs: ['pred_masks', 'iou_scores'],
    takesBoxes,
    feeds({ points, labels, boxes }) {
      const objects = Math.max(1, boxes.length);
      return [
        {
          input_points: floats([1, 1, points.length, 2], points.flat()),
          input_labels: {
            dtype: 'int64',
            dims: [1, objects, points.length],
            data: BigInt64Array.from(labels, (label) => BigInt(label)),
          },
          ...(takesBoxes && { input_boxes: floats([1, boxes.length, 4], boxes.flat()) }),
        },
      ];
    },
    read: (masks, scores) => [masks, scores],
  };
}

/**
 * Returns the form that the export script of Segment Anything writes, which MobileSAM and others use. One run is of one
 * object.
 */
function scriptForm(inputs: readonly TensorInfo[]): PromptForm {
  const mask = inputs.find(({ name }) => name === 'mask_input');
  const side = (axis: number): number => (typeof mask?.dims[axis] === 'number' ? mask.dims[axis] : 1);
  return {
    inputs: ['point_coords', 'point_labels', 'mask_input', 'has_mask_input', 'orig_im_size'],
    // The masks of the photo's size, which the graph makes too, would be large.
    outputs: ['low_res_masks', 'iou_predictions'],
    takesBoxes: true,
    feeds: (prompts) =>
      objectsOf(prompts).map(({ points, labels, isBox }) => {
        const all = isBox ? points : [...points, [0, 0]];
        return {
          point_coords: floats([1, all.length, 2], all.flat()),
          point_labels: floats([1, all.length], isBox ? labels : [...labels, NOTHING]),
          mask_input: floats([1, 1, side(2), side(3)], undefined),
          has_mask_input: floats([1], [0]),
          orig_im_size: floats([2], [side(2), side(3)]),
        };
      }),
    read(masks, scores) {
      const [, count, height, width] = masks.dims as [number, number, number, number];
      // Of four masks, the first one is for prompts that leave no doubt; the predictor answers with the others.
      const first = count === 4 ? 1 : 0;
      const all: readonly [Tensor, Tensor] = [
        { ...masks, dims: [count, height, width] },
        { ...scores, dims: [count] },
      ];
      const [own, fits] = all.map((tensor) => slice(tensor, first, count)) as [Tensor, Tensor];
      return [
        { ...own, dims: [1, 1, count - first, height, width] },
        { ...fits, dims: [1, 1, count - first] },
      ];
    },
  };
}

/** Returns the form of EfficientSAM's decoder. One run is of one object: the export script fixes their number. */
function efficientForm(): PromptForm {
  return {
    inputs: ['batched_point_coords', 'batched_point_labels', 'orig_im_size'],
    outputs: ['output_masks', 'iou_predictions'],
    takesBoxes: true,
    feeds: (prompts, { tensorWidth, tensorHeight }) =>
      objectsOf(prompts).map(({ points, labels, isBox }) => {
        if (labels.includes(0))
          throw new TabServeError(
            'invalid-input',
            'labels: EfficientSAM knows no points that are outside of the object, so no label 0. Pass points in the object, or a box.',
          );
        // The graph would drop what is more.
        if (points.length > EFFICIENT_POINTS)
          throw new TabServeError(
            'invalid-input',
            `points: EfficientSAM reads up to ${EFFICIENT_POINTS} points of an object, of which a box takes two; got ${points.length}${isBox ? ' with those of the box' : ''}. Pass fewer.`,
          );
        return {
          batched_point_coords: floats([1, 1, points.length, 2], points.flat()),
          batched_point_labels: floats([1, 1, labels.length], labels),
          orig_im_size: {
            dtype: 'int64',
            dims: [2],
            data: BigInt64Array.of(BigInt(tensorHeight), BigInt(tensorWidth)),
          },
        };
      }),
    read: (masks, scores) => [masks, scores],
  };
}

/**
 * Returns the form of a decoder.
 * @param encoded the names of the encoder's outputs
 * @throws `model-config` if it lacks an input or an output, or has one that nothing fills
 */
export function findForm({ inputs, outputs }: Session, encoded: readonly string[]): PromptForm {
  const has = (name: string): boolean => inputs.some((input) => input.name === name);
  const form = has('point_coords')
    ? scriptForm(inputs)
    : has('batched_point_coords')
      ? efficientForm()
      : transformersForm(inputs);
  const unknown = inputs.find(({ name }) => !form.inputs.includes(name) && !encoded.includes(name))?.name;
  const missing =
    form.inputs.find((name) => !has(name)) ??
    form.outputs.find((wanted) => !outputs.some(({ name }) => name === wanted));
  if (unknown === undefined && missing === undefined) {
    checkFloats(form.outputs, outputs);
    return form;
  }
  const listed = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');
  throw new TabServeError(
    'model-config',
    `Node "decoder": the model needs the inputs ${listed(form.inputs)}, the outputs ${listed(form.outputs)}, and otherwise inputs that are outputs of the node "vision" (${encoded.join(', ')}); ${unknown === undefined ? `"${missing}" is missing` : `nothing fills its input "${unknown}"`}. Export both parts of the model together.`,
  );
}

/** The points of one object, with the corners of its box. */
interface PromptedObject {
  readonly points: readonly (readonly number[])[];
  readonly labels: readonly number[];
  readonly isBox: boolean;
}

function objectsOf({ points, labels, boxes }: Prompts): readonly PromptedObject[] {
  if (boxes.length === 0) return [{ points, labels, isBox: false }];
  return boxes.map(([x1, y1, x2, y2]) => ({
    points: [...points, [x1, y1], [x2, y2]],
    labels: [...labels, ...CORNERS],
    isBox: true,
  }));
}

function floats(dims: readonly number[], numbers: readonly number[] | undefined): Tensor<'float32'> {
  const count = dims.reduce((product, size) => product * size, 1);
  return { dtype: 'float32', dims, data: numbers ? Float32Array.from(numbers) : new Float32Array(count) };
}

/** Joins the outputs of several runs, of an object or more each. */
export function joinObjects(runs: readonly (readonly [Tensor, Tensor])[]): readonly [Tensor, Tensor] {
  if (runs.length === 1) return runs[0]!;
  const join = (at: 0 | 1): Tensor => {
    const own = runs.map((run) => ({ ...run[at], dims: run[at].dims.slice(1) }));
    const joined = concat(own);
    return { ...joined, dims: [1, ...joined.dims] };
  };
  return [join(0), join(1)];
}
