// Calls that a request asks for, by a stand-in for a model with random logits and the tokenizers of real ones. What fits
// a schema is decided by @cfworker/json-schema.
import { Validator } from '@cfworker/json-schema';
import { expect, test } from '@playwright/test';
import type { Context } from '../../../../../src/contract/handler.ts';
import type { Session, Tensors } from '../../../../../src/contract/tensors.ts';
import { createTestContext } from '../../../../../src/worker.ts';
import { schemaGrammar } from '../../../../../src/worker/generation/grammar/json-schema.ts';
import type { GeneratedText } from '../../../../../src/worker/generation/answer.ts';
import { TextGenerator } from '../../../../../src/worker/tasks/writing/text-generator.ts';
import { random } from '../../../../random.ts';
import { generationFiles } from '../models.ts';
import { randomSchema } from '../random-schemas.ts';

const VOCABULARY = 480;

/** @param logitsOf the logits of the next token, by the number of tokens so far */
const stub = (logitsOf: (total: number) => Float32Array): Session => ({
  inputs: [
    { name: 'input_ids', dtype: 'int64', dims: ['batch_size', 'sequence_length'] },
    { name: 'num_logits_to_keep', dtype: 'int64', dims: [] },
  ],
  outputs: [{ name: 'logits', dtype: 'float32', dims: ['batch_size', 'sequence_length', VOCABULARY] }],
  run(feeds: Tensors) {
    const data = logitsOf(feeds['input_ids']!.dims[1]!).slice();
    return Promise.resolve({ logits: { dtype: 'float32', dims: [1, 1, VOCABULARY], data } });
  },
  [Symbol.asyncDispose]: () => Promise.resolve(),
});

const TEMPLATES = {
  hermes: '{{ tools | tojson }}<tool_call>{{ messages[0].content }}',
  llama3: '{{ tools | tojson }}"parameters": dictionary{{ messages[0].content }}',
  mistral: '{{ tools | tojson }}[TOOL_CALLS][ {{ messages[0].content }}',
  mistral13: '{{ tools | tojson }}[TOOL_CALLS]f[ARGS]{{ messages[0].content }}',
  thinking: '{{ tools | tojson }}<tool_call>{{ messages[0].content }}<think>\n',
  plain: '{{ tools | tojson }}{{ messages[0].content }}',
  none: '{{ messages[0].content }}',
  glm: '{{ tools | tojson }}<tool_call><arg_key>{{ messages[0].content }}',
};

interface Asked {
  readonly tools?: readonly object[];
  readonly params?: object;
  readonly own?: Partial<Context>;
}

/** @param special contents of special tokens that the tokenizer has in place of some of its own */
async function opened(
  tokenizer: string,
  template: keyof typeof TEMPLATES,
  logitsOf: (total: number) => Float32Array,
  special: Readonly<Record<number, string>> = {},
) {
  const all = generationFiles(tokenizer);
  const json = JSON.parse(await all.text('tokenizer.json')) as { added_tokens: object[] };
  for (const [id, content] of Object.entries(special))
    json.added_tokens.push({ id: Number(id), content, special: true, normalized: false });
  const files = {
    'tokenizer.json': new Blob([JSON.stringify(json)]),
    'tokenizer_config.json': await all.blob('tokenizer_config.json'),
    'generation_config.json': await all.blob('generation_config.json'),
    'chat_template.jinja': new Blob([TEMPLATES[template]]),
  };
  const session = stub(logitsOf);
  const handler = new TextGenerator();
  await handler.initialize(createTestContext({ session, files }));
  return async ({ tools, params = {}, own = {} }: Asked): Promise<GeneratedText> => {
    const context = { ...createTestContext({ session, files, batchSize: 1 }), params: [params], ...own } as Context;
    const input = { messages: [{ role: 'user', content: 'one two' }], ...(tools && { tools }) };
    const [result] = await handler.handle([input], context);
    if (result instanceof Error) throw result;
    return result as GeneratedText;
  };
}

/** Logits at random: the same ones for the same seed and the same number of tokens. */
const randomLogits =
  (seedOf: () => number) =>
  (total: number): Float32Array => {
    const next = random(seedOf() * 10_007 + total);
    return Float32Array.from({ length: VOCABULARY }, () => next());
  };

