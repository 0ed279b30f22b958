import { expect, test } from '@playwright/test';
import * as fc from 'fast-check';
import { checkConfig } from '../../../src/worker/models/config.ts';
import { checkSection, type ConfigSchema } from '../../../src/shared/schema.ts';

const SCHEMA: ConfigSchema = {
  topK: { type: 'integer', minimum: 1 },
  threshold: { type: 'number', minimum: 0, maximum: 1 },
  above: { type: 'number', exclusiveMinimum: 0 },
  output: { enum: ['logits', 'probabilities'] },
  upright: { type: 'boolean' },
  color: { type: 'array', items: { type: 'integer', minimum: 0, maximum: 255 }, minItems: 3, maxItems: 3 },
  labels: { type: ['array', 'object'] },
  size: {
    anyOf: [
      { type: 'integer', minimum: 1 },
      { type: 'array', items: { type: 'integer', minimum: 1 }, minItems: 2, maxItems: 2 },
    ],
  },
  decoder: {
    oneOf: [
      { enum: ['torchvision', 'detr'] },
      {
        type: 'object',
        properties: {
          yolox: {
            type: 'object',
            properties: { strides: { type: 'array', items: { type: 'integer', minimum: 1 } } },
            required: ['strides'],
            additionalProperties: false,
          },
        },
        required: ['yolox'],
        additionalProperties: false,
      },
      { type: 'object', properties: { ssd: { type: 'object' } }, required: ['ssd'], additionalProperties: false },
    ],
  },
  coder: {
    anyOf: [
      { enum: ['yolox', 'ssd'] },
      {
        type: 'object',
        properties: {
          yolox: { type: ['object', 'null'], properties: { strides: { type: 'array', items: { type: 'integer' } } } },
          ssd: { type: ['object', 'null'] },
        },
        minProperties: 1,
        maxProperties: 1,
        additionalProperties: false,
      },
    ],
  },
  head: {
    anyOf: ['rows', 'grid'].map((kind) => ({
      type: 'object',
      properties: { kind: { const: kind }, [kind]: { type: 'integer' } },
      required: ['kind'],
    })),
  },
};

/** What is wrong with these values, and the warnings. */
function check(values: Record<string, unknown>, schema = SCHEMA): string[] {
  const told: string[] = [];
  try {
    checkSection(schema, values, 'handler', (message) => told.push(`warning: ${message}`));
  } catch (error) {
    expect(error).toMatchObject({ name: 'TabServeError', code: 'model-config' });
    told.push((error as Error).message);
  }
  return told;
}

test('what JSON does not have is named with its key, wherever it is', () => {
  for (const [config, message] of [
    [{ handler: { topK: NaN } }, /^handler\.topK must be .* finite number, not NaN\.$/],
    [
      { handler: { normalize: { mean: [0, -Infinity] } } },
      /^handler\.normalize\.mean\[1\] must be .*, not -Infinity\.$/,
    ],
    [{ engine: { threads: 5n } }, /^engine\.threads must be .*, not 5n\.$/],
    [
      { engine: { freeDimensions: { batch: undefined } } },
      /^engine\.freeDimensions\.batch must be .*, not undefined\.$/,
    ],
  ] as const)
    expect(() => checkConfig(config as never, () => {})).toThrow(
      expect.objectContaining({ code: 'model-config', message: expect.stringMatching(message) }),
    );
});

test('values that fit', () => {
  expect(
    check({ topK: 3, threshold: 0, output: 'logits', upright: false, color: [0, 0, 255], labels: {}, size: [2, 3] }),
  ).toEqual([]);
  expect(
    check({ topK: undefined, decoder: { yolox: { strides: [8, 16] } }, size: 7, head: { kind: 'grid', grid: 1 } }),
  ).toEqual([]);
});

