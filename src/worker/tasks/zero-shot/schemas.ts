/** The schemas of params and of the config's keys: made from their types by `npm run generate`. */
import type { ConfigSchema } from '../../../shared/schema.js';

export const IMAGE_TEXT_EMBEDDER_SCHEMA: ConfigSchema = {
  imageProcessing: { type: 'array', readOnly: true },
  maxLength: { type: 'integer', minimum: 1, readOnly: true },
  padTo: { type: 'integer', minimum: 1, readOnly: true },
  maxStateBytes: { type: 'integer', minimum: 0, default: 268435456, readOnly: true },
};

export const ZERO_SHOT_IMAGE_CLASSIFIER_SCHEMA: ConfigSchema = {
  hypothesisTemplate: { type: 'string', default: 'This is a photo of {}.' },
  labels: { type: 'array', items: { type: 'string' }, minItems: 1 },
  activation: { enum: ['softmax', 'sigmoid'], default: 'softmax', readOnly: true },
  maxLength: { type: 'integer', minimum: 1, readOnly: true },
  padTo: { type: 'integer', minimum: 1, readOnly: true },
  maxStateBytes: { type: 'integer', minimum: 0, default: 268435456, readOnly: true },
};

export const ZERO_SHOT_OBJECT_DETECTOR_SCHEMA: ConfigSchema = {
  hypothesisTemplate: { type: 'string', default: '{}' },
  scoreThreshold: { type: 'number', minimum: 0, maximum: 1, default: 0.1 },
  labels: { type: 'array', items: { type: 'string' }, minItems: 1 },
  columns: { enum: ['texts', 'tokens'], default: 'texts', readOnly: true },
  maxLength: { type: 'integer', minimum: 1, readOnly: true },
  padTo: { type: 'integer', minimum: 1, readOnly: true },
};
