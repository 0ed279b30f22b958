/** What image processors have in common: the fields of `preprocessor_config.json`, and pixels as Pillow makes them. */
import type { DecodedImage, Pixels } from '../../../contract/images.js';
import { TabServeError } from '../../../contract/errors.js';
import type { Json } from '../../../shared/hugging-face.js';
import {
  compileTransforms,
  compose,
  layout,
  normalize,
  resize,
  toTensor,
  type CompiledTransforms,
  type Interpolation,
} from '../../transforms/index.js';

const FILE = 'preprocessor_config.json';
/** Pillow's numbers. */
const INTERPOLATIONS: readonly Interpolation[] = ['nearest', 'lanczos', 'bilinear', 'bicubic', 'box', 'hamming'];

/** Returns how pixels become numbers, channel by channel. @throws `model-config` for a field of the wrong type */
export function numbersOf(images: Json, mean: Channels = HALF, std: Channels = HALF): CompiledTransforms {
  return compileTransforms(
    compose(
      images['do_rescale'] === false ? toTensor({ scale: 1 }) : toTensor({ scale: scaleOf(images) }),
      ...(images['do_normalize'] === false
        ? []
        : [normalize(channels(images, 'image_mean', mean), channels(images, 'image_std', std))]),
    ),
  );
}

/** @throws `model-config` for a number that is not Pillow's */
export function interpolationOf({ resample }: Json, otherwise = 1): Interpolation {
  const found = INTERPOLATIONS[(resample ?? otherwise) as number];
  if (found) return found;
  throw wrongField('resample', "one of Pillow's numbers, 0 to 5", resample);
}

/** Resizes a picture one size after the other; each time, its pixels are bytes again. */
export async function resizePixels(
  image: DecodedImage | Pixels,
  sizes: readonly (readonly [number, number])[],
  interpolation: Interpolation,
): Promise<Pixels> {
  const [height, width] = sizes.at(-1)!;
  const steps = sizes.map((size) => resize(size, { interpolation }));
  const { data } = await compileTransforms(compose(...steps, toTensor({ scale: 1 }), layout('NHWC'))).run(image);
  return { format: 'RGB', width, height, stride: width * 3, data: Uint8Array.from(data) };
}

type Channels = readonly [number, number, number];
const HALF: Channels = [0.5, 0.5, 0.5];

function scaleOf(images: Json): number {
  const scale = images['rescale_factor'] ?? 1 / 255;
  if (typeof scale === 'number') return scale;
  throw wrongField('rescale_factor', 'a number', scale);
}

function channels(images: Json, key: 'image_mean' | 'image_std', otherwise: Channels): readonly number[] {
  const given = images[key] ?? otherwise;
  const list = typeof given === 'number' ? [given, given, given] : given;
  if (Array.isArray(list) && list.length === 3 && list.every((one) => typeof one === 'number')) return list;
  throw wrongField(key, 'three numbers', given);
}

/** Returns the error for a field that is not what it must be. */
export function wrongField(key: string, expected: string, value: unknown): TabServeError {
  return new TabServeError('model-config', `${FILE}: ${key}: expected ${expected}, got ${JSON.stringify(value)}.`);
}
