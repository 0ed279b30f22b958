/** What a request asks of a photo, by points and boxes. */
import { describeValue } from '../../../contract/describe-value.js';
import { invalidInput } from '../../../contract/errors.js';
import type { ImageInput } from '../../../contract/images.js';
import type { KeptMessage } from '../../../contract/kept-message.js';
import { checkKeys } from '../../../shared/check-keys.js';
import { isRecord } from '../../../shared/schema.js';
import type { Placement } from '../../handlers/placements.js';

/** The input of one row: a photo, and what is asked of it. Coordinates are pixels of the upright photo. */
export interface PromptedImage {
  /** The photo; one of `client.keep`, if it is asked about several times. */
  readonly image: ImageInput | KeptMessage<ImageInput>;
  /** Points of one object. */
  readonly points?: readonly (readonly [x: number, y: number])[];
  /** For each point 1 if it is in the object, and 0 if it is not. Default: all are. */
  readonly labels?: readonly (0 | 1)[];
  /** Boxes around objects. With points, one box, around the same object. */
  readonly boxes?: readonly (readonly [x1: number, y1: number, x2: number, y2: number])[];
}

/** What is asked of a photo: all that a row has beside it. */
export type Prompts = Required<Omit<PromptedImage, 'image'>>;

/**
 * The largest numbers of points and boxes in a request. The decoder's memory grows with the square of the points, and
 * has masks for each box.
 */
const [MAX_POINTS, MAX_PROMPT_BOXES] = [1000, 100];

const KEYS = ['image', 'points', 'labels', 'boxes'] as const;

/**
 * Checks the input of a row.
 * @param takesBoxes whether the model has an input for boxes
 * @throws `invalid-input`
 */
export function readPrompts(input: PromptedImage, takesBoxes: boolean): Required<PromptedImage> {
  if (!isRecord(input) || input.image === undefined)
    throw invalidInput(`Expected { image, points?, labels?, boxes? }, got ${describeValue(input)}.`);
  checkKeys(input, KEYS);
  const { image, points = [], labels, boxes = [] } = input as PromptedImage;
  checkNumbers('points', points, 2, '[x, y]');
  checkNumbers('boxes', boxes, 4, '[x1, y1, x2, y2]');
  for (const [key, { length }, most] of [
    ['points', points, MAX_POINTS],
    ['boxes', boxes, MAX_PROMPT_BOXES],
  ] as const)
    if (length > most) throw invalidInput(`${key}: there are ${length}, and a request has at most ${most}.`);
  if (points.length === 0 && boxes.length === 0)
    throw invalidInput('There is neither a point nor a box, which say what is looked for. Pass points or boxes.');
  if (boxes.length > 0 && !takesBoxes)
    throw invalidInput(
      'boxes: this model has no input "input_boxes": it was exported for points alone. Pass points, or export it with boxes.',
    );
  if (points.length > 0 && boxes.length > 1)
    throw invalidInput(
      `boxes: points are of one object, and here are ${boxes.length} boxes, each around an object of its own. Pass one box with the points, or each box in a request of its own.`,
    );
  const reversed = boxes.findIndex(([x1, y1, x2, y2]) => !(x1 < x2 && y1 < y2));
  if (reversed >= 0)
    throw invalidInput(
      `boxes[${reversed}]: expected [x1, y1, x2, y2] with x1 < x2 and y1 < y2, got [${boxes[reversed]!.join(', ')}].`,
    );
  return { image, points, labels: labelsOf(labels, points.length), boxes };
}

function labelsOf(labels: PromptedImage['labels'], points: number): readonly (0 | 1)[] {
  if (labels === undefined) return Array.from({ length: points }, () => 1);
  // A hole in a list is no label.
  if (
    Array.isArray(labels) &&
    labels.length === points &&
    Array.from(labels).every((label) => label === 0 || label === 1)
  )
    return labels;
  throw invalidInput(`labels: expected 0 or 1 for each of ${points} points, got ${describeValue(labels)}.`);
}

function checkNumbers(key: string, value: unknown, length: number, form: string): void {
  if (!Array.isArray(value)) throw invalidInput(`${key}: expected a list of ${form}, got ${describeValue(value)}.`);
  const wrong = value.findIndex(
    (one) =>
      !Array.isArray(one) || one.length !== length || !Array.from(one).every((number) => Number.isFinite(number)),
  );
  if (wrong >= 0)
    throw invalidInput(
      `${key}[${wrong}]: expected ${form} in pixels, got ${Array.isArray(value[wrong]) ? `[${value[wrong].map(String).join(', ')}]` : describeValue(value[wrong])}.`,
    );
}

/**
 * Returns prompts in pixels of the tensor.
 * @throws `invalid-input` for a point or a corner that is not in the photo
 */
export function placePrompts({ points, labels, boxes }: Prompts, { width, height, geometry }: Placement): Prompts {
  const { scaleX, scaleY, offsetX, offsetY } = geometry;
  const placed = <Numbers extends readonly number[]>(key: string, numbers: Numbers): Numbers => {
    const outside = numbers.findIndex((at, index) => at < 0 || at > (index % 2 === 0 ? width : height));
    if (outside >= 0)
      throw invalidInput(
        `${key}: ${outside % 2 === 0 ? 'x' : 'y'} is ${numbers[outside]}, outside of the photo of ${width} × ${height} pixels. Coordinates are pixels of the upright photo.`,
      );
    return numbers.map((at, index) =>
      index % 2 === 0 ? at * scaleX + offsetX : at * scaleY + offsetY,
    ) as unknown as Numbers;
  };
  return {
    points: points.map((point) => placed('points', point)),
    labels,
    boxes: boxes.map((box) => placed('boxes', box)),
  };
}
