import { asTabServeError, TabServeError } from '../../../contract/errors.js';
import type { Context, Params } from '../../../contract/handler.js';
import type { Tensor, Tensors } from '../../../contract/tensors.js';
import type { Size } from '../../outputs/boxes/decoder.js';
import type { ImageExplanation } from '../../outputs/explanation.js';
import { transferResult } from '../../outputs/transfer.js';
import { concat, row as rowOf, slice, toFloats } from '../../tensors/tensors.js';
import type { FillColor } from '../../transforms/index.js';
import { colorOf } from '../../transforms/tensor.js';
import { rowContext } from '../../handlers/row.js';
import { occlusionMasks, riseMasks, type Masks } from './masks.js';
import type { ExplainableImages } from '../../handlers/explain.js';
import { IMAGE_EXPLAIN_PARAMS_SCHEMA } from '../../handlers/schemas.js';
import { scoreVariants } from './score-variants.js';
import { findTarget, type Target } from './target.js';
import { MAX_TENSOR_ELEMENTS } from '../../../contract/limits.js';
import type { Placement } from '../../handlers/placements.js';

/** The maximum number of numbers of the variants in a batch: 16 MB of float32. */
const MAX_NUMBERS = 2 ** 22;

/** Explains each row of a batch by variants of its tensor. A row whose options do not fit fails alone. */
export async function explainImages(
  handler: ExplainableImages,
  inputs: Tensors,
  context: Context,
): Promise<readonly (ImageExplanation | undefined)[]> {
  const explanations: (ImageExplanation | undefined)[] = [];
  for (let index = 0; index < context.systemProperties.batchSize; index++) {
    try {
      explanations.push(context.failures.has(index) ? undefined : await explainRow(handler, inputs, index, context));
    } catch (error) {
      context.fail(index, asTabServeError(error));
      explanations.push(undefined);
    }
  }
  return explanations;
}

async function explainRow(
  handler: ExplainableImages,
  inputs: Tensors,
  index: number,
  context: Context,
): Promise<ImageExplanation> {
  const own = Object.fromEntries(
    Object.entries(inputs).map(([name, tensor]) => [name, slice(tensor, index, index + 1)]),
  );
  const image = rowOf(own[handler.inputName]!, 0);
  const { tensorWidth: width, tensorHeight: height } = handler.input.sizeOf(image.dims);
  const size = { width, height };
  const scoresOf = async (variants: Tensors, rows: number): Promise<readonly ArrayLike<number>[]> =>
    await handler.scores(await handler.inference(variants, rowContext(context, index, rows)), rows, size);

  const identity = { scaleX: 1, scaleY: 1, offsetX: 0, offsetY: 0 };
  const placement = handler.placement(index, context) ?? {
    ...size,
    tensorWidth: width,
    tensorHeight: height,
    geometry: identity,
  };

  const [scores] = await scoresOf(own, 1);
  const params = context.params[index] ?? {};
  const target = findTarget(params['target'] as Target, scores!, handler.labels);
  const { method, masks } = createMasks(params, size, target.score);
  const explanation = (): ImageExplanation => ({ ...target, method, ...toImagePixels(masks.heat(), placement) });
  const cover = createCover(handler, image, size, params['baseline'] as FillColor | undefined);
  await scoreVariants(
    {
      count: masks.count,
      mostRows: Math.floor(MAX_NUMBERS / image.data.length),
      make: (_, rows) => Array.from({ length: rows }, () => masks.draw()),
      async score(sampled) {
        const variants = handler.input.stackImages(sampled.map(cover));
        const others = Object.entries(own).filter(([name]) => !(name in variants));
        const repeated = others.map(([name, tensor]) => [name, concat(sampled.map(() => tensor))]);
        const scores = await scoresOf({ ...Object.fromEntries(repeated), ...variants }, sampled.length);
        return sampled.map((mask, at) => {
          // A detector without labels has no score for classes above those that it finds.
          const score = scores[at]![target.index] ?? 0;
          masks.add(mask, score);
          return score;
        });
      },
      partial: explanation,
    },
    index,
    context,
  );
  const whole = explanation();
  return transferResult(whole, [whole.heat.buffer]);
}

