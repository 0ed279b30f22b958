/**
 * An answer depends on its question alone: not on what was asked before, or beside it. `test/models/generation/llama` in
 * each precision, of which `q8` and `q4_int8` quantize at run time (`test/models/generation/quantize.py`).
 */
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import type { Params } from '../../../../src/contract/handler.ts';
import { startEngine } from '../../../../src/server/node/engines.ts';
import { createTestContext } from '../../../../src/worker.ts';
import type { GeneratedText } from '../../../../src/worker/generation/answer.ts';
import { TextGenerator } from '../../../../src/worker/tasks/writing/text-generator.ts';
import { createFiles } from '../../../../src/worker/models/files.ts';
import { folderOf } from './models.ts';

const FILES = ['tokenizer.json', 'tokenizer_config.json', 'generation_config.json', 'config.json'];
const read = (path: string): Blob => new Blob([readFileSync(folderOf('.') + path)]);
const files = Object.fromEntries(FILES.map((path) => [path, read(`llama/${path}`)]));

/** Some begin alike, some continue another one, and one is longer than the blocks in which prompts run. */
const QUESTIONS = [
  'Tell me a story about the sea',
  'Tell me a story about the door',
  'Tell me a story about the sea, please. Once upon a time there was',
  'What is the time in London?',
  'What is the time',
  'The cat sat on the mat and the dog',
  'The cat sat on the mat and the dog lay by the door. Tell me a story',
  'naïve café 👋🏽 東京',
  'A model that runs on the device of its visitor',
  'one two three four five six seven eight nine ten '.repeat(5),
];
const ORDERS = [QUESTIONS, QUESTIONS.toReversed(), [3, 7, 1, 9, 0, 5, 2, 8, 6, 4].map((at) => QUESTIONS[at]!)] as const;
const PARAMS: Params = { maxNewTokens: 8, returnLogprobs: true };

async function open(backend: 'onnx/cpu' | 'onnx/wasm', path: string) {
  const engine = await startEngine(backend);
  const session = await engine.open(createFiles({ 'model.onnx': read(path) }), 'model.onnx', {});
  const given = { session, files };
  const start = async (): Promise<TextGenerator> => {
    const handler = new TextGenerator();
    await handler.initialize(createTestContext(given));
    return handler;
  };
  const ask = async (handler: TextGenerator, texts: readonly string[]): Promise<readonly GeneratedText[]> =>
    (await handler.handle(
      texts,
      createTestContext({ ...given, batchSize: texts.length, params: PARAMS }),
    )) as readonly GeneratedText[];
  return { session, start, ask };
}

const MODELS = [
  { name: 'fp32', backend: 'onnx/cpu', path: 'llama/onnx/model.onnx', quantizesAtRunTime: false },
  { name: 'fp16', backend: 'onnx/cpu', path: 'quantized/fp16.onnx', quantizesAtRunTime: false },
  { name: 'q4', backend: 'onnx/cpu', path: 'quantized/q4.onnx', quantizesAtRunTime: false },
  { name: 'q4_int8', backend: 'onnx/cpu', path: 'quantized/q4_int8.onnx', quantizesAtRunTime: true },
  { name: 'q8', backend: 'onnx/cpu', path: 'quantized/q8.onnx', quantizesAtRunTime: true },
  { name: 'q8', backend: 'onnx/wasm', path: 'quantized/q8.onnx', quantizesAtRunTime: true },
] as const;

for (const { name, backend, path, quantizesAtRunTime } of MODELS)
  test(`${name} on ${backend}: ten questions in three orders, alone and four at once`, async () => {
    const { session, start, ask } = await open(backend, path);
    expect(session.quantizesAtRunTime).toBe(quantizesAtRunTime);
    const afresh = new Map<string, GeneratedText>();
    for (const question of QUESTIONS) afresh.set(question, (await ask(await start(), [question]))[0]!);
    const check = (question: string, { text, logprobs }: GeneratedText): void => {
      const expected = afresh.get(question)!;
      expect(text, question).toBe(expected.text);
      // Where nothing is quantized at run time, the order of sums differs between runs of other sizes.
      const most = quantizesAtRunTime ? 0 : 1e-3;
      for (const [at, value] of logprobs!.entries())
        expect(Math.abs(value - expected.logprobs![at]!), question).toBeLessThanOrEqual(most);
    };
    for (const order of ORDERS) {
      const alone = await start();
      for (const question of order) check(question, (await ask(alone, [question]))[0]!);
      const together = await start();
      for (let from = 0; from < order.length; from += 4) {
        const group = order.slice(from, from + 4);
        for (const [index, answer] of (await ask(together, group)).entries()) check(group[index]!, answer);
      }
    }
    await session[Symbol.asyncDispose]();
  });
