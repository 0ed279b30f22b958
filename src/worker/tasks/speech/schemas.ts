/** The schemas of params and of the config's keys: made from their types by `npm run generate`. */
import type { ConfigSchema } from '../../../shared/schema.js';

export const SPEECH_RECOGNIZER_SCHEMA: ConfigSchema = {
  timestamps: { enum: ['word', 'character'] },
  chunkLength: { type: 'number', minimum: 1, default: 30 },
  finalize: { type: 'boolean', default: false },
  sampleRate: { type: 'integer', minimum: 1000, maximum: 768000, readOnly: true },
};

export const VOICE_ACTIVITY_DETECTOR_SCHEMA: ConfigSchema = {
  threshold: { type: 'number', minimum: 0, maximum: 1, default: 0.5 },
  negThreshold: { type: 'number', minimum: 0, maximum: 1 },
  minSpeechDurationMs: { type: 'number', minimum: 0, default: 250 },
  maxSpeechDurationS: { type: 'number', exclusiveMinimum: 0 },
  minSilenceDurationMs: { type: 'number', minimum: 0, default: 100 },
  speechPadMs: { type: 'number', minimum: 0, default: 30 },
  sampleRate: { const: 16000, default: 16000, readOnly: true },
};
