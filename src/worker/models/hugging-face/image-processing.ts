import type { TabServeError } from '../../../contract/errors.js';
import { isRecord } from '../../../shared/schema.js';
import { PREPROCESSOR } from './processor-file.js';
import { BY_MODEL_TYPE } from './processor-names.js';
import {
  CROP_PROCESSORS,
  IMAGE_PROCESSORS,
  RESAMPLE,
  TORCHVISION_PROCESSORS,
  TRANSFORMERS_JS,
  type ImageProcessor,
} from './image-processors.js';
import { architectureOf, underivable, type Json } from '../../../shared/hugging-face.js';

const ADVICE = 'Set handler.imageProcessing to the steps of this model.';

/** The processor of SigLIP 2's models for photos of any size. */
const NAFLEX = 'Siglip2';

/** A step of `handler.imageProcessing`, as a config has it. */
type Step = string | Json;

/** A size with one of the sets of keys that transformers knows. */
type Size = Readonly<Record<string, number>>;

/** The fields of a `preprocessor_config.json`, with the defaults of its class. */
interface Fields extends ImageProcessor {
  readonly [field: string]: unknown;
}

/**
 * Derives `handler.imageProcessing` from a `preprocessor_config.json`: the steps of the processor's class in
 * transformers 5.18.0, on its PIL backend, for one image. A field that is missing or null has the default of the class.
 * @param processor the parsed file
 * @param config the parsed `config.json`, whose `model_type` says which class it is if the file itself does not
 * @throws `model-config` naming the field from which no steps can be derived
 */
export function imageProcessingOf(processor: Json, config: Json): readonly Step[] {
  const defaults = processorOf(processor, config);
  const given = Object.entries(processor).filter(([, value]) => value !== null && value !== undefined);
  const fields: Fields = {
    do_resize: true,
    do_rescale: true,
    rescale_factor: 1 / 255,
    ...defaults,
    ...Object.fromEntries(given),
  };
  const does = (field: string): boolean => Boolean(fields[field]) && !defaults.ignores?.includes(field);
  const { resize: kind } = defaults;
  if (kind === 'donut') checkDonut(fields);
  const resize = does('do_resize') ? resizeSteps(fields, defaults) : [];
  // These interpolate numbers; ZoeDepth's and OWLv2's do so after padding.
  const [before, after] = isOf(kind, ['zoedepth', 'owlv2', 'dinov3', 'tensor']) ? [[], resize] : [resize, []];
  if (kind === 'dinov3' && does('do_center_crop')) throw wrong('do_center_crop', fields.do_center_crop, 'false');
  const crop = does('do_center_crop') ? cropStep(sizeOf(fields['crop_size'], 'crop_size', true)) : [];
  const margin = does('do_pad') ? paddingOf(fields, kind, [...resize, ...crop], architectureOf(config)) : [];
  const isMirrored = kind === 'zoedepth' || kind === 'swin2sr';
  return [
    ...before,
    ...crop,
    ...(isMirrored ? margin : []),
    ...(does('do_flip_channel_order') ? [{ colorOrder: 'BGR' }] : []),
    ...(does('do_rescale') ? rescaleSteps(fields) : [{ toTensor: { scale: 1 } }]),
    ...after,
    ...(does('do_normalize')
      ? [{ normalize: { mean: perChannel(fields, 'image_mean'), std: perChannel(fields, 'image_std') } }]
      : []),
    ...(does('include_top') ? [{ normalize: { mean: 0, std: perChannel(fields, 'image_std') } }] : []),
    ...(isMirrored ? [] : margin),
  ];
}

/** Returns the defaults of the processor's class. */
function processorOf(processor: Json, { model_type: type }: Json): ImageProcessor {
  const field = processor['image_processor_type'] === undefined ? 'feature_extractor_type' : 'image_processor_type';
  const named = processor[field];
  const name =
    typeof named === 'string'
      ? named.replace(/(ImageProcessor|FeatureExtractor)(Fast|Pil)?$/, '')
      : typeof type === 'string' && Object.hasOwn(BY_MODEL_TYPE, type)
        ? BY_MODEL_TYPE[type]!
        : '';
  for (const some of [IMAGE_PROCESSORS, TORCHVISION_PROCESSORS, CROP_PROCESSORS, TRANSFORMERS_JS])
    if (Object.hasOwn(some, name)) return some[name]!;
  if (name === NAFLEX)
    throw underivable(
      PREPROCESSOR,
      field,
      named,
      'the image processor of a model of photos of one size',
      'A NaFlex model of SigLIP 2 reads patches instead of photos, which TabServe does not make. Take one with a fixed size, such as siglip2-base-patch16-224, which has the same tokenizer.',
    );
  const known = Object.keys({ ...IMAGE_PROCESSORS, ...TORCHVISION_PROCESSORS, ...CROP_PROCESSORS }).join(', ');
  throw wrong(named === undefined ? 'image_processor_type' : field, named, `the image processor of ${known}`);
}

