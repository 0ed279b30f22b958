/** The schemas of params and of the config's keys: made from their types by `npm run generate`. */
import type { ConfigSchema } from '../../../shared/schema.js';

export const AUDIO_TEXT_TO_TEXT_SCHEMA: ConfigSchema = {
  maxDuration: { type: 'number', exclusiveMinimum: 0, default: 3600, readOnly: true },
};

export const DOCUMENT_QUESTION_ANSWERER_SCHEMA: ConfigSchema = {
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
  imageProcessing: { type: 'array', readOnly: true },
  maxImagePixels: { type: 'integer', minimum: 1, readOnly: true },
};

export const IMAGE_TEXT_TO_TEXT_SCHEMA: ConfigSchema = {
  exifOrientation: { type: 'boolean', default: true },
  background: {
    type: 'array',
    items: { type: 'integer', minimum: 0, maximum: 255 },
    minItems: 3,
    maxItems: 3,
    default: [255, 255, 255],
  },
  maxImagePixels: { type: 'integer', minimum: 1, readOnly: true },
  maxDuration: { type: 'number', exclusiveMinimum: 0, default: 3600, readOnly: true },
};

export const IMAGE_TO_TEXT_SCHEMA: ConfigSchema = {
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
  imageProcessing: { type: 'array', readOnly: true },
  maxImagePixels: { type: 'integer', minimum: 1, readOnly: true },
};

export const TEXT_GENERATOR_SCHEMA: ConfigSchema = {
  responseFormat: { type: 'object' },
  toolChoice: {
    anyOf: [
      { enum: ['none', 'auto', 'required'] },
      { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
    ],
    default: 'auto',
  },
  toolCallFormat: {
    enum: ['deepseek', 'gemma', 'glm', 'gpt-oss', 'hermes', 'llama3-json', 'mistral', 'pythonic', 'qwen3-coder'],
  },
  chatTemplateKwargs: { type: 'object' },
  maxStateBytes: { type: 'integer', minimum: 0, default: 268435456, readOnly: true },
};

export const TEXT_TO_TEXT_SCHEMA: ConfigSchema = {
  numBeams: { type: 'integer', minimum: 1, maximum: 64 },
  lengthPenalty: { type: 'number' },
  earlyStopping: { anyOf: [{ type: 'boolean' }, { enum: ['never'] }] },
  forcedBosTokenId: { type: 'integer', minimum: 0 },
  decoderStartTokenId: { type: 'integer', minimum: 0 },
  srcLang: { type: 'string', minLength: 1 },
  tgtLang: { type: 'string', minLength: 1 },
};
