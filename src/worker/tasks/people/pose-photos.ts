/** The forms of models that find people and their points in whole photos. */
import { viewColumns } from '../../outputs/boxes/columns.js';
import type { ModelFacts, TensorView } from '../../outputs/boxes/decoder.js';
import { createDecoder } from '../../outputs/boxes/formats.js';
import { boxAround } from './found.js';
import { checkScores, inUnit } from '../../outputs/scores.js';
import { boxesInImage } from '../../handlers/image-boxes.js';
import type { Placement } from '../../handlers/placements.js';
import type { PhotoForm, Pose, PosePoint } from './pose-form.js';
import { poseMisfit } from './pose-misfit.js';

/** MoveNet's points, and what MultiPose says of each person: its points, ymin, xmin, ymax, xmax, and the score. */
const [POINTS, PERSON] = [17, 17 * 3 + 5];

/**
 * Creates the form of MoveNet: `[1, 1, 17, 3]` of one person, or `[1, people, 56]` of several. A point is y, x and score,
 * in fractions of the tensor. The score of a model of one person is the mean of its points'.
 */
export function moveNetForm({ output }: ModelFacts): PhotoForm {
  const isRight = (dims: readonly unknown[]): boolean =>
    (dims.length === 3 && dims[0] === 1 && dims[1] === POINTS && dims[2] === 3) ||
    (dims.length === 2 && dims[1] === PERSON);
  const expected = `[1, 1, ${POINTS}, 3] or [1, people, ${PERSON}]`;
  const declared = output.dims.slice(1);
  if (declared.every((one) => typeof one === 'number') && !isRight(declared))
    throw poseMisfit('movenet', expected, [output]);
  return {
    sees: 'photo',
    outputs: [output.name],
    find([view], placement, { score: least, count }) {
      const { dims, data } = view!;
      if (!isRight(dims)) throw poseMisfit('movenet', expected, [{ name: output.name, dims: ['rows', ...dims] }]);
      checkScores(data, 'logits', false);
      const stride = dims.length === 2 ? PERSON : POINTS * 3;
      const people = Array.from({ length: data.length / stride }, (_, person) =>
        moveNetPose(data.subarray(person * stride, (person + 1) * stride), placement),
      );
      return people
        .filter(({ score }) => score >= least)
        .toSorted((a, b) => b.score - a.score)
        .slice(0, count);
    },
  };
}

function moveNetPose(numbers: Float32Array, placement: Placement): Pose {
  const { tensorWidth, tensorHeight } = placement;
  const pointAt = (at: number): { readonly x: number; readonly y: number } =>
    toImage({ x: numbers[at + 1]! * tensorWidth, y: numbers[at]! * tensorHeight }, placement);
  const points = Array.from({ length: POINTS }, (_, at) => ({
    ...pointAt(at * 3),
    score: inUnit(numbers[at * 3 + 2]!),
  }));
  if (numbers.length < PERSON) return { score: meanScore(points), box: boxAround(points), points };
  return {
    score: inUnit(numbers[PERSON - 1]!),
    box: boxAround([pointAt(POINTS * 3), pointAt(POINTS * 3 + 2)]),
    points,
  };
}

/**
 * Creates the form of Ultralytics' pose models: boxes, each with its points after the columns that a decoder of boxes
 * reads, `[rows, 4 + classes + 3 · points, boxes]` (yolov8, which YOLO11 has, too), or `[rows, boxes, 6 + 3 · points]` of
 * final boxes (rows). A point is x, y and score, in pixels of the tensor, or x and y alone.
 * @param shape how many points there are, and numbers of each @param classes how many the model's file names
 * @throws `model-config` if the output has another form
 */
export async function yoloPoseForm(
  name: 'yolov8' | 'rows',
  model: ModelFacts,
  [count, size]: readonly [points: number, numbers: number],
  classes?: number,
): Promise<PhotoForm> {
  const { output } = model;
  const axis = name === 'yolov8' ? 1 : 2;
  const columns = output.dims[axis];
  const own = typeof columns === 'number' ? columns - count * size : undefined;
  const fromFile = classes === undefined ? '' : ", by names and kpt_shape in the model's file";
  const expected =
    name === 'yolov8'
      ? `[rows, 4 + ${classes ?? 'classes'} + ${count} · ${size}, boxes]${fromFile}`
      : `[rows, boxes, 6 + ${count} · ${size}]`;
  // If points were left over, their numbers would be the scores of classes.
  const fits = name === 'rows' ? own === 6 : own !== undefined && own >= 5 && own - 4 === (classes ?? own - 4);
  if (output.dims.length !== 3 || own === undefined || !fits) throw poseMisfit(name, expected, [output]);
  const decoder = await createDecoder(name, {
    ...model,
    output: { ...output, dims: output.dims.with(axis, own) },
    labels: name === 'yolov8' ? own - 4 : model.labels,
    // The decoder would call its own key the cause.
    warn: () => {},
  });
  return {
    sees: 'photo',
    outputs: [output.name],
    find([table], placement, thresholds) {
      if (table!.dims[axis - 1] !== columns)
        throw poseMisfit(name, expected, [{ name: output.name, dims: ['rows', ...table!.dims] }]);
      const sizes = { width: placement.tensorWidth, height: placement.tensorHeight };
      const proposals = decoder.decode([viewColumns(table!, axis - 1, own)], sizes);
      const found = boxesInImage(proposals, placement, { ...thresholds, iou: decoder.iouThreshold });
      return found.map(({ score, box, proposal }) => {
        const number = numberOf(table!, axis - 1, proposal, own);
        const points = Array.from({ length: count }, (_, at) => {
          const [x, y, seen = 1] = Array.from({ length: size }, (_, part) => number(at * size + part));
          return { ...toImage({ x: x!, y: y! }, placement), score: inUnit(seen) };
        });
        checkScores(Float32Array.from(points.flatMap(({ x, y, score }) => [x, y, score])), 'logits', false);
        return { score, box, points };
      });
    },
  };
}

/** Returns a function that reads the columns of a row of a table, after the first ones. */
function numberOf({ dims, data }: TensorView, axis: number, row: number, first: number): (column: number) => number {
  const width = dims[1]!;
  return axis === 0
    ? (column) => data[(first + column) * width + row]!
    : (column) => data[row * width + first + column]!;
}

/** Converts a point from pixels of the tensor to pixels of the image. */
function toImage({ x, y }: Pick<PosePoint, 'x' | 'y'>, { geometry }: Placement): Pick<PosePoint, 'x' | 'y'> {
  const { scaleX, scaleY, offsetX, offsetY } = geometry;
  return { x: (x - offsetX) / scaleX, y: (y - offsetY) / scaleY };
}

/** Returns the mean of the points' scores. */
export function meanScore(points: readonly PosePoint[]): number {
  return points.reduce((sum, { score }) => sum + score, 0) / points.length;
}
