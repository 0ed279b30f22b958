// The handler over a stand-in for its model, which always says the same next token. Real models run in
// `test/browser/generation.spec.ts`.
import { expect, test } from '@playwright/test';
import type { Context } from '../../../../../src/contract/handler.ts';
import type { Session, Tensor, TensorInfo, Tensors } from '../../../../../src/contract/tensors.ts';
import type { PredictionError } from '../../../../../src/contract/errors.ts';
import { createTestContext } from '../../../../../src/worker.ts';
import type { GeneratedText } from '../../../../../src/worker/generation/answer.ts';
import {
  TextGenerator,
  type TextGeneratorInput,
  type TokensPart,
} from '../../../../../src/worker/tasks/writing/text-generator.ts';
import { TextToText } from '../../../../../src/worker/tasks/writing/text-to-text.ts';
import { SpeechToText } from '../../../../../src/worker/tasks/transcription/speech-to-text.ts';
import { generationFiles } from '../../generation/models.ts';

const VOCABULARY = 480;
const memory = (name: string, type: string): TensorInfo => ({
  name,
  dtype: 'float32',
  dims: ['batch_size', 2, type, 1],
});
const INPUTS: readonly TensorInfo[] = [
  { name: 'input_ids', dtype: 'int64', dims: ['batch_size', 'sequence_length'] },
  { name: 'attention_mask', dtype: 'int64', dims: ['batch_size', 'total'] },
  memory('past_key_values.0.key', 'past_sequence_length'),
];
const OUTPUTS: readonly TensorInfo[] = [
  { name: 'logits', dtype: 'float32', dims: ['batch_size', 'sequence_length', VOCABULARY] },
  memory('present.0.key', 'total'),
];

interface Stub extends Session {
  /** The tokens of each run. */
  readonly runs: number[][];
}

