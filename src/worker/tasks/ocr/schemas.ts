/** The schemas of params and of the config's keys: made from their types by `npm run generate`. */
import type { ConfigSchema } from '../../../shared/schema.js';

export const TEXT_DETECTOR_SCHEMA: ConfigSchema = {
  boxThreshold: { type: 'number', minimum: 0, maximum: 1, default: 0.6 },
  threshold: { type: 'number', minimum: 0, maximum: 1, default: 0.3 },
  unclipRatio: { type: 'number', minimum: 0.1, maximum: 10, default: 1.5 },
  limitSide: { type: 'integer', minimum: 32, maximum: 4096, default: 960, readOnly: true },
};

export const TEXT_ORIENTER_SCHEMA: ConfigSchema = {
  minScore: { type: 'number', minimum: 0, maximum: 1, default: 0.9 },
  size: {
    type: 'array',
    items: { type: 'integer', minimum: 1, maximum: 4096 },
    minItems: 2,
    maxItems: 2,
    default: [48, 192],
    readOnly: true,
  },
  keepsRatio: { type: 'boolean', default: true, readOnly: true },
  colorOrder: { enum: ['RGB', 'BGR'], default: 'BGR', readOnly: true },
  mean: {
    type: 'array',
    items: { type: 'number' },
    minItems: 3,
    maxItems: 3,
    default: [0.5, 0.5, 0.5],
    readOnly: true,
  },
  std: {
    type: 'array',
    items: { type: 'number', exclusiveMinimum: 0 },
    minItems: 3,
    maxItems: 3,
    default: [0.5, 0.5, 0.5],
    readOnly: true,
  },
};

export const TEXT_READER_SCHEMA: ConfigSchema = { minScore: { type: 'number', minimum: 0, maximum: 1, default: 0.5 } };

export const TEXT_RECOGNIZER_SCHEMA: ConfigSchema = {
  charactersFile: { type: 'string', default: 'characters.txt', readOnly: true },
  space: { type: 'boolean', default: true, readOnly: true },
};
