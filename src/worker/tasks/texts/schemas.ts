/** The schemas of params and of the config's keys: made from their types by `npm run generate`. */
import type { ConfigSchema } from '../../../shared/schema.js';

export const FILL_MASK_SCHEMA: ConfigSchema = {
  topK: { type: 'integer', minimum: 1, default: 5 },
  targets: { type: 'array', items: { type: 'string' }, minItems: 1 },
};

export const QUESTION_ANSWERER_SCHEMA: ConfigSchema = {
  topK: { type: 'integer', minimum: 1, default: 1 },
  maxAnswerLength: { type: 'integer', minimum: 1, default: 15 },
  stride: { type: 'integer', minimum: 0 },
  handleImpossibleAnswer: { type: 'boolean', default: false },
  alignToWords: { type: 'boolean', default: true },
};

export const ANSWER_EXPLAIN_PARAMS_SCHEMA: ConfigSchema = {
  method: { enum: ['leave-one-out'], default: 'leave-one-out' },
};

export const TEXT_CLASSIFIER_SCHEMA: ConfigSchema = {
  topK: { type: 'integer', minimum: 1 },
  output: { enum: ['logits', 'probabilities', 'values'], default: 'logits' },
  result: { enum: ['typed', 'torchserve'], default: 'typed' },
  threshold: { type: 'number', minimum: 0, maximum: 1 },
  multiLabel: { type: 'boolean', default: false, readOnly: true },
};

export const TEXT_EXPLAIN_PARAMS_SCHEMA: ConfigSchema = {
  target: { anyOf: [{ type: 'integer', minimum: 0 }, { type: 'string' }] },
  method: { enum: ['leave-one-out'], default: 'leave-one-out' },
};

export const TEXT_FEATURE_EXTRACTOR_SCHEMA: ConfigSchema = {
  pooling: {
    anyOf: [
      { enum: ['mean', 'cls', 'last-token', 'max', 'mean-sqrt-length', 'weighted-mean'] },
      {
        type: 'array',
        items: { enum: ['mean', 'cls', 'last-token', 'max', 'mean-sqrt-length', 'weighted-mean'] },
        minItems: 1,
      },
    ],
  },
  prompt: { type: 'string' },
  result: { enum: ['typed', 'usage'], default: 'typed' },
  normalize: { type: 'boolean', default: true },
  dimensions: { type: 'integer', minimum: 1 },
  dense: {
    type: 'array',
    items: {
      type: 'object',
      required: ['weights', 'activation'],
      properties: { weights: { type: 'string' }, activation: { enum: ['identity', 'tanh'] } },
    },
    readOnly: true,
  },
  prompts: { type: 'object', additionalProperties: { type: 'string' }, readOnly: true },
};

export const TEXT_RERANKER_SCHEMA: ConfigSchema = {
  topK: { type: 'integer', minimum: 1 },
  activation: { enum: ['sigmoid', 'identity'], default: 'sigmoid' },
  instruction: { type: 'string' },
};

export const TOKEN_CLASSIFIER_SCHEMA: ConfigSchema = {
  aggregationStrategy: { enum: ['none', 'simple', 'first', 'average', 'max'], default: 'none' },
  ignoreLabels: { type: 'array', items: { type: 'string' }, default: ['O'] },
  stride: { type: 'integer', minimum: 0 },
};

export const TOKEN_EXPLAIN_PARAMS_SCHEMA: ConfigSchema = {
  target: { anyOf: [{ type: 'integer', minimum: 0 }, { type: 'string' }] },
  position: { type: 'integer', minimum: 0 },
  method: { enum: ['leave-one-out'], default: 'leave-one-out' },
};

export const ZERO_SHOT_TEXT_CLASSIFIER_SCHEMA: ConfigSchema = {
  labels: { type: 'array', items: { type: 'string' }, minItems: 1 },
  hypothesisTemplate: { type: 'string', default: 'This example is {}.' },
  multiLabel: { type: 'boolean', default: false },
};
