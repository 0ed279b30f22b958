/** The schemas of params and of the config's keys: made from their types by `npm run generate`. */
import type { ConfigSchema } from '../../../shared/schema.js';

export const BACKGROUND_REMOVER_SCHEMA: ConfigSchema = {
  output: { enum: ['logits', 'probabilities'], readOnly: true },
};

export const IMAGE_SEGMENTER_SCHEMA: ConfigSchema = {
  result: { enum: ['classes', 'mask', 'torchserve'], default: 'classes' },
  size: { enum: ['original', 'model'] },
  foreground: { type: ['string', 'integer'], minimum: 0 },
  threshold: { type: 'number', minimum: 0, maximum: 1 },
  output: { enum: ['logits', 'probabilities', 'classes'], default: 'logits', readOnly: true },
  layout: { enum: ['NCHW', 'NHWC'], readOnly: true },
};

export const PROMPTABLE_SEGMENTER_SCHEMA: ConfigSchema = {
  masks: { enum: ['best', 'all'], default: 'best' },
  maskThreshold: { type: 'number', minimum: 0, maximum: 1, default: 0.5 },
  imageProcessing: { type: 'array', readOnly: true },
  maxStateBytes: { type: 'integer', minimum: 0, default: 268435456, readOnly: true },
};