/** @param next the token that follows, by the number of tokens so far, or logits of its own */
function stub(next: (total: number) => number | Float32Array, inputs = INPUTS, outputs = OUTPUTS): Stub {
  const runs: number[][] = [];
  return {
    inputs,
    outputs,
    runs,
    run(feeds: Tensors) {
      const ids = [...(feeds['input_ids']!.data as BigInt64Array)].map(Number);
      runs.push(ids);
      const past = feeds['past_key_values.0.key'];
      const total = (past?.dims[2] ?? 0) + ids.length;
      const found = next(total);
      const logits = typeof found === 'number' ? new Float32Array(VOCABULARY) : found;
      if (typeof found === 'number') logits[found] = 1;
      const rows = new Float32Array(ids.length * VOCABULARY);
      rows.set(logits, (ids.length - 1) * VOCABULARY);
      const kept = [...Array(2).keys()].flatMap((head) => [
        ...((past?.data as Float32Array | undefined)?.subarray(
          head * (total - ids.length),
          (head + 1) * (total - ids.length),
        ) ?? []),
        ...ids,
      ]);
      const present: Tensor = { dtype: 'float32', dims: [1, 2, total, 1], data: Float32Array.from(kept) };
      return Promise.resolve({
        logits: { dtype: 'float32', dims: [1, ids.length, VOCABULARY], data: rows },
        'present.0.key': present,
      });
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** Logits of which the last one is unusual. */
const only = (logit: number): Float32Array => new Float32Array(VOCABULARY).fill(logit, -1);

const files = async (name: string, without: readonly string[] = []): Promise<Record<string, Blob>> => {
  const all = generationFiles(name);
  const names = ['tokenizer.json', 'tokenizer_config.json', 'generation_config.json', 'chat_template.jinja'];
  return Object.fromEntries(
    await Promise.all(
      names
        .filter((file) => all.has(file) && !without.includes(file))
        .map(async (file) => [file, await all.blob(file)] as const),
    ),
  );
};

interface Options {
  readonly name?: string;
  readonly without?: readonly string[];
  readonly config?: Record<string, unknown>;
  readonly Class?: typeof TextGenerator;
  readonly files?: Record<string, string>;
}

async function opened(session: Session, options: Options = {}) {
  const { name = 'gpt2', without = [], config = {}, Class = TextGenerator, files: more = {} } = options;
  const given = { session, files: { ...(await files(name, without)), ...more }, config: { handler: config } };
  const handler = new Class();
  await handler.initialize(createTestContext(given));
  return {
    handler,
    ask: async (input: TextGeneratorInput, params: object = {}, own: Partial<Context> = {}): Promise<GeneratedText> => {
      const context = { ...createTestContext({ ...given, batchSize: 1 }), params: [params], ...own } as Context;
      const [result] = await handler.handle([input], context);
      if (result instanceof Error) throw result;
      return result as GeneratedText;
    },
  };
}

const code = (name: string, words = ''): unknown =>
  expect.objectContaining({ code: name, message: expect.stringContaining(words) as unknown });

test('what follows is run token by token; the next turn runs only what is new', async () => {
  const session = stub(() => 100);
  const { ask } = await opened(session);
  const first = await ask('one two three', { maxNewTokens: 4 });
  const prompt = first.usage.promptTokens;
  expect(first).toMatchObject({ finishReason: 'length', usage: { cachedTokens: 0, completionTokens: 4 } });
  expect(session.runs.map(({ length }) => length)).toEqual([prompt, 1, 1, 1]);
  session.runs.length = 0;
  // All tokens but the last are known; a text that differs shares its beginning.
  expect((await ask('one two three', { maxNewTokens: 1 })).usage.cachedTokens).toBe(prompt - 1);
  // Once, two runs of two tokens tell whether a beginning is the same in another prompt.
  expect(session.runs.map(({ length }) => length)).toEqual([2, 2, 1]);
  session.runs.length = 0;
  const other = await ask('one two seven', { maxNewTokens: 1 });
  expect(other.usage.cachedTokens).toBeGreaterThan(0);
  expect(session.runs.map(({ length }) => length)).toEqual([other.usage.promptTokens - other.usage.cachedTokens]);
});

test('a conversation’s next turn runs its new tokens only, and so does another one with the same system prompt', async () => {
  const session = stub(() => 100);
  const { ask } = await opened(session, { name: 'qwen3' });
  const tokensRun = (): number => session.runs.splice(0).reduce((sum, { length }) => sum + length, 0);
  const system = { role: 'system', content: 'Answer the question of the user in one word, and say nothing else.' };
  const first = [system, { role: 'user', content: 'What is the capital of France?' }];
  const { text, usage } = await ask({ messages: first }, { maxNewTokens: 4 });
  expect(tokensRun()).toBe(usage.promptTokens + 3);
  const turn = [...first, { role: 'assistant', content: text }, { role: 'user', content: 'And of Spain?' }];
  const second = await ask({ messages: turn }, { maxNewTokens: 1 });
  expect(second.usage.cachedTokens).toBeGreaterThanOrEqual(usage.promptTokens);
  // With the four tokens of the first reuse, which tell whether a beginning is the same in another prompt.
  expect(tokensRun()).toBe(second.usage.promptTokens - second.usage.cachedTokens + 4);
  const other = await ask({ messages: [system, { role: 'user', content: 'Is it late?' }] }, { maxNewTokens: 1 });
  expect(other.usage.cachedTokens).toBeGreaterThan(other.usage.promptTokens / 2);
  expect(tokensRun()).toBe(other.usage.promptTokens - other.usage.cachedTokens);
  // With nothing kept, all of it runs.
  const forgetful = await opened(session, { name: 'qwen3', config: { maxStateBytes: 0 } });
  for (const _ of [1, 2]) expect((await forgetful.ask({ messages: first })).usage.cachedTokens).toBe(0);
});

test('a long prompt is read in pieces, and an abort between two of them ends it', async () => {
  const session = stub(() => 100);
  const { ask } = await opened(session);
  const text = 'one two three '.repeat(200);
  const { usage } = await ask(text, { maxNewTokens: 1 });
  expect(session.runs.every(({ length }) => length <= 128)).toBe(true);
  // The first two runs tell whether pieces of a prompt are the same as the whole.
  expect(session.runs.slice(0, 2).map(({ length }) => length)).toEqual([2, 2]);
  expect(session.runs.slice(2).flat()).toHaveLength(usage.promptTokens);
  const aborter = new AbortController();
  const other = stub((total) => (total >= 256 && aborter.abort(), 100));
  const second = await opened(other);
  await expect(second.ask(text, {}, { signal: aborter.signal })).rejects.toThrow(code('aborted'));
  expect(other.runs.slice(2)).toHaveLength(2);
});

test('an answer ends with an eos token, which is no text, or with a stop string', async () => {
  const { ask } = await opened(stub((total) => (total % 5 === 0 ? 2 : 100)));
  expect(await ask('one two three', {})).toMatchObject({ finishReason: 'stop' });
  expect((await ask('one two three', { eosTokenId: 100 })).text).toBe('');
  const plain = await opened(stub(() => 100));
  const { text } = await plain.ask('one', { maxNewTokens: 6 });
  const stop = text.slice(1, 2);
  const stopped = await plain.ask('one', { stop: [stop] });
  expect(stopped).toMatchObject({ finishReason: 'stop', text: text.slice(0, text.indexOf(stop)) });
  expect((await plain.ask('one', { stop: [], maxNewTokens: 6 })).text).toBe(text);
});

test('what draws tokens is without effect where none is drawn, and a warning says so once', async () => {
  const { ask } = await opened(stub(() => 100));
  const warnings: string[] = [];
  const own = { warn: (message: string) => void warnings.push(message) };
  await ask('one', { maxNewTokens: 1, doSample: true, temperature: 2 }, own);
  expect(warnings).toEqual([]);
  for (let at = 0; at < 2; at++) await ask('one', { maxNewTokens: 1, temperature: 2, seed: 3 }, own);
  expect(warnings).toEqual([expect.stringMatching(/^temperature, seed: without effect.*doSample: true/)]);
});

test('sampling: the seed decides, and a way of one’s own is one method', async () => {
  const { ask } = await opened(stub(() => new Float32Array(VOCABULARY)));
  const params = { doSample: true, topK: 0, maxNewTokens: 12 };
  const one = await ask('one', { ...params, seed: 1 });
  expect((await ask('one', { ...params, seed: 1 })).text).toBe(one.text);
  expect((await ask('one', { ...params, seed: 2 })).text).not.toBe(one.text);
  class Own extends TextGenerator {
    protected override nextToken(): number {
      return 101;
    }
  }
  const own = await opened(
    stub(() => 100),
    { Class: Own },
  );
  for (const wrong of [-1, NaN, 1.5, 480, undefined, Promise.resolve(3)]) {
    class Wrong extends TextGenerator {
      protected override nextToken(): number {
        return wrong as number;
      }
    }
    const { ask: askIt } = await opened(
      stub(() => 100),
      { Class: Wrong },
    );
    await expect(askIt('one')).rejects.toThrow(code('handler-failed', 'an integer in 0..479'));
  }
  expect((await own.ask('one', { maxNewTokens: 3, returnLogprobs: true })).logprobs).toHaveLength(3);
  expect((await own.ask('one', { maxNewTokens: 2 })).text).not.toBe((await ask('one', { maxNewTokens: 2 })).text);
});

test('topLogprobs: the tokens of an answer, with the most probable ones in their places', async () => {
  // The logits of a token do not depend on those before it.
  const logits = Float32Array.from({ length: VOCABULARY }, (_, token) => Math.sin(token * 12.9898) * 3);
  logits[100] = logits[200] = 4;
  const { ask } = await opened(stub(() => logits.slice()));
  const { tokens = [], text } = await ask('one', { maxNewTokens: 2, topLogprobs: 3 });
  const sum = logits.reduce((total, logit) => total + Math.exp(logit), 0);
  const ranked = [...logits.keys()].sort((one, other) => logits[other]! - logits[one]!).slice(0, 3);
  expect(tokens).toHaveLength(2);
  for (const { top, logprob, text: written } of tokens) {
    expect(top).toHaveLength(3);
    for (const [at, token] of ranked.entries())
      expect(top[at]!.logprob).toBeCloseTo(Math.log(Math.exp(logits[token]!) / sum), 5);
    expect([written, logprob]).toEqual([top[0]!.text, top[0]!.logprob]);
  }
  expect(tokens.map((one) => one.text).join('')).toBe(text);
  expect(new TextDecoder().decode(Uint8Array.from(tokens.flatMap(({ bytes }) => bytes)))).toBe(text);
  // A rule changes which token is chosen, and not what the model holds probable.
  const [ruled] = (await ask('one', { maxNewTokens: 1, topLogprobs: 1, badWordsIds: [[100]] })).tokens!;
  expect(ruled).toMatchObject({ logprob: tokens[0]!.logprob, top: [{ text: tokens[0]!.text }] });
  expect((await ask('one', { maxNewTokens: 1, topLogprobs: 0 })).tokens).toMatchObject([{ top: [] }]);
  expect((await ask('one', { maxNewTokens: 1 })).tokens).toBeUndefined();
});

test('a model without a cache runs on all tokens each time', async () => {
  const session = stub(() => 100, INPUTS.slice(0, 2), OUTPUTS.slice(0, 1));
  const { ask } = await opened(session);
  const { usage } = await ask('one two', { maxNewTokens: 3 });
  expect(session.runs.map(({ length }) => length)).toEqual([0, 1, 2].map((more) => usage.promptTokens + more));
});

test('what cannot be answered is a typed error', async () => {
  const { ask } = await opened(
    stub(() => 100),
    { config: { contextLength: 8 } },
  );
  await expect(ask('')).rejects.toThrow(code('invalid-input', 'empty'));
  await expect(ask('one two three four five')).rejects.toThrow(code('invalid-input', 'context has 8'));
  // One that is much too long is not read to its end.
  await expect(ask('the sea '.repeat(1_000_000))).rejects.toThrow(code('invalid-input', 'has 32 tokens or more'));
  expect(await ask('one', {})).toMatchObject({ finishReason: 'length' });
  const warnings: string[] = [];
  const warn = (message: string): void => void warnings.push(message);
  await expect(ask('one', { numBeams: 4 }, { warn })).rejects.toThrow(code('invalid-input', 'numBeams'));
  expect(warnings, 'the error says it').toEqual([]);
  await expect(ask('one', { maxLength: 4 })).rejects.toThrow(code('invalid-input', 'maxNewTokens'));
  await expect(ask('one', { max_new_tokens: 4 })).rejects.toThrow(code('invalid-input', 'maxNewTokens'));
  await expect(ask('one', { temperature: 0 })).rejects.toThrow(code('invalid-input', 'doSample: false'));
  await expect(ask('one', { stop: '' })).rejects.toThrow(code('invalid-input', 'stop'));
  await expect(ask('one', { eosTokenId: 480 })).rejects.toThrow(code('invalid-input', '480'));
  await expect(ask('x'.repeat(10_000_001))).rejects.toThrow(code('invalid-input', '10000001'));
  for (const messages of [[], 'hello', [{ content: 'no role' }], [null]])
    await expect(ask({ messages } as never)).rejects.toThrow(code('invalid-input', 'messages'));
  await expect(ask({ messages: [{ role: 'user', content: 'hi' }], tool: [] } as never)).rejects.toThrow(
    code('invalid-input', 'tool'),
  );
  for (const content of [{ a: 1 }, 5, true, [], ['a'], [{ type: 'image', url: 'a.png' }]])
    await expect(ask({ messages: [{ role: 'user', content }] }), JSON.stringify(content)).rejects.toThrow(
      code('invalid-input', 'messages[0].content'),
    );
  for (const message of [{ role: 'user' }, { role: 'assistant', content: null }])
    await expect(ask({ messages: [message as never] })).rejects.toThrow(code('invalid-input', 'messages[0].content'));
  await expect(
    ask({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'image', url: 'a.png' },
          ],
        },
      ],
    }),
  ).rejects.toThrow(
    code('invalid-input', 'messages[0].content[1]: expected a part of type "text": this model reads texts alone'),
  );
  for (const input of [{ text: 'a', textPair: 'b' }, null, 5, ['a'], { prompt: 'a' }])
    await expect(ask(input as never)).rejects.toThrow(code('invalid-input', '{ messages, tools? }'));
  for (const logits of [new Float32Array(VOCABULARY).fill(NaN), ...[NaN, Infinity].map((one) => only(one))]) {
    const silent = await opened(stub(() => logits));
    for (const params of [{}, { doSample: true, seed: 1 }])
      await expect(silent.ask('one', params)).rejects.toThrow(code('inference-failed', 'engine.dtype'));
  }
  // Some models rule tokens out themselves.
  const ruled = await opened(stub(() => only(-Infinity)));
  expect(await ruled.ask('one', { maxNewTokens: 2 })).toMatchObject({ finishReason: 'length' });
  const plain = await opened(
    stub(() => 100),
    { without: ['chat_template.jinja'] },
  );
  await expect(plain.ask({ messages: [{ role: 'user', content: 'hi' }] })).rejects.toThrow(
    code('invalid-input', 'no chat template'),
  );
});

