import { TabServeError } from '../../contract/errors.js';
import type { OnArrayBuffer, Tensor } from '../../contract/tensors.js';
import { toFloats } from '../tensors/tensors.js';
import { strides, type MapForm } from './maps.js';
import { checkScores } from './scores.js';
import { transferResult } from './transfer.js';

/** Pixels that a model made; `paintPicture` of `tabserve` makes them an image for a canvas. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue and alpha of each pixel, each in 0..255; row-major. */
  readonly data: OnArrayBuffer<Uint8ClampedArray>;
}

/** How the numbers of a tensor become colors. */
export interface PictureOptions {
  /** The dims of the tensor. One channel is gray; three are colors; a fourth one is alpha. */
  readonly form: MapForm;
  /** The numbers that stand for 0 and for 255. Numbers beyond are clamped. */
  readonly range: readonly [low: number, high: number];
  /** Whether the first channel is blue. */
  readonly isBgr: boolean;
}

/**
 * Converts a tensor to pixels, and transfers them to the page. Numbers between two colors become the nearer one, and
 * the even one of two that are equally near, as in `torch.round`.
 * @throws `model-config` if the tensor has not 1, 3 or 4 channels; `inference-failed` if a number is not finite
 */
export function toPicture(output: Tensor, { form, range: [low, high], isBgr }: PictureOptions): Picture {
  const { width, height, channels } = form;
  if (channels !== 1 && channels !== 3 && channels !== 4)
    throw new TabServeError(
      'model-config',
      `handler.outputName: a picture has 1, 3 or 4 channels, but the output has ${channels}. Name another output, or set handler.layout.`,
    );
  const values = toFloats(output);
  checkScores(values, 'logits');
  const { channel, pixel } = strides(form);
  const data = new Uint8ClampedArray(width * height * 4).fill(255);
  const scale = 255 / (high - low);
  for (let target = 0; target < Math.max(channels, 3); target++) {
    const source = channels === 1 ? 0 : isBgr && target < 3 ? 2 - target : target;
    for (let index = 0; index < width * height; index++)
      data[index * 4 + target] = (values[source * channel + index * pixel]! - low) * scale;
  }
  return transferResult({ width, height, data }, [data.buffer]);
}
