import { describeValue } from '../../../contract/describe-value.js';
import { invalidInput } from '../../../contract/errors.js';
import type { ImageInput } from '../../../contract/images.js';
import { checkKeys } from '../../../shared/check-keys.js';
import { isRecord } from '../../../shared/schema.js';

/** The input of one row: an image, which is described, or an image and what is asked of it. */
export type PromptedImageInput =
  | ImageInput
  | {
      readonly image: ImageInput;
      /**
       * A task with what it needs, such as `<OD>` or `<CAPTION_TO_PHRASE_GROUNDING>a green car`; or a question. Default:
       * `<CAPTION>`.
       */
      readonly prompt?: string;
      /** For the tasks about a region: its corners, in pixels of the upright image. */
      readonly box?: readonly [xmin: number, ymin: number, xmax: number, ymax: number];
    };

/** An image, and what is asked of it. */
interface Asked {
  readonly image: ImageInput;
  readonly prompt: string;
  readonly box: readonly [number, number, number, number] | undefined;
}

/** Reads an input. @throws `invalid-input` */
export function readInput(given: PromptedImageInput): Asked {
  const isAsked = isRecord(given) && 'image' in given;
  if (!isAsked) return { image: given as ImageInput, prompt: '<CAPTION>', box: undefined };
  checkKeys(given, ['image', 'prompt', 'box']);
  const { image, prompt = '<CAPTION>', box } = given as Partial<Asked> & Pick<Asked, 'image'>;
  if (typeof prompt !== 'string' || prompt.trim() === '')
    throw invalidInput(
      `prompt: expected a task such as <OD>, or a question, got ${typeof prompt === 'string' ? 'an empty text' : describeValue(prompt)}.`,
    );
  const isBox =
    box === undefined ||
    (Array.isArray(box) &&
      box.length === 4 &&
      Array.from(box).every((one) => Number.isFinite(one)) &&
      box[0] < box[2] &&
      box[1] < box[3]);
  if (isBox) return { image, prompt, box };
  throw invalidInput(
    `box: expected [xmin, ymin, xmax, ymax] in pixels, with xmin < xmax and ymin < ymax, got ${Array.isArray(box) ? `[${(box as unknown[]).map(String).join(', ')}]` : describeValue(box)}.`,
  );
}