function createMasks(
  params: Params,
  size: Size,
  score: number,
): { readonly method: ImageExplanation['method']; readonly masks: Masks } {
  const option = (name: string): number => (params[name] ?? IMAGE_EXPLAIN_PARAMS_SCHEMA[name]!.default) as number;
  const method = (params['method'] ?? IMAGE_EXPLAIN_PARAMS_SCHEMA['method']!.default) as ImageExplanation['method'];
  const foreign = method === 'rise' ? ['window', 'stride'] : ['masks', 'grid', 'probability', 'seed'];
  const given = foreign.find((name) => params[name] !== undefined);
  if (given !== undefined)
    throw new TabServeError(
      'invalid-input',
      `${given}: it is only for the method ${method === 'rise' ? 'occlusion' : 'rise'}. Remove it, or choose that method.`,
    );
  if (method === 'rise') {
    const options = {
      masks: option('masks'),
      grid: option('grid'),
      probability: option('probability'),
      seed: option('seed'),
    };
    return { method, masks: riseMasks(size, options) };
  }
  const window = option('window') ?? Math.max(1, Math.round(Math.min(size.width, size.height) / 7));
  const stride = option('stride') ?? Math.max(1, Math.floor(window / 2));
  return { method, masks: occlusionMasks(size, { window, stride }, score) };
}

/** Returns a function that covers the parts of an image that a mask does not show. */
function createCover(
  { input, imageProcessing }: ExplainableImages,
  image: Tensor,
  { width, height }: Size,
  baseline: FillColor | undefined,
): (mask: Float32Array) => Tensor {
  const pixels = toFloats(image);
  const channels = pixels.length / (width * height);
  const color = baseline === undefined ? new Float32Array(channels) : colorOf(baseline, imageProcessing);
  return (mask) => {
    const data = new Float32Array(pixels.length);
    for (let channel = 0; channel < channels; channel++) {
      const covered = color[channel]!;
      const [first, step] = input.isChannelsLast ? [channel, channels] : [channel * mask.length, 1];
      for (let i = 0, at = first; i < mask.length; i++, at += step)
        data[at] = covered + (pixels[at]! - covered) * mask[i]!;
    }
    return { dtype: 'float32', dims: image.dims, data };
  };
}

/** A heat map in pixels of the image, and its smallest and largest number. */
export interface HeatMap {
  readonly width: number;
  readonly height: number;
  readonly heat: Float32Array;
  readonly low: number;
  readonly high: number;
}

/**
 * Maps a heat map of the model's input to the pixels of the upright image, by bilinear interpolation. A pixel whose
 * center lies outside of the model's input is NaN.
 * @param heat `tensorHeight` · `tensorWidth` numbers
 * @throws `image-too-large`
 */
export function toImagePixels(heat: ArrayLike<number>, placement: Placement): HeatMap {
  const { width, height, tensorWidth, tensorHeight, geometry } = placement;
  if (width * height > MAX_TENSOR_ELEMENTS)
    throw new TabServeError(
      'image-too-large',
      `The heat map would have ${width} × ${height} pixels; the limit is ${MAX_TENSOR_ELEMENTS}. Pass a smaller image.`,
    );
  const columns = Array.from({ length: width }, (_, x) => tap(x, geometry.scaleX, geometry.offsetX, tensorWidth));
  const result = new Float32Array(width * height).fill(NaN);
  let [low, high] = [Infinity, -Infinity];
  for (let y = 0; y < height; y++) {
    const row = tap(y, geometry.scaleY, geometry.offsetY, tensorHeight);
    if (!row) continue;
    const [upper, lower] = [row.from * tensorWidth, row.to * tensorWidth];
    for (let x = 0; x < width; x++) {
      const column = columns[x];
      if (!column) continue;
      const { from, to, share } = column;
      const above = heat[upper + from]! * (1 - share) + heat[upper + to]! * share;
      const below = heat[lower + from]! * (1 - share) + heat[lower + to]! * share;
      const value = (result[y * width + x] = Math.fround(above * (1 - row.share) + below * row.share));
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return { width, height, heat: result, low, high };
}

/**
 * Returns the two pixels of the tensor between which the center of an image's pixel lies, and the share of the second;
 * undefined if it lies outside.
 */
function tap(
  pixel: number,
  scale: number,
  offset: number,
  size: number,
): { readonly from: number; readonly to: number; readonly share: number } | undefined {
  const point = (pixel + 0.5) * scale + offset;
  if (!(point >= 0 && point <= size)) return undefined;
  const at = Math.min(Math.max(point - 0.5, 0), size - 1);
  const from = Math.floor(at);
  return { from, to: Math.min(from + 1, size - 1), share: at - from };
}
