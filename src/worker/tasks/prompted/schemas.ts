/** The schemas of params and of the config's keys: made from their types by `npm run generate`. */
import type { ConfigSchema } from '../../../shared/schema.js';

export const PROMPTED_IMAGE_TO_TEXT_SCHEMA: ConfigSchema = {
  numBeams: { type: 'integer', minimum: 1, maximum: 64 },
  lengthPenalty: { type: 'number' },
  earlyStopping: { anyOf: [{ type: 'boolean' }, { enum: ['never'] }] },
  forcedBosTokenId: { type: 'integer', minimum: 0 },
  decoderStartTokenId: { type: 'integer', minimum: 0 },
  exifOrientation: { type: 'boolean', default: true },
  background: {
    type: 'array',
    items: { type: 'integer', minimum: 0, maximum: 255 },
    minItems: 3,
    maxItems: 3,
    default: [255, 255, 255],
  },
  maxStateBytes: { type: 'integer', minimum: 0, default: 268435456, readOnly: true },
  imageProcessing: { type: 'array', readOnly: true },
  maxImagePixels: { type: 'integer', minimum: 1, readOnly: true },
};