/** Returns the steps of the class's `resize`. */
function resizeSteps(fields: Fields, { resize, max_size, default_to_square }: ImageProcessor): readonly Step[] {
  const { resample } = fields as { resample?: unknown };
  const interpolation = typeof resample === 'number' ? RESAMPLE[resample] : undefined;
  if (interpolation === undefined)
    throw wrong(
      'resample',
      fields.resample,
      `${Object.entries(RESAMPLE)
        .map(([number, name]) => `${number} (${name})`)
        .join(', ')}`,
    );
  if (resize === 'sam') {
    const { longest_edge: side } = isRecord(fields.size) ? fields.size : {};
    if (!isSide(side)) throw wrong('size', fields.size, '{ longest_edge }');
    return [{ resize: { size: side, side: 'longer', interpolation } }];
  }
  if (resize === 'glpn')
    return [{ resize: { size: 'image', interpolation, multipleOf: multipleOf(fields, 'size_divisor') } }];
  const step = (size: number | readonly number[], more: Json = {}): readonly Step[] => [
    { resize: { size, interpolation, ...more } },
  ];
  if (resize === 'donut') {
    // Lists of its older files have the width first.
    const given: unknown = fields.size;
    const own = sizeOf(Array.isArray(given) ? given.toReversed() : given, 'size', true);
    if (own['height'] === undefined) throw wrong('size', given, '{ height, width }');
    const sides = [own['height'], own['width']!];
    return [
      ...step(Math.min(...sides)),
      ...step(sides, { thumbnail: true }),
      // The smaller image is in the middle of a black one.
      { centerCrop: { size: sides } },
    ];
  }
  const size = sizeOf(fields.size, 'size', default_to_square, max_size && ((fields['max_size'] as number) ?? max_size));
  const { shortest_edge: shortest, longest_edge: longest, height, width } = size;
  const scale = resize === 'levit' ? 256 / 224 : undefined;
  const cropPct = fields.crop_pct as number;
  if ((resize === 'convnext' || resize === 'poolformer') && !(isNumber(cropPct) && cropPct > 0 && cropPct <= 1))
    throw wrong('crop_pct', cropPct, 'a number above 0, at most 1');
  if (resize === 'convnext') {
    if (shortest === undefined) throw wrong('size', fields.size, '{ shortest_edge }');
    if (shortest >= 384) return step([shortest, shortest]);
    return [...step(Math.trunc(shortest / cropPct)), ...cropStep({ height: shortest, width: shortest })];
  }
  if (resize === 'poolformer') {
    const scaled = (side: number | undefined): number => Math.trunc(side! / cropPct);
    const square = shortest ?? (height === width ? height : undefined);
    return step(square === undefined ? [scaled(height), scaled(width)] : scaled(square));
  }
  if (resize === 'dpt' || resize === 'zoedepth' || resize === 'dinov3') {
    if (height === undefined || width === undefined) throw wrong('size', fields.size, '{ height, width }');
    const multiple = multipleOf(fields, 'ensure_multiple_of');
    const options = {
      ...(multiple > 1 && { multipleOf: multiple, toMultiple: 'nearest' }),
      ...(fields.keep_aspect_ratio && { keepAspectRatio: true }),
    };
    if (resize === 'dpt') return step([height, width], options);
    if (interpolation !== 'bilinear') throw wrong('resample', resample, '2 (bilinear)');
    return [{ resizeTensor: { size: [height, width], ...options, ...(resize === 'dinov3' && { antialias: true }) } }];
  }
  if (resize === 'tensor') {
    if (height === undefined || width === undefined) throw wrong('size', fields.size, '{ height, width }');
    if (interpolation !== 'bilinear') throw wrong('resample', resample, '2 (bilinear)');
    return [{ resizeTensor: { size: [height, width], alignCorners: false } }];
  }
  if (resize === 'owlv2') {
    if (height === undefined || height !== width) throw wrong('size', fields.size, '{ height, width } of a square');
    if (!fields['do_pad']) throw wrong('do_pad', fields['do_pad'], 'true');
    return [{ letterboxTensor: { side: height, fill: 0.5 } }];
  }
  if (shortest === undefined) return step([height!, width!]);
  if (resize === 'textnet') return step(shortest, { multipleOf: multipleOf(fields, 'size_divisor'), toMultiple: 'up' });
  if (resize === 'transformers.js' && longest === undefined) {
    const least = multipleOf(fields, 'size_divisibility');
    return step(shortest, least > 1 ? { multipleOf: least } : {});
  }
  if (longest === undefined) return step(scale ? Math.trunc(scale * shortest) : shortest);
  const divisor = resize === 'maskformer' ? multipleOf(fields, 'size_divisor') : 1;
  const multiple =
    resize === 'yolos' ? { multipleOf: 16 } : divisor > 1 ? { multipleOf: divisor, toMultiple: 'up' } : {};
  return step(shortest, { maxSize: longest, rounding: 'transformers', ...multiple });
}

