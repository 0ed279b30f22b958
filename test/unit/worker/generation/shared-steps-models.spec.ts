/**
 * Answers that are generated at the same time, with models of real architectures and random weights on ONNX Runtime
 * under Node: each is the one that transformers gives in Python (`test/models/generation/make.py`).
 */
import { expect, test } from '@playwright/test';
import { readFileSync } from 'node:fs';
import type { Params } from '../../../../src/contract/handler.ts';
import type { Session } from '../../../../src/contract/tensors.ts';
import { startEngine } from '../../../../src/server/node/engines.ts';
import { createTestContext } from '../../../../src/worker.ts';
import type { GeneratedText } from '../../../../src/worker/generation/answer.ts';
import { TextGenerator } from '../../../../src/worker/tasks/writing/text-generator.ts';
import { createFiles } from '../../../../src/worker/models/files.ts';
import { folderOf, GENERATION } from './models.ts';

const FILES = ['tokenizer.json', 'tokenizer_config.json', 'generation_config.json', 'config.json'];

/** @param rows gets the number of rows of each run of one token */
async function open(name: string, rows: number[]) {
  const read = (path: string): Blob => new Blob([readFileSync(folderOf(name) + path)]);
  const engine = await startEngine('onnx/cpu');
  const session = await engine.open(createFiles({ 'model.onnx': read('onnx/model.onnx') }), 'model.onnx', {});
  const counting: Session = {
    inputs: session.inputs,
    outputs: session.outputs,
    run(feeds, options) {
      const [count, tokens] = feeds['input_ids']!.dims as [number, number];
      if (tokens === 1) rows.push(count);
      return session.run(feeds, options);
    },
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
  const given = { session: counting, files: Object.fromEntries(FILES.map((path) => [path, read(path)])) };
  const handler = new TextGenerator();
  await handler.initialize(createTestContext(given));
  return {
    handler,
    session,
    async ask(texts: readonly string[], params: Params): Promise<readonly GeneratedText[]> {
      const context = createTestContext({ ...given, batchSize: texts.length, params });
      return (await handler.handle(texts, context)) as readonly GeneratedText[];
    },
  };
}

/** A model that computes padded rows differently: it has no `position_ids`. */
const TAKE_TURNS = new Set(['gemma3']);

for (const name of ['llama', 'qwen3', 'gemma3', 'phi3', 'gpt2', 'gpt_neox', 'smollm3', 'llama_fused'])
  test(`${name}: a list of prompts has the answers of transformers`, async () => {
    const rows: number[] = [];
    const { session, ask } = await open(name, rows);
    const { prompts } = GENERATION[name === 'llama_fused' ? 'llama' : name]!;
    const texts = prompts.map(({ prompt }) => prompt);
    const answers = await ask(texts, { maxNewTokens: 24 });
    expect(answers.map(({ text }) => text)).toEqual(prompts.map(({ text }) => text));
    rows.length = 0;
    const drawn = { maxNewTokens: 12, doSample: true, temperature: 2, seed: 3 };
    const together = await ask(texts, drawn);
    expect(Math.max(...rows)).toBe(TAKE_TURNS.has(name) ? 1 : texts.length);
    for (const [index, text] of texts.entries())
      expect(together[index]!.text).toBe((await ask([text], drawn))[0]!.text);
    await session[Symbol.asyncDispose]();
  });

test('a second answer does not wait for the end of the first, nor does another run of the worker', async () => {
  const { handler, session, ask } = await open('llama', []);
  const ended: string[] = [];
  const note = (name: string) => (): void => void ended.push(name);
  const first = ask(['Tell me a story'], { maxNewTokens: 100, eosTokenId: [] }).then(note('first'));
  const second = ask(['What is the time'], { maxNewTokens: 4, eosTokenId: [] }).then(note('second'));
  const other = session.run(handler.example(handler.context)!).then(note('other'));
  await Promise.all([first, second, other]);
  expect(ended).toEqual(['other', 'second', 'first']);
  await session[Symbol.asyncDispose]();
});
