/** What follows from a `config.json` in timm's form, which transformers' TimmWrapper models have too. */
import { isRecord } from '../../../shared/schema.js';
import { underivable, type Json } from '../../../shared/hugging-face.js';

const FILE = 'config.json';
const ADVICE = 'Set handler.imageProcessing to the steps of this model.';
/** timm's defaults. */
const [CROP_PCT, MEAN, STD] = [0.875, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]];
const INTERPOLATIONS = ['nearest', 'bilinear', 'bicubic', 'box', 'hamming', 'lanczos'];

/** Returns what timm says about a model's images; undefined if the config is not in timm's form. */
export function timmConfigOf({ architecture, pretrained_cfg: own }: Json): Json | undefined {
  return typeof architecture === 'string' && isRecord(own) ? own : undefined;
}

/** Returns the handler of a model of timm: with classes it is a classifier, without them its output is a vector. */
export function timmHandlerOf({ num_classes: count }: Json): string {
  return count === 0 ? 'image_feature_extractor' : 'image_classifier';
}

/**
 * Derives `handler.imageProcessing` from `pretrained_cfg`: the steps of timm's `transforms_imagenet_eval`.
 * @see https://github.com/huggingface/pytorch-image-models/blob/main/timm/data/transforms_factory.py
 * @throws `model-config` naming the field from which no steps can be derived
 */
export function timmProcessing(own: Json): readonly (string | Json)[] {
  const wrong = (field: string, expected: string) =>
    underivable(FILE, `pretrained_cfg.${field}`, own[field], expected, ADVICE);
  const [channels, height, width] = Array.isArray(own['input_size']) ? (own['input_size'] as unknown[]) : [];
  if (channels !== 3 || !isSide(height) || !isSide(width)) throw wrong('input_size', '[3, height, width]');
  const share = own['crop_pct'] ?? CROP_PCT;
  if (typeof share !== 'number' || !(share > 0 && share <= 1)) throw wrong('crop_pct', 'a number above 0, at most 1');
  const interpolation = own['interpolation'] ?? 'bicubic';
  if (!INTERPOLATIONS.includes(interpolation as string)) throw wrong('interpolation', INTERPOLATIONS.join(', '));
  const mode = own['crop_mode'] ?? 'center';
  if (mode !== 'squash' && !(mode === 'center' && height === width))
    throw wrong('crop_mode', 'squash, or center for a square input');
  const scaled = [height, width].map((side) => Math.floor(side / share));
  const [mean, std] = [own['mean'] ?? MEAN, own['std'] ?? STD];
  if (!isColor(mean)) throw wrong('mean', 'three numbers');
  if (!isColor(std)) throw wrong('std', 'three numbers');
  return [
    { resize: { size: mode === 'squash' ? scaled : scaled[0], interpolation } },
    { centerCrop: [height, width] },
    'toTensor',
    { normalize: { mean, std } },
  ];
}

function isSide(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function isColor(value: unknown): boolean {
  return Array.isArray(value) && value.length === 3 && value.every((one) => typeof one === 'number');
}
