/** The schemas of params and of the config's keys: made from their types by `npm run generate`. */
import type { ConfigSchema } from '../../../shared/schema.js';

export const AUDIO_CLASSIFIER_SCHEMA: ConfigSchema = {
  topK: { type: 'integer', minimum: 1, default: 5 },
  output: { enum: ['logits', 'probabilities', 'values'], default: 'logits' },
  threshold: { type: 'number', minimum: 0, maximum: 1 },
  multiLabel: { type: 'boolean', default: false, readOnly: true },
};

export const AUDIO_TEXT_EMBEDDER_SCHEMA: ConfigSchema = {
  maxLength: { type: 'integer', minimum: 1, readOnly: true },
  padTo: { type: 'integer', minimum: 1, readOnly: true },
  maxStateBytes: { type: 'integer', minimum: 0, default: 268435456, readOnly: true },
};

export const KEYWORD_SPOTTER_SCHEMA: ConfigSchema = {
  threshold: { type: 'number', minimum: 0, maximum: 1, default: 0.5 },
  patience: { type: 'integer', minimum: 1, default: 1 },
  debounceTime: { type: 'number', minimum: 0, default: 1 },
  sampleRate: { const: 16000, default: 16000, readOnly: true },
};

export const SPEAKER_EMBEDDER_SCHEMA: ConfigSchema = {
  normalize: { type: 'boolean', default: true },
  features: { enum: ['wespeaker', '3d-speaker'], readOnly: true },
};

export const ZERO_SHOT_AUDIO_CLASSIFIER_SCHEMA: ConfigSchema = {
  hypothesisTemplate: { type: 'string', default: 'This is a sound of {}.' },
  labels: { type: 'array', items: { type: 'string' }, minItems: 1 },
  maxLength: { type: 'integer', minimum: 1, readOnly: true },
  padTo: { type: 'integer', minimum: 1, readOnly: true },
};