const tool = (name: string, parameters: unknown): object => ({ type: 'function', function: { name, parameters } });
const code = (words: string): unknown =>
  expect.objectContaining({ code: 'invalid-input', message: expect.stringContaining(words) as unknown });
const fits = (schema: unknown, value: unknown): boolean =>
  new Validator(schema as ConstructorParameters<typeof Validator>[0]).validate(value).valid;

function isSatisfiable(schema: unknown): boolean {
  try {
    return schemaGrammar(schema, '') !== undefined;
  } catch {
    return false;
  }
}

for (const template of ['hermes', 'llama3', 'mistral', 'mistral13'] as const)
  test(`${template}: required calls of random logits fit schemas at random`, async () => {
    let seed = 0;
    const special = template.startsWith('mistral') ? { 478: '[TOOL_CALLS]', 479: '[ARGS]' } : {};
    const ask = await opened(
      'qwen3',
      template,
      randomLogits(() => seed),
      special,
    );
    let several = 0;
    for (; seed < 30; seed++) {
      const schemas = [1, 2].map((at) => ({
        type: 'object',
        properties: { 'a b': randomSchema(random(seed + at * 1000)), c: randomSchema(random(seed + at * 2000), 1) },
        required: ['a b'],
      }));
      // Bounds at random may leave no number.
      if (!schemas.every(isSatisfiable)) continue;
      const tools = [tool('first', schemas[0]), tool('se"cond', schemas[1])];
      const named = template === 'mistral13' ? 'first' : 'se"cond';
      const only = template === 'mistral13' ? tools.slice(0, 1) : tools;
      const isNamed = seed % 2 === 0;
      const params = { toolChoice: isNamed ? { name: named } : 'required', maxNewTokens: 4000 };
      const { text, toolCalls, finishReason } = await ask({ tools: only, params });
      const where = `${seed}: ${JSON.stringify(schemas)} ${text} ${JSON.stringify(toolCalls)}`;
      expect([text, finishReason], where).toEqual(['', 'tool_calls']);
      if (toolCalls!.length > 1) several += 1;
      if (isNamed) expect(toolCalls!.map(({ name }) => name)).toEqual([named]);
      for (const { id, name, arguments: given } of toolCalls!) {
        expect(id).toMatch(/^[a-z0-9]{9}$/);
        expect(fits(schemas[name === 'first' ? 0 : 1], given), where).toBe(true);
      }
    }
    expect(several > 0).toBe(template !== 'llama3');
  });

test('a model that thinks may do so before the call that it must write', async () => {
  let seed = 0;
  const ask = await opened(
    'qwen3',
    'thinking',
    randomLogits(() => seed),
    { 478: '</think>' },
  );
  for (; seed < 5; seed++) {
    const tools = [tool('f', { type: 'object', properties: { a: { type: 'boolean' } }, required: ['a'] })];
    const asked = { tools, params: { toolChoice: 'required', maxNewTokens: 4000 } };
    const { text, toolCalls, reasoning, finishReason } = await ask(asked);
    expect([text, finishReason]).toEqual(['', 'tool_calls']);
    expect(reasoning!.length).toBeGreaterThan(10);
    expect(typeof toolCalls![0]!.arguments['a']).toBe('boolean');
  }
});

