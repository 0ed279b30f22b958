// Answers of language models with random weights that keep to a schema, on onnxruntime-node. What fits a schema is decided
// by @cfworker/json-schema.
import { Validator } from '@cfworker/json-schema';
import { expect, test } from '@playwright/test';
import { random } from '../random.ts';
import { randomSchema } from '../unit/worker/generation/random-schemas.ts';

const root = new URL('../../', import.meta.url);
const { load } = (await import(new URL('dist/node.js', root).href)) as typeof import('../../src/node.ts');

// Byte-level BPE, and SentencePiece's with bytes.
for (const name of ['qwen3', 'llama'])
  test(`${name}: 100 schemas at random, each answer fits${name === 'llama' ? ' @full' : ''}`, async () => {
    await using client = await load<'text_generator'>(new URL(`test/models/generation/${name}/`, root));
    for (let seed = 0; seed < 100; seed++) {
      const schema = randomSchema(random(seed + (name === 'llama' ? 100 : 0)), 1);
      const { text, finishReason } = await client.predict('one two', {
        params: {
          responseFormat: { type: 'json_schema', schema },
          doSample: true,
          seed,
          topK: 0,
          maxNewTokens: 250,
        },
      });
      const where = `${seed}: ${JSON.stringify(schema)} ${text}`;
      expect(finishReason, where).toBe('stop');
      expect(new Validator(schema).validate(JSON.parse(text)).valid, where).toBe(true);
    }
  });
