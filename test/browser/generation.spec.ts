/**
 * Language models of real architectures with random weights, from their repositories' URLs alone, against transformers
 * in Python: `test/models/generation/make.py`.
 */
import type { TextGenerator } from '../../src/index.ts';
import { expect, test } from './fixtures.ts';
import { readGoldens } from './goldens.ts';

interface Prompt {
  readonly prompt: string;
  readonly input_ids: readonly number[];
  readonly tokens: readonly number[];
  readonly text: string;
  readonly beams?: readonly { readonly config: { readonly num_beams: number }; readonly tokens: readonly number[] }[];
}
const expected = readGoldens<
  Readonly<
    Record<
      string,
      {
        readonly prompts: readonly Prompt[];
        readonly chats?: readonly {
          readonly messages: readonly { readonly role: string; readonly content: string }[];
          readonly input_ids?: readonly number[];
          readonly error?: string;
        }[];
      }
    >
  >
>('../models/generation/expected.json');

const url = (name: string): string => `/test/models/generation/${name}/`;

for (const name of ['llama', 'qwen3', 'gemma3', 'phi3', 'gpt2', 'gpt_neox', 'smollm3'])
  test(`${name}: the greedy answers of transformers, whole and in parts${['llama', 'gpt2'].includes(name) ? ' @wasm' : ' @full'}`, async ({
    open,
    backend,
  }) => {
    test.skip(backend === 'webgl', 'ONNX Runtime WebGL has no int64');
    const page = await open();
    const { prompts } = expected[name]!;
    const asked = backend === 'wasm' ? prompts : prompts.slice(0, 1);
    const answers = await page.evaluate(
      async ({ url, backend, texts, maxNewTokens }) => {
        const client = await window.tabserve.load<'text_generator'>(url, { backends: [`onnx/${backend}`] });
        const seen = [];
        for (const text of texts) {
          const parts: string[] = [];
          let result: unknown;
          for await (const item of client.stream(text, { params: { maxNewTokens } }))
            if (typeof item === 'string') parts.push(item);
            else result = item;
          seen.push({ parts, streamed: result, whole: await client.predict(text, { params: { maxNewTokens } }) });
        }
        await client.dispose();
        return seen;
      },
      { url: url(name), backend, texts: asked.map(({ prompt }) => prompt), maxNewTokens: 24 },
    );
    for (const [index, { parts, streamed, whole }] of answers.entries()) {
      const { text, tokens, input_ids } = asked[index]!;
      const usage = { promptTokens: input_ids.length, completionTokens: tokens.length };
      const finishReason = tokens.length < 24 ? 'stop' : 'length';
      expect(whole).toMatchObject({ text, finishReason, usage });
      expect(streamed).toMatchObject({ text, finishReason, usage });
      expect(parts.join('')).toBe(text);
      expect(whole.usage.cachedTokens).toBe(input_ids.length - 1);
    }
  });

