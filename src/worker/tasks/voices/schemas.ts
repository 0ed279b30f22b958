/** The schemas of params and of the config's keys: made from their types by `npm run generate`. */
import type { ConfigSchema } from '../../../shared/schema.js';

export const TEXT_TO_SPEECH_SCHEMA: ConfigSchema = {
  voice: { type: 'string' },
  speed: { type: 'number', minimum: 0.25, maximum: 4, default: 1 },
  speakerEmbedding: { type: 'array', items: { type: 'number' } },
  noiseScale: { type: 'number', minimum: 0 },
  durationNoise: { type: 'number', minimum: 0 },
  threshold: { type: 'number', exclusiveMinimum: 0, default: 0.5 },
  language: { type: 'string', minLength: 1 },
  numInferenceSteps: { type: 'integer', minimum: 1, maximum: 100 },
  seed: { type: 'integer', minimum: 0, maximum: 9007199254740991 },
  result: { enum: ['samples', 'wav'], default: 'samples' },
  voices: { type: 'array', items: { type: 'string' }, minItems: 1, readOnly: true },
  sampleRate: { type: 'integer', minimum: 1000, maximum: 768000, readOnly: true },
};