for (const [what, values, message] of [
  ['a wrong type', { topK: 'five' }, 'handler.topK must be an integer ≥ 1, not "five".'],
  ['a fraction', { topK: 1.5 }, 'handler.topK must be an integer ≥ 1, not 1.5.'],
  ['nothing at all', { topK: null }, 'handler.topK must be an integer ≥ 1, not null.'],
  ['what YAML calls .nan', { threshold: NaN }, 'handler.threshold must be a number in 0..1, not NaN.'],
  ['a bigint', { topK: 3n }, 'handler.topK must be an integer ≥ 1, not 3n.'],
  ['out of range', { threshold: 1.5 }, 'handler.threshold must be a number in 0..1, not 1.5.'],
  ['on an open limit', { above: 0 }, 'handler.above must be a number > 0, not 0.'],
  [
    'none of the allowed',
    { output: 'logit' },
    'handler.output must be "logits" or "probabilities", not "logit"; probably logits is meant.',
  ],
  ['YAML 1.1’s yes', { upright: 'yes' }, 'handler.upright must be true or false, not "yes".'],
  ['an item of a list', { color: [1, 2, 300] }, 'handler.color[2] must be an integer in 0..255, not 300.'],
  ['too short a list', { color: [1, 2] }, 'handler.color must be a list of 3, each an integer in 0..255, not [1,2].'],
  ['several types', { labels: 3 }, 'handler.labels must be a list or a mapping of keys to values, not 3.'],
  ['the one alternative that it resembles', { size: [2, 'x'] }, 'handler.size[1] must be an integer ≥ 1, not "x".'],
  [
    'no alternative',
    { size: 'x' },
    'handler.size must be an integer ≥ 1, or a list of 2, each an integer ≥ 1, not "x".',
  ],
  [
    'deep inside',
    { decoder: { yolox: { strides: [8, 'x'] } } },
    'handler.decoder.yolox.strides[1] must be an integer ≥ 1, not "x".',
  ],
  [
    'a missing key',
    { decoder: { yolox: {} } },
    'handler.decoder.yolox.strides is missing: a list, each an integer ≥ 1.',
  ],
  [
    'a nested key, misspelt',
    { decoder: { yolox: { stride: [8] } } },
    'handler.decoder.yolox.stride is not a known key; probably strides is meant.',
  ],
  [
    'a nested key, unknown',
    { decoder: { yolox: { anchors: [8] } } },
    'handler.decoder.yolox.anchors is not a known key; there are strides.',
  ],
  [
    'no alternative of a mapping',
    { decoder: { yolo: {} } },
    /^handler\.decoder must be "torchvision" or "detr", or a mapping with the keys yolox, or .* ssd, not \{"yolo":\{\}\}\.$/,
  ],
  [
    'the one alternative that is a mapping',
    { coder: { yolo: {} } },
    'handler.coder.yolo is not a known key; probably yolox is meant.',
  ],
  [
    'too many keys',
    { coder: { yolox: {}, ssd: {} } },
    'handler.coder must be a mapping with one of the keys yolox, ssd, not {"yolox":{},"ssd":{}}.',
  ],
  [
    'an alternative known by its constant',
    { head: { kind: 'rows', rows: 'x' } },
    'handler.head.rows must be an integer, not "x".',
  ],
  ['a long value', { output: 'x'.repeat(500) }, /not "x{76}…\.$/],
] as const) {
  test(`a value that does not fit: ${what}`, () => {
    expect(check(values)).toEqual([typeof message === 'string' ? message : expect.stringMatching(message)]);
  });
}

test('an unknown key is a warning with the nearest name, or with none', () => {
  for (const [key, known] of [
    ['topk', 'topK'],
    ['treshold', 'threshold'],
    ['otuput', 'output'],
    ['colour', 'color'],
    ['label', 'labels'],
  ]) {
    expect(check({ [key!]: 'anything' })).toEqual([
      `warning: handler.${key} is not a known key; probably ${known} is meant.`,
    ]);
  }
  expect(check({ classes: 1 })).toEqual(['warning: handler.classes is not a known key.']);
  expect(check({ toString: 1 })).toEqual(['warning: handler.toString is not a known key.']);
});

test('an unknown key deep inside is a warning too', () => {
  expect(check({ coder: { yolox: { stride: [8] } } })).toEqual([
    'warning: handler.coder.yolox.stride is not a known key; probably strides is meant.',
  ]);
  expect(check({ coder: { yolox: null } })).toEqual([]);
});

test('the top level of the config: TorchServe’s keys are checked, other keys are allowed, a probable misspelling causes a warning', () => {
  const warnings: string[] = [];
  const warn = (message: string): number => warnings.push(message);
  checkConfig(
    { batchSize: 4, maxBatchDelay: 100, responseTimeout: 120, deviceType: 'gpu', mine: { x: 1 }, bachSize: 4 },
    warn,
  );
  expect(warnings).toEqual(['bachSize is not a known key; probably batchSize is meant.']);
  expect(() => checkConfig({ batchSize: 'four' }, warn)).toThrow(
    expect.objectContaining({
      code: 'model-config',
      message: 'batchSize must be an integer in 1..2147483647, not "four".',
    }),
  );
  expect(() => checkConfig({ handler: 'topK' } as never, warn)).toThrow(
    'handler must be a mapping of keys to values, not "topK".',
  );
  expect(() => checkConfig({ jobQueueSize: 0 }, warn)).toThrow(
    'jobQueueSize must be an integer in 1..2147483647, not 0.',
  );
  expect(() => checkConfig({ batchSize: 99_999_999_999 }, warn)).toThrow(
    'batchSize must be an integer in 1..2147483647',
  );
  expect(() => checkConfig({ engine: { freeDimensions: { batch: '1' } } as never }, warn)).toThrow(
    'engine.freeDimensions.batch must be an integer in 1..134217728, not "1".',
  );
  expect(() => checkConfig({ engine: { graphOptimizationLevel: 'most' } as never }, warn)).toThrow(
    'one of "disabled", "basic", "extended", "all"',
  );
});

/** A schema that counts how often its keys are listed. */
function counted(): { readonly schema: ConfigSchema; readonly listed: () => number } {
  let count = 0;
  const schema = new Proxy(SCHEMA, {
    ownKeys: (target) => {
      count++;
      return Reflect.ownKeys(target);
    },
  });
  return { schema, listed: () => count };
}

test('known keys are not compared with the others', () => {
  const { schema, listed } = counted();
  expect(check({ topK: 3, threshold: 0.5, output: 'logits', upright: true }, schema)).toEqual([]);
  expect(listed()).toBe(0);
  expect(check({ topK: 3, treshold: 0.5 }, schema)).toHaveLength(1);
  expect(listed()).toBe(1);
});

test('the keys of another handler, which resemble none, have one warning together', () => {
  expect(
    check({ anchors: 1, treshold: 0.5, decoder: { yolox: {} }, toString: 1 }, { threshold: { type: 'number' } }),
  ).toEqual([
    'warning: handler.treshold is not a known key; probably threshold is meant.',
    'warning: handler.anchors, handler.decoder, handler.toString are not known keys.',
  ]);
});

test('of thousands of unknown keys, the first get a warning each and the others are counted', () => {
  const { schema, listed } = counted();
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`thresholt${index}`, index]));
  const told = check(many, schema);
  expect(told).toHaveLength(51);
  expect(told[0]).toBe('warning: handler.thresholt0 is not a known key; probably threshold is meant.');
  expect(told[50]).toBe('warning: 19950 more keys of handler are not known.');
  expect(listed()).toBeLessThanOrEqual(51);
});