for (const name of ['t5', 'bart', 'marian', 'nllb'])
  test(`${name}: encoder and decoder answer as transformers does, greedily and with beams${['t5', 'bart'].includes(name) ? ' @wasm' : ' @full'}`, async ({
    open,
    backend,
  }) => {
    test.skip(backend === 'webgl', 'ONNX Runtime WebGL has no int64');
    const page = await open();
    const { prompts } = expected[name]!;
    const asked = backend === 'wasm' ? prompts : prompts.slice(0, 1);
    const seen = await page.evaluate(
      async ({ url, backend, texts, beams }) => {
        const files = new Set<string>();
        const client = await window.tabserve.load<'text_to_text'>(url, {
          backends: [`onnx/${backend}`],
          onProgress: ({ file }) => void files.add(file),
        });
        const answers = [];
        for (const text of texts) {
          const parts: string[] = [];
          let result: unknown;
          for await (const item of client.stream(text))
            if (typeof item === 'string') parts.push(item);
            else result = item;
          const found = beams ? await client.predict(text, { params: { numBeams: 4 } }) : undefined;
          answers.push({ parts, result, searched: found?.usage.completionTokens });
        }
        const { nodes } = await client.describe();
        await client.dispose();
        return { answers, files: [...files], nodes: Object.keys(nodes ?? {}) };
      },
      { url: url(name), backend, texts: asked.map(({ prompt }) => prompt), beams: backend === 'wasm' },
    );
    // Both models are one download, with the names that the repository has for them.
    expect(seen.files).toEqual(expect.arrayContaining(['onnx/encoder_model.onnx', 'onnx/decoder_model_merged.onnx']));
    expect(seen.nodes).toEqual(['encoder', 'decoder']);
    for (const [index, { parts, result, searched }] of seen.answers.entries()) {
      const { text, tokens, input_ids, beams } = asked[index]!;
      const usage = { promptTokens: input_ids.length, completionTokens: tokens.length };
      expect(result).toMatchObject({ text, usage });
      expect(parts.join('')).toBe(text);
      const four = beams!.find(({ config }) => Object.keys(config).length === 1 && config.num_beams === 4)!;
      expect(searched).toBe(backend === 'wasm' ? four.tokens.length : undefined);
    }
  });

test('the precision of a model in parts is that of all, or undefined @wasm', async ({ open }) => {
  const page = await open();
  // The file's bytes do not matter here, only its name.
  await page.route('**/decoder_model_merged_quantized.onnx', async (route) =>
    route.fulfill({ response: await route.fetch({ url: route.request().url().replace('_quantized', '') }) }),
  );
  const seen = await page.evaluate(async (url) => {
    const precisions = [];
    for (const dtype of ['fp32', { encoder: 'fp32', decoder: 'q8' }] as const) {
      const client = await window.tabserve.load(url, { backends: ['onnx/wasm'], config: { engine: { dtype } } });
      precisions.push({ precision: client.backend?.precision, log: client.diagnose() });
      await client.dispose();
    }
    return precisions;
  }, url('t5'));
  expect(seen.map(({ precision }) => precision)).toEqual(['fp32', undefined]);
  expect(seen[1]!.log).toContain('/t5/ (t5)\n');
  expect(seen[1]!.log).toContain('onnx/wasm gets decoder: onnx/decoder_model_merged_quantized.onnx (q8)');
});

test('a repository without its decoder is refused with the files that were looked for @wasm', async ({ open }) => {
  const page = await open();
  await page.route('**/decoder_model_merged*', (route) => route.fulfill({ status: 404 }));
  const error = await page.evaluate(
    async (url) =>
      await window.tabserve.load(url, { backends: ['onnx/wasm'] }).catch((thrown: Error) => thrown.message),
    url('t5'),
  );
  expect(error).toMatch(/^Node "decoder": .*onnx\/decoder_model_merged\.onnx/);
});

test('one attention for each layer (GroupQueryAttention), and four precisions of which two have weights in other files @wasm', async ({
  open,
  backend,
}) => {
  test.skip(backend === 'webgl', 'ONNX Runtime WebGL has no GroupQueryAttention');
  const page = await open();
  const { prompts } = expected['llama']!;
  const { prompt, text } = prompts[0]!;
  const { answers, together } = await page.evaluate(
    async ({ url, backend, prompt, prompts, precisions }) => {
      const seen: Record<string, string> = {};
      let together: readonly unknown[] = [];
      for (const dtype of precisions) {
        const client = await window.tabserve.load<'text_generator'>(url, {
          backends: [`onnx/${backend}`],
          config: { engine: { dtype } },
        });
        seen[dtype] = (await client.predict(prompt, { params: { maxNewTokens: 12 } })).text;
        if (dtype === 'fp32') together = await client.handle(prompts, { params: { maxNewTokens: 24 } });
        await client.dispose();
      }
      return { answers: seen, together };
    },
    {
      url: url('llama_fused'),
      backend,
      prompt,
      prompts: prompts.map((one) => one.prompt),
      // The software adapter has no half precision.
      precisions: backend === 'wasm' ? (['fp32', 'q4'] as const) : (['fp32'] as const),
    },
  );
  expect(text.startsWith(answers['fp32']!), JSON.stringify(answers)).toBe(true);
  for (const answer of Object.values(answers)) expect(answer.length).toBeGreaterThan(0);
  // Their runs are shared, padded on the right.
  expect(together).toMatchObject(prompts.map((one) => ({ text: one.text })));
});

