import type { Handler } from '../contract/handler.js';
import type { TensorInfo } from '../contract/tensors.js';
import { TextHandler } from '../handlers/text-handler.js';
import { VisionHandler } from '../handlers/vision-handler.js';
import type { TestContextOptions, TestModelOptions } from './test-context.js';
import { createTestSession, type TestSession } from './test-session.js';

/** Creates what stands in for a handler's model and its archive's files. */
export async function standIn(
  handler: Handler,
  {
    outputs = {},
    labels,
    inputs,
    ...options
  }: Partial<TestModelOptions> & Pick<TestContextOptions, 'config' | 'files'>,
): Promise<{ readonly session: TestSession; readonly files: NonNullable<TestContextOptions['files']> }> {
  const session = await createTestSession(outputs, inputs ?? usualInputs(handler), inputs !== undefined);
  const files = {
    ...(labels && { 'index_to_name.json': JSON.stringify(labels) }),
    ...(needsTokenizer(handler, options) && { 'tokenizer.json': JSON.stringify(WORDS_ALIKE) }),
    ...options.files,
  };
  return { session, files };
}

function usualInputs(handler: Handler): readonly TensorInfo[] {
  if (handler instanceof VisionHandler) return [{ name: 'image', dtype: 'float32', dims: ['batch', null, null, null] }];
  if (handler instanceof TextHandler)
    return ['input_ids', 'attention_mask'].map((name) => ({ name, dtype: 'int64', dims: ['batch', 'length'] }));
  return [{ name: 'input', dtype: 'float32', dims: ['batch', null] }];
}

function needsTokenizer(handler: Handler, { config }: TestContextOptions): boolean {
  return handler instanceof TextHandler && config?.handler?.['tokenizer'] !== 'torchserve';
}

/** A `tokenizer.json` without a vocabulary: every word is an unknown token. */
const WORDS_ALIKE = {
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: { type: 'Whitespace' },
  post_processor: null,
  decoder: null,
  model: { type: 'WordPiece', vocab: { '[PAD]': 0, '[UNK]': 1 }, unk_token: '[UNK]', continuing_subword_prefix: '##' },
};