test('unknown keys in thousands of items are counted together', () => {
  const items = { type: 'object', properties: { x: { type: 'integer' } } } as const;
  const told = check({ boxes: Array.from({ length: 20_000 }, () => ({ y: 1 })) }, { boxes: { type: 'array', items } });
  expect(told[0]).toMatch(
    /^warning: handler\.boxes\[0\]\.y, .*handler\.boxes\[9\]\.y and 40 more are not known keys\.$/,
  );
  expect(told.slice(1)).toEqual(['warning: 19950 more keys of handler are not known.']);
});

test('a key of 300 kB has no near name, and is shortened in the message', () => {
  const [told, ...others] = check({ ['threshold'.repeat(33_000)]: 1 });
  expect(others).toEqual([]);
  expect(told).toMatch(/^warning: handler\.(threshold)+\w*… is not a known key\.$/);
  expect(told!.length).toBeLessThan(150);
});

test('whatever the values are, they fit or a TabServeError says why not', () => {
  const cyclic: unknown[] = [];
  cyclic.push(cyclic);
  const deep = Array.from({ length: 20_000 }).reduce<unknown>((inner) => [inner], 1);
  const values = fc.oneof(
    fc.anything({ withBigInt: true, withNullPrototype: true, withDate: true, withMap: true, withTypedArray: true }),
    fc.constantFrom<unknown>(cyclic, deep, Symbol('s'), () => 1, {
      toJSON: () => cyclic,
    }),
  );
  const keys = fc.oneof(fc.constantFrom(...Object.keys(SCHEMA), '__proto__', 'constructor'), fc.string());
  fc.assert(
    fc.property(fc.array(fc.tuple(keys, values)), (entries) => {
      // `check` refuses any other error.
      for (const message of check(Object.fromEntries(entries))) expect(message.length).toBeLessThan(2000);
    }),
  );
});