test('a call that is cut off stays text, with what was written of it', async () => {
  const ask = await opened(
    'qwen3',
    'hermes',
    randomLogits(() => 3),
  );
  const tools = [tool('f', { type: 'object', properties: { a: { type: 'string', minLength: 500 } }, required: ['a'] })];
  const cut = await ask({ tools, params: { toolChoice: 'required', maxNewTokens: 60 } });
  expect(cut).toMatchObject({ finishReason: 'length', text: expect.stringMatching(/^<tool_call>\n\{"name": "f"/) });
  expect(cut).not.toHaveProperty('toolCalls');
});

test('parts of an answer, which another worker continues without sending any of them twice', async () => {
  let seed = 1;
  const ask = await opened(
    'qwen3',
    'thinking',
    randomLogits(() => seed),
    { 478: '</think>' },
  );
  const tools = [tool('f', { type: 'object', properties: { a: { type: 'boolean' } }, required: ['a'] })];
  seed = 2;
  const asked = { tools, params: { toolChoice: 'required', maxNewTokens: 4000 } };
  const sent: (readonly [part: unknown, resume: unknown])[] = [];
  const send: Context['send'] = (_, part, resume) => Promise.resolve(void sent.push([part, resume]));
  const whole = await ask({ ...asked, own: { send } });
  const parts = sent.map(([part]) => part as { reasoning?: string; toolCall?: unknown });
  expect(parts.map(({ reasoning = '' }) => reasoning).join('')).toBe(whole.reasoning);
  expect(parts.flatMap(({ toolCall }) => toolCall ?? [])).toEqual(whole.toolCalls);
  const few = Math.ceil(sent.length / 8);
  for (const [at, [, begun]] of sent.entries()) {
    // Each of them runs the whole answer again: at the last parts, which are of the call, and at some of the others.
    if (at % few > 0 && at < sent.length - 3) continue;
    const rest: unknown[] = [];
    const own: Partial<Context> = {
      resumed: () => begun,
      send: (_, part) => Promise.resolve(void rest.push(part)),
    };
    const { toolCalls, reasoning } = await ask({ ...asked, own });
    expect({ toolCalls, reasoning }).toEqual({ toolCalls: whole.toolCalls, reasoning: whole.reasoning });
    expect(rest).toEqual(parts.slice(at + 1));
  }
});

test('what cannot be asked for is refused with the remedy', async () => {
  const logits = randomLogits(() => 1);
  const f = tool('f', { type: 'object', properties: {} });
  const hermes = await opened('qwen3', 'hermes', logits);
  const choose = (toolChoice: unknown, tools?: readonly object[], more = {}): Promise<unknown> =>
    hermes({ ...(tools && { tools }), params: { toolChoice, maxNewTokens: 5, ...more } });
  for (const [asked, words] of [
    [() => choose('required'), 'params.toolChoice: "required" needs tools'],
    [() => choose({ name: 'g' }, [f]), 'params.toolChoice: there is no tool "g". The tools are f.'],
    [() => choose('any', [f]), 'toolChoice'],
    [() => choose('required', [tool('f', undefined)]), 'tools: the parameters of "f": expected a JSON Schema'],
    [() => choose('required', [tool('f', { type: 'string' })]), 'tools: the parameters of "f": expected a JSON Schema'],
    [
      () => choose('required', [tool('f', { properties: { a: { not: { minLength: 1 } } } })]),
      'tools: the parameters of "f".properties.a.not',
    ],
    [() => choose('required', [f], { stop: 'a' }), 'params.toolChoice: it is not supported together with stop'],
    [
      () => choose('required', [f], { responseFormat: { type: 'json_object' } }),
      'params.responseFormat: it is not supported',
    ],
  ] as const)
    await expect(asked()).rejects.toEqual(code(words));
  const glm = await opened('qwen3', 'glm', logits);
  await expect(glm({ tools: [f], params: { toolChoice: 'required' } })).rejects.toEqual(
    code('its calls are not in JSON that can be guided'),
  );
  const none = await opened('qwen3', 'none', logits);
  await expect(none({ tools: [f] })).rejects.toEqual(code('the chat template of this model takes none'));
  expect(await none({ tools: [f], params: { toolChoice: 'none', maxNewTokens: 2 } })).not.toHaveProperty('toolCalls');
  // A template of no known form, and the form by its name.
  const plain = await opened('qwen3', 'plain', logits);
  const required = { toolChoice: 'required', maxNewTokens: 400 };
  await expect(plain({ tools: [f], params: required })).rejects.toEqual(code('name one of them by toolCallFormat'));
  const named = await plain({ tools: [f], params: { ...required, toolCallFormat: 'hermes' } });
  expect(named.toolCalls?.[0]).toMatchObject({ name: 'f', arguments: {} });
});

test('an answer as it was: without tools, and with a format', async () => {
  const ask = await opened(
    'qwen3',
    'hermes',
    randomLogits(() => 4),
  );
  const { text, finishReason, ...more } = await ask({ params: { maxNewTokens: 9 } });
  expect([text === '', finishReason, Object.keys(more)]).toEqual([false, 'length', ['usage']]);
  const thinking = await opened(
    'qwen3',
    'thinking',
    randomLogits(() => 4),
  );
  const format = { responseFormat: { type: 'json_schema', schema: { enum: [12] } } };
  expect(await thinking({ params: format })).toMatchObject({ text: '12', finishReason: 'stop' });
});