/** @throws `model-config` if a step is left out without which Donut's images have several sizes, or one is asked for that turns them */
function checkDonut(fields: Fields): void {
  for (const field of ['do_resize', 'do_thumbnail', 'do_pad'])
    if (!(fields[field] ?? true)) throw wrong(field, fields[field], 'true');
  if (fields['do_align_long_axis']) throw wrong('do_align_long_axis', true, 'false');
}

/** Reads a size in any of its forms: one number, [height, width], or a mapping. */
function sizeOf(value: unknown, field: string, square: boolean, longest?: number): Size {
  const sides = isSide(value) && square ? [value, value] : value;
  if (Array.isArray(sides) && sides.length === 2 && sides.every(isSide)) return { height: sides[0]!, width: sides[1]! };
  if (isSide(sides)) return { shortest_edge: sides, ...(longest !== undefined && { longest_edge: longest }) };
  const entries = isRecord(sides) ? Object.entries(sides).filter(([, side]) => side !== null) : [];
  const keys = entries
    .map(([key]) => key)
    .sort()
    .join(' ');
  if (entries.every(([, side]) => isSide(side)) && SIZES.has(keys)) return Object.fromEntries(entries) as Size;
  throw wrong(field, value, 'a number, { height, width }, { shortest_edge }, or { shortest_edge, longest_edge }');
}

const SIZES = new Set(['height width', 'shortest_edge', 'longest_edge shortest_edge']);

function cropStep({ height, width }: Size): readonly Step[] {
  if (height === undefined) throw wrong('crop_size', { height, width }, '{ height, width }');
  return [{ centerCrop: { size: [height, width], rounding: 'transformers' } }];
}

function rescaleSteps(fields: Fields): readonly Step[] {
  const scale = fields['rescale_factor'];
  if (typeof scale !== 'number') throw wrong('rescale_factor', scale, 'a number');
  const step = scale === 1 / 255 ? 'toTensor' : { toTensor: { scale, rounding: 'transformers' } };
  return fields['rescale_offset'] && fields.include_top !== undefined
    ? [step, { normalize: { mean: 1, std: 1 } }]
    : [step];
}

/** Returns the step that pads. One image needs no padding, except to a size of its own, or to multiples. */
function paddingOf(
  fields: Fields,
  resize: ImageProcessor['resize'],
  steps: readonly Step[],
  architecture: string | undefined,
): readonly Step[] {
  const { pad_size: padSize, size_divisor: divisor } = fields;
  if (resize === 'owlv2') return [];
  if (resize === 'zoedepth') return [{ mirror: { margin: 3 } }];
  if (resize === 'swin2sr') {
    const field = isSide(padSize) ? 'pad_size' : 'size_divisor';
    return [{ mirror: { multipleOf: multipleOf(fields, field) } }];
  }
  if (resize === 'dpt' && divisor !== undefined)
    return [{ padTensor: { multipleOf: multipleOf(fields, 'size_divisor'), position: 'center' } }];
  if (padSize === undefined) return [];
  const { height, width } = sizeOf(padSize, 'pad_size', true);
  if (resize === 'sam') return [{ padTensor: { size: [height, width], position: 'top-left' } }];
  const options = steps.flatMap((step) => Object.values(step as Json) as Json[]);
  const { size, maxSize } = options.at(-1) ?? {};
  if (Array.isArray(size) && size[0] === height && size[1] === width) return [];
  if (isOf(resize, ['detr', 'yolos', 'rt-detr']) && architecture?.endsWith('ForObjectDetection')) {
    const [tallest, widest] = (Array.isArray(size) ? size : [maxSize, maxSize]) as (number | undefined)[];
    if (tallest! <= height! && widest! <= width!)
      return [{ padTensor: { size: [height, width], position: 'top-left' } }];
    throw wrong('pad_size', padSize, 'sides as long as the longest that size allows, so that each image fits');
  }
  const expected = 'the size that the image is resized to';
  if (architecture !== 'DetrForSegmentation') throw wrong('pad_size', padSize, expected);
  throw wrong(
    'pad_size',
    padSize,
    `${expected}, because transformers stretches the masks of a padded image, with those of its padding, over the photo`,
  );
}

function isOf<T>(value: T | undefined, values: readonly T[]): boolean {
  return value !== undefined && values.includes(value);
}

function multipleOf(fields: Fields, field: string): number {
  const value = fields[field] ?? 1;
  if (isSide(value)) return value;
  throw wrong(field, value, 'a positive integer');
}

function perChannel(fields: Fields, field: 'image_mean' | 'image_std'): number | readonly number[] {
  const value: unknown = fields[field];
  if (isNumber(value) || (Array.isArray(value) && value.length === 3 && value.every(isNumber))) return value;
  throw wrong(field, value, 'a number, or one for each of three channels');
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

function isSide(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function wrong(field: string, value: unknown, expected: string): TabServeError {
  return underivable(PREPROCESSOR, field, value, expected, ADVICE);
}
