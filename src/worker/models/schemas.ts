/** The schemas of params and of the config's keys: made from their types by `npm run generate`. */
import type { ConfigSchema } from '../../shared/schema.js';

export const ENGINE_OPTIONS_SCHEMA: ConfigSchema = {
  graphOptimizationLevel: { enum: ['disabled', 'basic', 'extended', 'all'] },
  freeDimensions: { type: 'object', additionalProperties: { type: 'integer', minimum: 1, maximum: 134217728 } },
  threads: { type: 'integer', minimum: 1, maximum: 64 },
  dtype: {
    anyOf: [
      { enum: ['fp32', 'fp16', 'q8', 'int8', 'uint8', 'q4', 'q4f16', 'bnb4', 'float16-weights', 'int8-weights'] },
      {
        type: 'object',
        additionalProperties: {
          enum: ['fp32', 'fp16', 'q8', 'int8', 'uint8', 'q4', 'q4f16', 'bnb4', 'float16-weights', 'int8-weights'],
        },
        minProperties: 1,
      },
    ],
  },
  remote: { type: 'object' },
};