test('what the model or the files certainly are not is told at load', async () => {
  const foreign = stub(() => 100, [...INPUTS, { name: 'pixel_values', dtype: 'float32', dims: [1, 3, 8, 8] }]);
  await expect(opened(foreign)).rejects.toThrow(code('model-config', 'pixel_values'));
  await expect(opened(stub(() => 100, INPUTS, OUTPUTS.slice(0, 1)))).rejects.toThrow(code('model-config', 'present'));
  await expect(opened(stub(() => 100, INPUTS.slice(1)))).rejects.toThrow(code('model-config', 'input_ids'));
  await expect(
    opened(
      stub(() => 100),
      { config: { eosTokenId: 9999 } },
    ),
  ).rejects.toThrow(code('model-config', '9999'));
  const defaults = (text: string) =>
    opened(
      stub(() => 100),
      { files: { 'generation_config.json': text } },
    );
  for (const text of ['null', '[]', '"greedy"'])
    await expect(defaults(text)).rejects.toThrow(code('model-format', 'generation_config.json'));
  await expect(defaults('{"max_new_tokens":"many"}')).rejects.toThrow(code('model-config', 'maxNewTokens'));
  for (const [key, value] of [
    ['forced_bos_token_id', -1],
    ['forced_bos_token_id', [1]],
    ['forced_bos_token_id', '2'],
    ['forced_eos_token_id', []],
    ['forced_eos_token_id', [2, -1]],
    ['forced_eos_token_id', 1.5],
    ['eos_token_id', Array(101).fill(2)],
    ['bad_words_ids', Array.from({ length: 10_001 }, () => [2])],
  ] as const)
    await expect(defaults(JSON.stringify({ [key]: value })), key).rejects.toThrow(
      expect.objectContaining({ code: 'model-config' }),
    );
  const enormous = INPUTS.map((one) => (one.name.startsWith('past') ? { ...one, dims: [1, 1, 10 ** 9, 1] } : one));
  await expect(opened(stub(() => 100, enormous))).rejects.toThrow(code('model-config', '1000000000'));
  const limits = TextGenerator.huggingFace.handlerConfig!;
  for (const length of [0, -1, '512', 1.5, true])
    expect(() => limits({ max_position_embeddings: length }, {}), String(length)).toThrow(
      expect.objectContaining({ code: 'model-config' }),
    );
  expect(limits({ max_position_embeddings: null, n_positions: 8 }, {})).toEqual({ contextLength: 8 });
  for (const [{ huggingFace }, key] of [
    [TextToText, 'max_position_embeddings'],
    [SpeechToText, 'max_target_positions'],
  ] as const) {
    const read = (value: unknown): unknown =>
      huggingFace.handlerConfig!({ is_encoder_decoder: true, [key]: value }, {});
    for (const length of [0, -1, '512', 1.5])
      expect(() => read(length), `${key}: ${length}`).toThrow(expect.objectContaining({ code: 'model-config' }));
    expect([read(448), read(undefined)], key).toEqual([{ contextLength: 448 }, {}]);
  }
  await expect(defaults('{"do_sample":true,"temperature":0}')).rejects.toThrow(code('model-config', 'temperature'));
  // Without do_sample, transformers ignores it; null is no value.
  const greedy = await defaults('{"do_sample":false,"temperature":0,"top_p":null,"eos_token_id":[2,3]}');
  expect((await greedy.ask('one', { maxNewTokens: 2 })).usage.completionTokens).toBe(2);
  await expect(greedy.ask('one', { doSample: true })).rejects.toThrow(code('model-config', 'temperature'));
  expect(await greedy.ask('one', { doSample: true, temperature: 1, maxNewTokens: 1 })).toMatchObject({
    finishReason: 'length',
  });
  const template = { 'chat_template.jinja': '{% for %}' };
  await expect(
    opened(
      stub(() => 100),
      { files: template },
    ),
  ).rejects.toThrow(code('model-format', 'template'));
});

