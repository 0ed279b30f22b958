/** The schemas of params and of the config's keys: made from their types by `npm run generate`. */
import type { ConfigSchema } from '../../../shared/schema.js';

export const IMAGE_CLASSIFIER_SCHEMA: ConfigSchema = {
  topK: { type: 'integer', minimum: 1, default: 5 },
  output: { enum: ['logits', 'probabilities'], default: 'logits' },
  result: { enum: ['typed', 'torchserve'], default: 'typed' },
  threshold: { type: 'number', minimum: 0, maximum: 1 },
  multiLabel: { type: 'boolean', default: false, readOnly: true },
};

export const IMAGE_FEATURE_EXTRACTOR_SCHEMA: ConfigSchema = {
  pooling: { enum: ['mean', 'cls'] },
  normalize: { type: 'boolean', default: true },
  dimensions: { type: 'integer', minimum: 1 },
  layout: { enum: ['NCHW', 'NHWC'], readOnly: true },
};

export const IMAGE_TO_IMAGE_SCHEMA: ConfigSchema = {
  tileSize: { type: 'integer', minimum: 1 },
  overlap: { type: 'integer', minimum: 0 },
  outputRange: { type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 2, readOnly: true },
  layout: { enum: ['NCHW', 'NHWC'], readOnly: true },
};
