/** The schemas of params and of the config's keys: made from their types by `npm run generate`. */
import type { ConfigSchema } from '../../../shared/schema.js';

export const CONVERSATION_TRANSCRIBER_SCHEMA: ConfigSchema = {
  language: { type: 'string', minLength: 1 },
  prompt: { type: 'string' },
  timestamps: { enum: ['word', 'segment'], default: 'word' },
  numSpeakers: { type: 'integer', minimum: 1 },
  minSpeakers: { type: 'integer', minimum: 1 },
  maxSpeakers: { type: 'integer', minimum: 1 },
};

export const SPEAKER_DIARIZER_SCHEMA: ConfigSchema = {
  numSpeakers: { type: 'integer', minimum: 1 },
  minSpeakers: { type: 'integer', minimum: 1 },
  maxSpeakers: { type: 'integer', minimum: 1 },
  threshold: { type: 'number', minimum: 0, maximum: 2, default: 0.7045654963945799 },
  minDurationOff: { type: 'number', minimum: 0, default: 0 },
  minDurationOn: { type: 'number', minimum: 0, default: 0 },
  windowStep: { type: 'number', exclusiveMinimum: 0, maximum: 1, default: 0.1 },
};
