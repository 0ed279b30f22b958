// Donut's answers are compared with transformers' in `test/browser/coverage.spec.ts`; here, which handler a repository
// gets, and what is refused.
import { expect, test } from '@playwright/test';
import { readHuggingFace } from '../../../../../src/worker/models/hugging-face/read.ts';
import { DocumentQuestionAnswerer } from '../../../../../src/worker/tasks/writing/document-question-answerer.ts';
import { createTestContext } from '../../../../../src/worker.ts';

test('an encoder of documents decides between two handlers of one architecture', async () => {
  const handlerOf = async (encoder: string): Promise<string | undefined> => {
    const config = { architectures: ['VisionEncoderDecoderModel'], encoder: { model_type: encoder } };
    const files: Record<string, string> = {
      'config.json': JSON.stringify(config),
      'tokenizer.json': '{}',
      'preprocessor_config.json': '{"image_processor_type":"ViTImageProcessor"}',
      'onnx/encoder_model.onnx': '',
      'onnx/decoder_model_merged.onnx': '',
    };
    const source = {
      url: 'https://models.test/donut/',
      paths: Object.keys(files),
      has: (path: string) => Promise.resolve(path in files),
      read: (path: string) => Promise.resolve(path in files ? new Blob([files[path]!]) : undefined),
    };
    const archive = await readHuggingFace(source as never, { config: {} });
    return archive?.manifest.model.handler;
  };
  expect(await handlerOf('donut-swin')).toBe('document_question_answerer');
  expect(await handlerOf('vit')).toBe('image_to_text');
});

test('an input is an image, with a question or with a prompt', async () => {
  class Opened extends DocumentQuestionAnswerer {
    async ask(input: unknown): Promise<unknown> {
      return await this.promptOf(input as never, 0, createTestContext());
    }
  }
  const handler = new Opened();
  const image = new Blob();
  await expect(handler.ask({ image, question: ' ' })).rejects.toThrow('question: expected a text, got');
  await expect(handler.ask({ image, prompt: 3 })).rejects.toThrow('prompt: expected a text, got 3');
  await expect(handler.ask({ image, question: 'a', prompt: 'b' })).rejects.toThrow('Pass one of them');
  await expect(handler.ask({ image, qestion: 'a' })).rejects.toThrow('probably question is meant');
});