test('without generation_config.json, config.json says which token ends an answer; a forced token must exist', async () => {
  const without = ['generation_config.json'];
  const config = { 'config.json': '{"eos_token_id":100}' };
  const { ask } = await opened(
    stub(() => 100),
    { without, files: config },
  );
  expect(await ask('one')).toMatchObject({ text: '', finishReason: 'stop', usage: { completionTokens: 1 } });
  // The newer file wins.
  const newer = { ...config, 'generation_config.json': '{"eos_token_id":2}' };
  const both = await opened(
    stub(() => 100),
    { files: newer },
  );
  expect(await both.ask('one', { maxNewTokens: 2 })).toMatchObject({ finishReason: 'length' });
  const forced = { 'generation_config.json': '{"forced_bos_token_id":9999}' };
  await expect(
    opened(
      stub(() => 100),
      { files: forced },
    ),
  ).rejects.toThrow(code('model-config', '9999'));
});

test('one bad row of a batch fails alone', async () => {
  const session = stub(() => 100);
  const { handler } = await opened(session);
  const context = {
    ...createTestContext({ session, files: await files('gpt2'), batchSize: 3 }),
    params: [{ maxNewTokens: 2 }, {}, { maxNewTokens: 3 }],
  } as Context;
  const [first, second, third] = (await handler.handle(['one', '', 'two'], context)) as [
    GeneratedText,
    PredictionError,
    GeneratedText,
  ];
  expect([first.usage.completionTokens, third.usage.completionTokens]).toEqual([2, 3]);
  expect(second.code).toBe('invalid-input');
});

