// Answers that keep to a format, of a stand-in for a model with random logits and of the tokenizers of real ones. What
// fits a schema is decided by @cfworker/json-schema, which knows nothing of grammars. Real models run in
// `test/node/structured.spec.ts`.
import { Validator } from '@cfworker/json-schema';
import { expect, test } from '@playwright/test';
import type { Session, Tensors } from '../../../../src/contract/tensors.ts';
import type { Context } from '../../../../src/contract/handler.ts';
import { createTestContext } from '../../../../src/worker.ts';
import { Automaton, type State } from '../../../../src/worker/generation/grammar/automaton.ts';
import { schemaGrammar } from '../../../../src/worker/generation/grammar/json-schema.ts';
import type { GeneratedText } from '../../../../src/worker/generation/answer.ts';
import { TextGenerator } from '../../../../src/worker/tasks/writing/text-generator.ts';
import { random } from '../../../random.ts';
import { generationFiles } from './models.ts';
import { randomSchema } from './random-schemas.ts';

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

/** Logits at random: the same ones for the same seed and the same number of tokens. */
const randomLogits =
  (seed: number) =>
  (total: number): Float32Array => {
    const next = random(seed * 10_007 + total);
    return Float32Array.from({ length: VOCABULARY }, () => next());
  };

async function opened(name: string, session: Session, Class = TextGenerator) {
  const all = generationFiles(name);
  const files = Object.fromEntries(
    await Promise.all(
      ['tokenizer.json', 'tokenizer_config.json', 'generation_config.json'].map(
        async (file) => [file, await all.blob(file)] as const,
      ),
    ),
  );
  const handler = new Class();
  await handler.initialize(createTestContext({ session, files }));
  return async (params: object, own: Partial<Context> = {}): Promise<GeneratedText> => {
    const context = { ...createTestContext({ session, files, batchSize: 1 }), params: [params], ...own } as Context;
    const [result] = await handler.handle(['one two'], context);
    if (result instanceof Error) throw result;
    return result as GeneratedText;
  };
}

const code = (name: string, words = ''): unknown =>
  expect.objectContaining({ code: name, message: expect.stringContaining(words) as unknown });
const schemaFormat = (schema: unknown): object => ({ responseFormat: { type: 'json_schema', schema } });
const fits = (schema: unknown, value: unknown): boolean =>
  new Validator(schema as ConstructorParameters<typeof Validator>[0]).validate(value).valid;

for (const name of ['qwen3', 'llama'])
  test(`${name}'s vocabulary: answers at random parse, and fit schemas at random`, async () => {
    let seed = 0;
    const ask = await opened(
      name,
      stub((total) => randomLogits(seed)(total)),
    );
    for (; seed < 60; seed++) {
      const schema = randomSchema(random(seed));
      const { text, finishReason } = await ask({ ...schemaFormat(schema), maxNewTokens: 2000 });
      const where = `${seed}: ${JSON.stringify(schema)} ${text}`;
      expect(finishReason, where).toBe('stop');
      expect(fits(schema, JSON.parse(text)), where).toBe(true);
    }
  });

