/** The schemas of params and of the config's keys: made from their types by `npm run generate`. */
import type { ConfigSchema } from '../../shared/schema.js';

export const AUDIO_HANDLER_SCHEMA: ConfigSchema = {
  sampleRate: { type: 'integer', minimum: 1000, maximum: 768000, default: 16000, readOnly: true },
  maxDuration: { type: 'number', exclusiveMinimum: 0, default: 3600, readOnly: true },
};

export const BASE_HANDLER_SCHEMA: ConfigSchema = {
  labels: { type: ['array', 'object'], readOnly: true },
  inputName: { type: 'string', readOnly: true },
  outputName: { type: 'string', readOnly: true },
};

export const DETECTION_HANDLER_SCHEMA: ConfigSchema = {
  scoreThreshold: { type: 'number', minimum: 0, maximum: 1, default: 0.5 },
  iouThreshold: { type: 'number', minimum: 0, maximum: 1 },
  maxDetections: { type: 'integer', minimum: 1, maximum: 3000, default: 100 },
  result: { enum: ['typed', 'torchserve'], default: 'typed' },
  boxesOf: { enum: ['tensor', 'image'], readOnly: true },
};

export const GENERATION_HANDLER_SCHEMA: ConfigSchema = {
  maxNewTokens: { type: 'integer', minimum: 1 },
  minNewTokens: { type: 'integer', minimum: 0 },
  doSample: { type: 'boolean' },
  seed: { type: 'integer', minimum: 0, maximum: 9007199254740991 },
  temperature: { type: 'number', exclusiveMinimum: 0 },
  topK: { type: 'integer', minimum: 0 },
  topP: { type: 'number', minimum: 0, maximum: 1 },
  minP: { type: 'number', minimum: 0, maximum: 1 },
  repetitionPenalty: { type: 'number', exclusiveMinimum: 0 },
  noRepeatNgramSize: { type: 'integer', minimum: 0 },
  badWordsIds: {
    type: 'array',
    items: { type: 'array', items: { type: 'integer', minimum: 0 }, minItems: 1, maxItems: 100 },
    maxItems: 10000,
  },
  stop: {
    anyOf: [
      { type: 'string', minLength: 1 },
      { type: 'array', items: { type: 'string', minLength: 1 }, maxItems: 1000 },
    ],
  },
  eosTokenId: {
    anyOf: [
      { type: 'integer', minimum: 0 },
      { type: 'array', items: { type: 'integer', minimum: 0 }, maxItems: 100 },
    ],
  },
  returnLogprobs: { type: 'boolean', default: false },
  topLogprobs: { type: 'integer', minimum: 0, maximum: 20 },
  contextLength: { type: 'integer', minimum: 1, readOnly: true },
};

export const GRAPH_WORKFLOW_SCHEMA: ConfigSchema = {
  dag: {
    type: 'object',
    additionalProperties: { type: 'array', items: { type: 'string', minLength: 1 } },
    minProperties: 1,
    readOnly: true,
  },
  nodeSettings: {
    type: 'object',
    additionalProperties: {
      type: 'object',
      properties: {
        batchSize: { type: 'integer', minimum: 1 },
        maxBatchDelay: { type: 'number', minimum: 0, maximum: 2147483647 },
        retryAttempts: { type: 'integer', minimum: 0, maximum: 100 },
        timeout: { type: 'number', exclusiveMinimum: 0 },
      },
      additionalProperties: false,
    },
    readOnly: true,
  },
};

export const TEXT_HANDLER_SCHEMA: ConfigSchema = {
  maxLength: { type: 'integer', minimum: 1 },
  tokenizer: { enum: ['huggingface', 'torchserve'], default: 'huggingface', readOnly: true },
  padTo: { type: 'integer', minimum: 1, readOnly: true },
  firstPosition: { type: 'integer', minimum: 0, default: 0, readOnly: true },
  ngrams: { type: 'integer', minimum: 1, maximum: 10, default: 2, readOnly: true },
};

export const VISION_HANDLER_SCHEMA: ConfigSchema = {
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

export const IMAGE_EXPLAIN_PARAMS_SCHEMA: ConfigSchema = {
  target: { anyOf: [{ type: 'integer', minimum: 0 }, { type: 'string' }] },
  method: { enum: ['occlusion', 'rise'], default: 'occlusion' },
  window: { type: 'integer', minimum: 1 },
  stride: { type: 'integer', minimum: 1 },
  masks: { type: 'integer', minimum: 1, maximum: 100000, default: 1000 },
  grid: { type: 'integer', minimum: 1, default: 7 },
  probability: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1, default: 0.5 },
  seed: { type: 'integer', minimum: 0, maximum: 4294967295, default: 0 },
  baseline: {
    anyOf: [
      { type: 'integer', minimum: 0, maximum: 255 },
      { type: 'array', items: { type: 'integer', minimum: 0, maximum: 255 }, minItems: 3, maxItems: 3 },
    ],
  },
};