test('five streams of one worker begin before any ends, and each has its own answer @wasm', async ({
  open,
  backend,
}) => {
  test.skip(backend === 'webgl', 'ONNX Runtime WebGL has no int64');
  const page = await open();
  const { prompts } = expected['llama']!;
  const seen = await page.evaluate(
    async ({ url, backend, prompts }) => {
      const client = await window.tabserve.load<'text_generator'>(url, {
        backends: [`onnx/${backend}`],
        maxWorkers: 1,
      });
      const events: string[] = [];
      const texts = await Promise.all(
        prompts.map(async (prompt, at) => {
          let text = '';
          for await (const item of client.stream(prompt)) {
            if (typeof item !== 'string') continue;
            if (text === '') events.push('begins');
            text += item;
          }
          events.push('ends');
          return [at, text] as const;
        }),
      );
      await client.dispose();
      return { events, texts };
    },
    { url: url('llama'), backend, prompts: Array.from({ length: 5 }, (_, at) => prompts[at % prompts.length]!.prompt) },
  );
  expect(seen.events.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => 'begins'));
  for (const [at, text] of seen.texts) expect(text).toBe(prompts[at % prompts.length]!.text);
});

test('an abort ends an answer that is not streamed, with one beam or several, and a short answer does not wait for a long one @wasm', async ({
  open,
  backend,
}) => {
  test.skip(backend === 'webgl', 'ONNX Runtime WebGL has no int64');
  const page = await open();
  const seen = await page.evaluate(
    async ({ llama, bart, backend }) => {
      const options = { backends: [`onnx/${backend}`], maxWorkers: 1 } as const;
      type Ask = (options: {
        params: object;
        signal?: AbortSignal;
      }) => Promise<{ readonly usage: { readonly completionTokens: number } }>;
      const abortOf = async (ask: Ask, params: object): Promise<unknown> => {
        const aborter = new AbortController();
        const asked = ask({ params, signal: aborter.signal });
        setTimeout(() => aborter.abort(), 30);
        const code = await asked.then(
          () => 'answered',
          (error: { code: string }) => error.code,
        );
        return [code, (await ask({ params: { maxNewTokens: 1 } })).usage.completionTokens];
      };
      const generator = await window.tabserve.load<'text_generator'>(llama, options);
      const long = { maxNewTokens: 200, eosTokenId: [] };
      const aborted = await abortOf((own) => generator.predict('one two', own), long);
      const ended: string[] = [];
      const first = generator.predict('Tell me a story', { params: long }).then(() => ended.push('long'));
      const second = generator
        .predict('What is', { params: { maxNewTokens: 2, eosTokenId: [] } })
        .then(() => ended.push('short'));
      await Promise.all([first, second]);
      await generator.dispose();
      const pair = await window.tabserve.load<'text_to_text'>(bart, options);
      const beams = await abortOf((own) => pair.predict('one two', own), {
        numBeams: 4,
        maxNewTokens: 100,
        eosTokenId: [],
      });
      await pair.dispose();
      return { aborted, ended, beams };
    },
    { llama: url('llama'), bart: url('bart'), backend },
  );
  expect(seen.aborted).toEqual(['aborted', 1]);
  expect(seen.beams).toEqual(['aborted', 1]);
  expect(seen.ended).toEqual(['short', 'long']);
});