test('an object of JSON, whatever the logits', async () => {
  let seed = 0;
  const ask = await opened(
    'gpt2',
    stub((total) => randomLogits(seed)(total)),
  );
  const format = { responseFormat: { type: 'json_object' }, maxNewTokens: 400 };
  let ended = 0;
  for (; seed < 20; seed++) {
    const { text, finishReason } = await ask(format);
    expect(text).toMatch(/^\{/);
    if (finishReason === 'length') continue;
    ended += 1;
    expect(JSON.parse(text)).toEqual(expect.any(Object));
  }
  expect(ended).toBeGreaterThan(3);
});

/** Returns whether a text is one of the grammar's. */
function accepts(grammar: Automaton, text: string): boolean {
  let state: State | undefined = grammar.start;
  for (const byte of new TextEncoder().encode(text)) {
    grammar.beginSearch();
    state = state && grammar.step(state, byte);
  }
  return state?.mayEnd === true;
}

const FORMS: readonly (readonly [schema: unknown, accepted: readonly string[], refused: readonly string[]])[] = [
  [
    { type: 'string', minLength: 2, maxLength: 2 },
    ['"ab"', '"é\\n"', '"東京"', '"👋🏽"', '"\\u00e9\\""'],
    ['"a"', '"abc"', 'ab', '"a\nb"', '"\\ud83d"', '"\\x"'],
  ],
  [
    { type: 'object', properties: { a: { type: 'integer' }, b: true }, required: ['b'] },
    ['{"a":1,"b":null}', '{ "b": [1, {"c": 2.5e-3}] }', '{\n  "a": 12,\n  "b": "x"\n}'],
    ['{"a":1}', '{"b":1,"a":1}', '{"a":1.5,"b":1}', '{"b":1,"c":2}', '{"b":1,}', '{"b" :1}'],
  ],
  [
    { type: 'object', properties: { ab: { const: 1 } }, additionalProperties: { type: 'boolean' } },
    ['{}', '{"ab":1}', '{"ab":1,"a":true,"abc":false}', '{"数":true}', '{"":false,"b":true}'],
    ['{"ab":true}', '{"ab":1,"ab":true}', '{"a":1}', '{"\\u0061b":true}'],
  ],
  [
    { $ref: '#/$defs/tree', $defs: { tree: { type: 'array', items: { $ref: '#/$defs/tree' } } } },
    ['[]', '[[],[[]]]', '[ [], [] ]'],
    ['[1]', '[[]', '[],'],
  ],
  [{ type: 'number' }, ['0', '-0.5', '12e+3', '1E9'], ['01', '.5', '1.', '+1', '1e', 'NaN']],
  [
    { anyOf: [{ type: 'integer', minimum: 7, maximum: 12 }, { type: 'null' }] },
    ['7', '12', 'null'],
    ['6', '13', '07', '7.0'],
  ],
  [
    { type: 'array', prefixItems: [{ const: 'a' }], items: { const: 'b' }, minItems: 2, maxItems: 3 },
    ['["a","b"]', '["a", "b", "b"]'],
    ['["a"]', '["b","b"]', '["a","b","b","b"]', '[]'],
  ],
  [{ enum: ['a', 1, { b: [null] }], type: ['string', 'object'] }, ['"a"', '{"b":[null]}'], ['1', '{"b":[null],"c":1}']],
  [
    { type: 'object', required: ['a'], additionalProperties: { const: 1 } },
    ['{"a":1}', '{"a":1,"b":1}'],
    ['{}', '{"a":2}'],
  ],
  [{ minLength: 1, description: 'Only of strings' }, ['"a"', '{}', '[]', 'true', '7'], ['""']],
];

test('what a schema accepts: texts that fit, and no others', () => {
  for (const [schema, accepted, refused] of FORMS) {
    const grammar = new Automaton(schemaGrammar(schema, 'schema'));
    for (const text of accepted) {
      expect(fits(schema, JSON.parse(text)), `${JSON.stringify(schema)} ${text}`).toBe(true);
      expect(accepts(grammar, text), `${JSON.stringify(schema)} ${text}`).toBe(true);
    }
    for (const text of refused) expect(accepts(grammar, text), `${JSON.stringify(schema)} ${text}`).toBe(false);
  }
});

test('a schema of many properties, and one that is deep', () => {
  const names = Array.from({ length: 300 }, (_, at) => `p${at}`);
  const wide = new Automaton(
    schemaGrammar({ properties: Object.fromEntries(names.map((name) => [name, { const: 1 }])), type: 'object' }, 's'),
  );
  expect(accepts(wide, `{${names.map((name) => `"${name}":1`).join()}}`)).toBe(true);
  expect(accepts(wide, '{"p7":1,"p299":1}')).toBe(true);
  expect(accepts(wide, '{"p299":1,"p7":1}')).toBe(false);
  const nested = (levels: number): object =>
    levels === 0 ? { const: 1 } : { type: 'array', items: nested(levels - 1) };
  expect(accepts(new Automaton(schemaGrammar(nested(90), 's')), `${'['.repeat(90)}1${']'.repeat(90)}`)).toBe(true);
  expect(() => schemaGrammar(nested(150), 's')).toThrow(code('invalid-input', 'at most 100 levels deep'));
});

test('alternatives share what is alike; their places are counted', () => {
  const start = (schema: unknown): Automaton => new Automaton(schemaGrammar(schema, 's'));
  const alternatives = (count: number, one: (at: number) => object): object => ({
    anyOf: Array.from({ length: count }, (_, at) => one(at)),
  });
  // Half-open bounds: all of them have the same numbers below zero. So each adds only a few places.
  const integer = start({ type: 'integer', maximum: 5 }).start.continuations.length;
  const integers = start(alternatives(400, (maximum) => ({ type: 'integer', maximum }))).start.continuations.length;
  expect(integers).toBeLessThan(400 * integer);
  const same = start(alternatives(400, () => ({ type: 'integer', maximum: 5 }))).start.continuations.length;
  expect(same).toBe(integer);
  const words = start({ enum: Array.from({ length: 5000 }, (_, at) => `word ${at}`) });
  let state = words.start;
  for (const byte of new TextEncoder().encode('"word 49')) {
    expect(state.continuations.length).toBeLessThan(12);
    state = words.step(state, byte)!;
  }
  expect(words.visits).toBeLessThan(500);
  for (const text of ['"word 0"', '"word 4999"']) expect(accepts(words, text)).toBe(true);
  for (const text of ['"word 5000"', '"word "', '"word 49990"']) expect(accepts(words, text)).toBe(false);
  // Spaces come before what the optional properties have in common: their first quotation mark.
  const names = Array.from({ length: 2000 }, (_, at) => [`p${at}`, { const: 1 }]);
  const object = start({ type: 'object', properties: Object.fromEntries(names) as object });
  expect(object.step(object.start, 0x7b)!.continuations.length).toBeLessThan(10);
  expect(accepts(object, '{"p3":1, "p1999":1}')).toBe(true);
});

test('a schema that is too ambiguous, or too long, is refused', async () => {
  const ask = await opened('gpt2', stub(randomLogits(4)));
  const anyOf = Array.from({ length: 300 }, (_, at) => ({ type: 'string', minLength: at, maxLength: at + 400 }));
  const ambiguous = schemaFormat({ type: 'array', items: { anyOf }, minItems: 1 });
  await expect(ask(ambiguous)).rejects.toThrow(code('invalid-input', 'schema: it is too ambiguous: more than 500000'));
  const long = schemaFormat({ const: 'a'.repeat(100_000) });
  await expect(ask(long)).rejects.toThrow(code('invalid-input', 'characters of JSON; at most 100000'));
});

test('a search that visits too many places fails; the automaton forgets, and its states stay right', () => {
  const anyOf = Array.from({ length: 300 }, (_, at) => ({ type: 'string', minLength: at, maxLength: at + 400 }));
  const grammar = new Automaton(schemaGrammar({ anyOf }, 's'));
  const quote = grammar.step(grammar.start, 0x22)!;
  const search = (): number => {
    grammar.beginSearch();
    let [state, steps] = [quote, 0];
    expect(() => {
      for (; steps < 1000; steps++) state = grammar.step(state, 0x61)!;
    }).toThrow(code('invalid-input', 'too ambiguous'));
    return steps;
  };
  expect(search()).toBe(search());
  for (const length of [0, 5]) expect(accepts(grammar, `"${'a'.repeat(length)}"`)).toBe(true);
});

test('a schema of too many levels is one error, with a short path', async () => {
  const ask = await opened('gpt2', stub(randomLogits(1)));
  const nested = (levels: number, around: (inner: object) => object): object => {
    let schema: object = { type: 'null' };
    for (let level = 0; level < levels; level++) schema = around(schema);
    return schema;
  };
  for (const schema of [
    nested(105, (items) => ({ type: 'array', items })),
    nested(5000, (items) => ({ type: 'array', items })),
    nested(200, (inner) => ({ anyOf: [inner] })),
  ])
    await expect(ask(schemaFormat(schema))).rejects.toThrow(
      expect.objectContaining({
        code: 'invalid-input',
        message: 'params.responseFormat.schema: schemas are at most 100 levels deep here.',
      }),
    );
  const inner = nested(90, (items) => ({ type: 'array', items }));
  const wrong = JSON.parse(JSON.stringify(inner).replace('"null"', '"nul"')) as object;
  const error: unknown = await ask(schemaFormat(wrong)).catch((one: unknown) => one);
  expect(error).toEqual(code('invalid-input', '…'));
  expect((error as Error).message.length).toBeLessThan(300);
});

test('the type text asks for any text; a wrong format of the config is named there', async () => {
  const ask = await opened('gpt2', stub(randomLogits(8)));
  const any = await ask({ maxNewTokens: 5 });
  expect(await ask({ responseFormat: { type: 'text' }, maxNewTokens: 5 })).toEqual(any);
  await expect(ask({ responseFormat: { type: 'text', schema: {} } })).rejects.toThrow(
    code('invalid-input', 'the key "schema" is not known'),
  );
  const all = generationFiles('gpt2');
  const files = Object.fromEntries(
    await Promise.all(
      ['tokenizer.json', 'tokenizer_config.json'].map(async (file) => [file, await all.blob(file)] as const),
    ),
  );
  const modelYamlConfig = { handler: { responseFormat: { type: 'zzz' } } };
  const context = { ...createTestContext({ session: stub(randomLogits(1)), files }), modelYamlConfig } as Context;
  await expect(new TextGenerator().initialize(context)).rejects.toThrow(
    code('model-config', "handler.responseFormat: expected { type: 'json_object' }"),
  );
});

test('bounds of numbers: exactly those within them', () => {
  const next = random(7);
  const below = (count: number): number => Math.floor(next() * count);
  const samples = [...Array.from({ length: 241 }, (_, at) => at - 120), 999, -1000, 100_000];
  const parts = ['0', '00', '50', '01', '999'].flatMap((digits) => [
    `-0.${digits}`,
    ...samples.map((whole) => `${whole}.${digits}`),
  ]);
  for (let round = 0; round < 25; round++) {
    const min = below(220) - 110;
    const max = below(4) === 0 ? Infinity : min + 2 + below(110);
    const [isMinExclusive, isMaxExclusive] = [below(2) === 0, below(2) === 0];
    const schema = {
      [isMinExclusive ? 'exclusiveMinimum' : 'minimum']: min,
      ...(max < Infinity && { [isMaxExclusive ? 'exclusiveMaximum' : 'maximum']: max }),
    };
    for (const type of ['integer', 'number']) {
      const grammar = new Automaton(schemaGrammar({ type, ...schema }, 'schema'));
      const wrong = [...samples.map(String), ...(type === 'number' ? parts : [])].filter((text) => {
        const value = Number(text);
        const isWithin = (isMinExclusive ? value > min : value >= min) && (isMaxExclusive ? value < max : value <= max);
        // A bound is written without a point.
        if (isWithin && text.includes('.') && (value === min || value === max)) return false;
        return accepts(grammar, text) !== isWithin;
      });
      expect(wrong, `${type} ${JSON.stringify(schema)}`).toEqual([]);
    }
  }
});

test('a bound that is left out stays out with zeros after its point', () => {
  for (const [schema, refused, accepted] of [
    [{ exclusiveMinimum: 0 }, ['0', '0.0', '0.00', '-0.0', '-0.5', '-1'], ['0.1', '0.01', '0.10', '1', '1.0', '999']],
    [{ exclusiveMaximum: 0 }, ['0', '0.0', '-0.0', '-0.00', '0.5', '1'], ['-0.1', '-0.01', '-1', '-1.0']],
    [{ exclusiveMinimum: -3 }, ['-3', '-3.0', '-3.5', '-4'], ['-2.9', '-2', '-0.5', '0', '0.0', '3.5']],
    [{ exclusiveMinimum: 9, exclusiveMaximum: 11 }, ['9', '9.0', '11', '11.0'], ['9.1', '10', '10.0', '10.9']],
  ] as const) {
    const grammar = new Automaton(schemaGrammar({ type: 'number', ...schema }, 'schema'));
    const title = JSON.stringify(schema);
    expect(
      refused.filter((text) => accepts(grammar, text)),
      title,
    ).toEqual([]);
    expect(
      accepted.filter((text) => !accepts(grammar, text)),
      title,
    ).toEqual([]);
  }
});

test('what is not supported, and what is no schema, is refused by name', async () => {
  const ask = await opened('gpt2', stub(randomLogits(1)));
  const refused: readonly (readonly [schema: unknown, words: string])[] = [
    [{ type: 'strin' }, 'params.responseFormat.schema.type: expected one of object, '],
    [{ properties: { a: { contains: {} } } }, 'schema.properties.a.contains: this keyword is not supported'],
    [{ type: 'array', uniqueItems: 1 }, 'schema.uniqueItems: expected true or false, got 1'],
    [{ type: 'number', minimum: '1' }, 'schema.minimum: expected a number, got "1"'],
    [{ $ref: '#/$defs/none' }, 'schema.$ref: the schema has no #/$defs/none'],
    [{ $ref: 'https://example.com/schema' }, 'schema.$ref: expected a part of this schema'],
    [{ properties: { a: { $ref: '#' } }, required: ['a'], type: 'object' }, 'no value fits "#"'],
    [{ anyOf: [{ $ref: '#' }, { $ref: '#' }] }, 'no value fits "#"'],
    [{ type: 'integer', minimum: 3, maximum: 2 }, 'no integer of at most 15 digits'],
    [{ type: 'integer', minimum: 0.2, maximum: 0.8 }, 'no integer of at most 15 digits'],
    [{ type: 'string', minLength: 3, maxLength: 2 }, 'minLength is 3, and maxLength is 2'],
    [{ type: 'string', maxLength: -1 }, 'schema.maxLength: expected a whole number'],
    [{ enum: [] }, 'schema.enum: expected a list with at least one'],
    [{ enum: [1], type: 'string' }, "schema.enum: no value in it is of the schema's type"],
    [
      { required: ['a'], additionalProperties: false },
      'schema.required: the rest of the schema allows no property "a"',
    ],
    [false, 'schema: no value fits it'],
    [[], 'schema: expected a JSON Schema, got []'],
  ];
  for (const [schema, words] of refused)
    await expect(ask(schemaFormat(schema)), JSON.stringify(schema)).rejects.toThrow(code('invalid-input', words));
  const formats: readonly (readonly [format: unknown, words: string])[] = [
    [{ type: 'json' }, "expected { type: 'json_object' }"],
    [{ type: 'json_schema' }, 'schema is missing'],
    [{ type: 'json_schema', shema: {} }, 'the key "shema" is not known; probably schema is meant'],
    [{ type: 'json_object', schema: {} }, 'the key "schema" is not known'],
  ];
  for (const [responseFormat, words] of formats)
    await expect(ask({ responseFormat }), words).rejects.toThrow(
      code('invalid-input', `params.responseFormat: ${words}`),
    );
  const object = { responseFormat: { type: 'json_object' } };
  for (const [params, words] of [
    [{ stop: 'a' }, 'together with stop'],
    [{ minNewTokens: 3 }, 'together with minNewTokens'],
  ] as const)
    await expect(ask({ ...object, ...params })).rejects.toThrow(code('invalid-input', words));
});

test('rules and sampling keep to the format; where they leave no token, an error says so', async () => {
  const ask = await opened('gpt2', stub(randomLogits(3)));
  const schema = { type: 'array', items: { enum: [true, 'yes'] }, minItems: 2, maxItems: 4 };
  for (const params of [
    { doSample: true, seed: 5, temperature: 2, topK: 3 },
    { doSample: true, seed: 6, topK: 0, topP: 0.1, minP: 0.5 },
    { repetitionPenalty: 3, returnLogprobs: true },
  ]) {
    const { text, logprobs, usage } = await ask({ ...schemaFormat(schema), ...params });
    expect(fits(schema, JSON.parse(text))).toBe(true);
    // By the model, and not by what the format leaves of its logits.
    for (const one of logprobs ?? []) expect(one).toBeLessThan(-5);
    expect(logprobs?.length ?? usage.completionTokens).toBe(usage.completionTokens);
  }
  // All of them that begin a list.
  const badWordsIds = Array.from({ length: VOCABULARY }, (_, id) => [id]);
  await expect(ask({ ...schemaFormat(schema), badWordsIds })).rejects.toThrow(
    code('inference-failed', 'responseFormat rule all of them out'),
  );
});

test('where the answer may end or go on, the model decides; a token that ends answers counts nowhere else', async () => {
  const EOS = 2;
  const wantsEnd = new Float32Array(VOCABULARY);
  wantsEnd[EOS] = 1;
  const ask = await opened(
    'gpt2',
    stub(() => wantsEnd),
  );
  const number = await ask({ ...schemaFormat({ type: 'integer', minimum: 10 }), eosTokenId: EOS });
  expect(number).toMatchObject({ finishReason: 'stop' });
  expect(number.text).toMatch(/^\d\d$/);
  // Without such a token, a number ends with its digits.
  const longest = await ask({ ...schemaFormat({ type: 'integer' }), eosTokenId: [], maxNewTokens: 40 });
  expect(longest).toMatchObject({ finishReason: 'stop' });
  expect(longest.text).toMatch(/^(-?[1-9]\d{14}|0)$/);
  expect(await ask({ ...schemaFormat({ type: 'string', minLength: 500 }), maxNewTokens: 5 })).toMatchObject({
    finishReason: 'length',
    usage: { completionTokens: 5 },
  });
});

test('an override of nextToken gets what the format leaves; another token is an error', async () => {
  class Last extends TextGenerator {
    protected override nextToken(logits: Float32Array): number {
      return logits.findLastIndex((logit) => logit > -Infinity);
    }
  }
  class First extends TextGenerator {
    protected override nextToken(): number {
      return 5;
    }
  }
  const format = schemaFormat({ enum: ['either', 'or'] });
  const session = stub(randomLogits(2));
  expect(['"either"', '"or"']).toContain((await (await opened('gpt2', session, Last))(format)).text);
  await expect((await opened('gpt2', session, First))(format)).rejects.toThrow(
    code('handler-failed', 'the token 5, which responseFormat has ruled out'),
  );
});

test('an answer that another worker has begun goes on where it was', async () => {
  const ask = await opened('llama', stub(randomLogits(9)));
  const format = schemaFormat({ type: 'array', items: { type: 'string', maxLength: 6 }, minItems: 3, maxItems: 3 });
  const sent: (readonly [part: unknown, resume: unknown])[] = [];
  const whole = await ask(format, {
    send: (_, part, resume) => Promise.resolve(void sent.push([part, resume])),
  });
  expect(sent.map(([part]) => part).join('')).toBe(whole.text);
  for (const [at, [, begun]] of sent.entries()) {
    const rest: unknown[] = [];
    const { text } = await ask(format, {
      resumed: () => begun,
      send: (_, part) => Promise.resolve(void rest.push(part)),
    });
    expect(text).toBe(whole.text);
    expect(rest).toEqual(sent.slice(at + 1).map(([part]) => part));
  }
});