/** Runs a request again behind each part of its answer, as another worker does, and compares the rest. */
async function survives(
  ask: (resumed: unknown) => Promise<{ result: GeneratedText; parts: readonly { part: unknown; resume: unknown }[] }>,
): Promise<number> {
  const { result, parts } = await ask(undefined);
  const texts = parts.map(({ part }) => part).filter((part) => typeof part === 'string');
  expect(texts.join('')).toBe(result.text);
  const told = parts.flatMap(({ part }) => (typeof part === 'string' ? [] : (part as TokensPart).tokens));
  expect(told).toEqual(result.tokens?.slice(0, told.length) ?? []);
  // Before each text, the tokens that make it.
  if (result.tokens) expect(parts.filter(({ part }) => typeof part !== 'string')).toHaveLength(texts.length);
  for (const [index, { resume }] of parts.entries()) {
    const after = await ask(structuredClone(resume));
    expect(after.result).toEqual(result);
    expect(after.parts.map(({ part }) => part)).toEqual(parts.slice(index + 1).map(({ part }) => part));
  }
  return parts.length;
}

test('an answer goes on behind each of its parts, in another worker', async () => {
  // Bytes of characters, and letters: some tokens have no text of their own.
  const next = (total: number): Float32Array =>
    Float32Array.from({ length: VOCABULARY }, (_, token) => Math.sin(token * 12.9898 + total * 78.233) * 3);
  const ends = Array.from({ length: 60 }, (_, at) => 100 + at);
  for (const params of [
    { maxNewTokens: 24, returnLogprobs: true, topLogprobs: 2 },
    // Without a seed: enough tokens that several have a text, whatever is drawn.
    { maxNewTokens: 64, minNewTokens: 64, doSample: true, topK: 0 },
    { maxNewTokens: 24, doSample: true, seed: 7, temperature: 2 },
    { maxNewTokens: 24, stop: ['e'] },
    { maxNewTokens: 24, eosTokenId: ends, minNewTokens: 6 },
    // A token ends it where the text may be the beginning of a stop string, which is sent after that token.
    {
      maxNewTokens: 24,
      eosTokenId: ends,
      minNewTokens: 6,
      returnLogprobs: true,
      stop: [...Array(256).keys()].map((at) => `${String.fromCharCode(at)}\0`),
    },
  ]) {
    const count = await survives(async (resumed) => {
      const given = { session: stub(next), files: await files('llama') };
      const handler = new TextGenerator();
      await handler.initialize(createTestContext(given));
      const context = createTestContext({ ...given, params, resumed });
      const [result] = await handler.handle(['one two'], context);
      if (result instanceof Error) throw result;
      return { result: result as GeneratedText, parts: context.parts };
    });
    expect(count, JSON.stringify(params)).toBeGreaterThan(params.stop ? 0 : 2);
  }
});