test('an answer goes on when its worker is ended in the middle of it, again and again @wasm', async ({
  open,
  backend,
}) => {
  test.skip(backend === 'webgl', 'ONNX Runtime WebGL has no int64');
  const page = await open();
  const { prompt, text } = expected['llama']!.prompts[0]!;
  const seen = await page.evaluate(
    async ({ url, backend, prompt }) => {
      const made: Worker[] = [];
      const factory = (): Worker => {
        made.push(window.workers.standard());
        return made.at(-1)!;
      };
      const client = window.tabserve.connect<TextGenerator>(factory, {
        model: url,
        backends: [`onnx/${backend}`],
      });
      const failures: number[] = [];
      client.on('recover', ({ failed }) => failures.push(failed));
      await client.initialize();
      const answers: { parts: string; text: string; workers: number }[] = [];
      // The second is drawn: with the same seed, it is the same with losses and without.
      const drawn = { maxNewTokens: 24, doSample: true, temperature: 3, seed: 5 };
      for (const params of backend === 'wasm' ? [{ maxNewTokens: 24 }, drawn] : [drawn]) {
        for (const every of [Infinity, backend === 'wasm' ? 4 : 8]) {
          const before = made.length;
          let [parts, count, text] = ['', 0, ''];
          for await (const item of client.stream(prompt, { params })) {
            if (typeof item === 'string') parts += item;
            else if ('text' in item) text = item.text;
            count += 1;
            // On a GPU, the latest one was WASM's, with which the model was compared.
            if (count % every === 0) for (const worker of made) worker.terminate();
          }
          answers.push({ parts, text, workers: made.length - before });
        }
      }
      await client.dispose();
      return { answers, failures };
    },
    { url: url('llama'), backend, prompt },
  );
  const pairs = backend === 'wasm' ? [seen.answers.slice(0, 2), seen.answers.slice(2)] : [seen.answers];
  if (backend === 'wasm') expect(seen.answers[0]).toEqual({ parts: text, text, workers: 0 });
  for (const [whole, broken] of pairs as [Answer, Answer][]) {
    expect(whole.parts).toBe(whole.text);
    expect(broken).toMatchObject({ parts: whole.text, text: whole.text });
    expect(broken.workers).toBeGreaterThan(0);
  }
  expect(new Set(seen.failures)).toEqual(new Set([0]));
});

interface Answer {
  readonly parts: string;
  readonly text: string;
  /** How many workers were made for it. */
  readonly workers: number;
}

test('the gallery’s own model: the greedy answers of ONNX Runtime in Python @full', async ({ open, backend }) => {
  test.skip(backend === 'webgl', 'ONNX Runtime WebGL has no int64');
  const { greedy } = readGoldens<{ readonly greedy: Readonly<Record<string, string>> }>(
    '../../training/writer.metrics.json',
  );
  // A GPU in software takes seconds for a token.
  const [count, maxNewTokens] = backend === 'wasm' ? [undefined, 60] : [1, 8];
  const asked = Object.keys(greedy).slice(0, count);
  const page = await open();
  const answers = await page.evaluate(
    async ({ backend, asked, maxNewTokens }) => {
      const client = await window.tabserve.load<'text_generator'>('/models/writer/', { backends: [`onnx/${backend}`] });
      const params = { doSample: false, maxNewTokens };
      const answers = [];
      for (const prompt of asked) answers.push((await client.predict(prompt, { params })).text);
      // Its chat template writes a conversation as plain text.
      const messages = [{ role: 'user', content: asked[0]! }];
      answers.push((await client.predict({ messages }, { params })).text);
      await client.dispose();
      return answers;
    },
    { backend, asked, maxNewTokens },
  );
  for (const [index, prompt] of [...asked, asked[0]!].entries()) {
    const right = greedy[prompt]!;
    expect(answers[index]).toBe(backend === 'wasm' ? right : right.slice(0, answers[index]!.length || 1));
  }
});
