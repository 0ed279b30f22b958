/** The schemas of params and of the config's keys: made from their types by `npm run generate`. */
import type { ConfigSchema } from '../../../shared/schema.js';

export const SPEECH_TO_TEXT_SCHEMA: ConfigSchema = {
  chunkLength: { type: 'number', minimum: 1 },
  finalize: { type: 'boolean', default: false },
  language: { type: 'string', minLength: 1 },
  prompt: { type: 'string' },
  task: { enum: ['transcribe', 'translate'] },
  timestamps: { enum: ['segment', 'word'] },
  temperatures: { type: 'array', items: { type: 'number', minimum: 0 }, minItems: 1, maxItems: 20 },
  compressionRatioThreshold: { type: 'number', exclusiveMinimum: 0 },
  logprobThreshold: { type: 'number', maximum: 0 },
  noSpeechThreshold: { type: 'number', minimum: 0, maximum: 1 },
  suppressTokens: { type: 'array', items: { type: 'integer', minimum: 0 } },
  beginSuppressTokens: { type: 'array', items: { type: 'integer', minimum: 0 } },
  numBeams: { type: 'integer', minimum: 1, maximum: 64 },
  lengthPenalty: { type: 'number' },
  earlyStopping: { anyOf: [{ type: 'boolean' }, { enum: ['never'] }] },
  maxDuration: { type: 'number', exclusiveMinimum: 0, default: 3600, readOnly: true },
};
