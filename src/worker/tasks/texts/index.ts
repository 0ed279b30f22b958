/** The tasks of this folder, made from the classes by `npm run generate`. */
import type { TaskDescriptor } from '../../../contract/task.js';

/** By the handler's name. */
export const TEXTS = {
  fill_mask: {
    load: async () => (await import('./fill-mask.js')).FillMask,
    takes: 'text',
    architectures: ['ForMaskedLM'],
    processor: 'tokenizer',
    nearest: [{ order: 210, reads: 'texts', main: { rank: 3 } }],
  },
  question_answerer: {
    load: async () => (await import('./question-answerer.js')).QuestionAnswerer,
    takes: 'text',
    architectures: ['ForQuestionAnswering'],
    processor: 'tokenizer',
    nearest: [{ order: 120, reads: 'texts', outputs: ['start_logits', 'end_logits'] }],
  },
  text_classifier: {
    load: async () => (await import('./text-classifier.js')).TextClassifier,
    takes: 'text',
    architectures: ['ForSequenceClassification'],
    processor: 'tokenizer',
    hasClasses: true,
    nearest: [{ order: 160, reads: 'texts', main: { rank: 2, isLogits: true } }],
  },
  text_feature_extractor: {
    load: async () => (await import('./text-feature-extractor.js')).TextFeatureExtractor,
    takes: 'text',
    architectures: ['TextModelWithProjection'],
    processor: 'tokenizer',
    sentenceTransformers: true,
    files: ['config.json'],
    nearest: [
      { order: 170, reads: 'texts', main: { rank: 2 } },
      { order: 180, reads: 'texts', main: { rank: 3, isLogits: false } },
    ],
  },
  text_reranker: {
    load: async () => (await import('./text-reranker.js')).TextReranker,
    takes: 'text',
    architectures: ['ForSequenceClassification'],
    keys: ['sentence_transformers', 'sbert_ce_default_activation_function'],
    processor: 'tokenizer',
  },
  token_classifier: {
    load: async () => (await import('./token-classifier.js')).TokenClassifier,
    takes: 'text',
    architectures: ['ForTokenClassification'],
    processor: 'tokenizer',
    hasClasses: true,
    nearest: [{ order: 200, reads: 'texts', main: { rank: 3, lastBelow: 1000 } }],
  },
  zero_shot_text_classifier: {
    load: async () => (await import('./zero-shot-text-classifier.js')).ZeroShotTextClassifier,
    takes: 'text',
    architectures: ['ForSequenceClassification'],
    label: 'entail',
    processor: 'tokenizer',
    hasClasses: true,
  },
} as const satisfies Readonly<Record<string, TaskDescriptor>>;
