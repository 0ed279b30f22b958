import { expect, test } from '@playwright/test';
import type { ModelConfig } from '../../../../src/contract/archive.ts';
import type { TabServeError } from '../../../../src/contract/errors.ts';
import { checkConfig, mergeConfig, parseConfig } from '../../../../src/worker/models/config.ts';
import { fetchArchive } from '../../../../src/worker/models/archive.ts';
import { createFiles } from '../../../../src/worker/models/files.ts';
import { BaseHandler, createTestContext } from '../../../../src/worker.ts';
import { stubSession } from '../../support/stub-session.ts';
import { buildZip } from '../../support/zip-builder.ts';

/** Levels that overflow the stack of what recurses. */
const DEEP = 200_000;
const laughs = [
  'a: &a [x, x, x, x, x, x, x, x, x]',
  ...[...'bcdefghi'].map((key, at) => `${key}: &${key} [${Array(9).fill(`*${'abcdefghi'[at]}`).join(', ')}]`),
];

for (const [what, text] of [
  ['aliases of aliases', laughs.join('\n')],
  ['an alias of itself', 'a: &a [*a]'],
  ['a tag of Python', 'a: !!python/object/apply:os.system [ls]'],
  ['a tag of its own', 'a: !secret b'],
  ['a tag of YAML 1.1 for bytes', 'a: !!binary aGk='],
  ['a tag of YAML 1.1 for sets', 'a: !!set {b}'],
  ['a tag of YAML 1.1 for dates', 'a: !!timestamp 2020-01-01'],
  ['lists in lists', '['.repeat(DEEP)],
  ['lists in lists, all closed', `a: ${'['.repeat(500)}${']'.repeat(500)}`],
  ['lists by dashes', '- '.repeat(DEEP)],
  ['more than a hundred aliases', `a: &a x\nb: [${Array(101).fill('*a').join(', ')}]`],
  ['mappings in mappings', Array.from({ length: 1000 }, (_, level) => `${' '.repeat(level)}a:`).join('\n')],
  ['a scalar of two megabytes', `a: ${'x'.repeat(2 ** 21)}`],
  ['__proto__', 'handler:\n  __proto__: { topK: 1 }'],
  ['a key twice', 'a: 1\nb: 2\na: 3'],
  ['a key that is a list', '? [a, b]\n: c'],
  ['two documents', 'a: 1\n---\nb: 2'],
  ['a tab', 'handler:\n\ttopK: 1'],
] as const)
  test(`a config with ${what} is refused`, async () => {
    const error: unknown = await parseConfig(text, 'c.yaml').then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({
      name: 'TabServeError',
      code: 'model-config',
      message: expect.stringContaining('c.yaml'),
    });
    expect((error as Error).message.length).toBeLessThan(1000);
  });

test('aliases and merge keys of a usual config', async () => {
  const text = 'defaults: &d { topK: 3, output: logits }\nhandler:\n  <<: *d\n  topK: 5\nsame: *d';
  expect(await parseConfig(text, 'c.yaml')).toEqual({
    defaults: { topK: 3, output: 'logits' },
    handler: { topK: 5, output: 'logits' },
    same: { topK: 3, output: 'logits' },
  });
});

const MANY = Array.from({ length: 20_000 }, (_, at) => [`key${at}`, at] as const);
const KEYS = Object.fromEntries(MANY);
const yaml = (indent = ''): string => MANY.map(([key, at]) => `${indent}${key}: ${at}`).join('\n');
const LONG = 'k'.repeat(300_000);

/** Does the work, and checks that it takes less than a second of the processor, whatever else that does meanwhile. */
async function within<T>(work: () => Promise<T>): Promise<T | TabServeError> {
  const start = process.cpuUsage().user;
  const answer = await work().catch((error: unknown) => error as TabServeError);
  expect((process.cpuUsage().user - start) / 1000).toBeLessThan(1000);
  return answer;
}

/** Checks a config as a worker does before and while it opens a model, and returns the warnings. */
async function check(config: ModelConfig): Promise<readonly string[]> {
  const warnings: string[] = [];
  const merged = mergeConfig(config, { handler: { topK: 1 } });
  checkConfig(merged, (message) => warnings.push(message));
  const shape = { name: 'x', dtype: 'float32', dims: [1, 3] } as const;
  const context = createTestContext({ session: stubSession([shape], [shape], () => ({})), config: merged });
  await new BaseHandler().initialize(Object.assign(context, { warn: (message: string) => warnings.push(message) }));
  return warnings;
}

for (const [what, text, isRefused] of [
  ['20,000 unknown keys', yaml(), false],
  ['20,000 unknown keys of the engine', `engine:\n${yaml('  ')}`, false],
  ['20,000 unknown keys of the handler', `handler:\n${yaml('  ')}`, false],
  ['20,000 unknown keys in JSON', JSON.stringify(KEYS), false],
  ['20,000 unknown keys deep in JSON', JSON.stringify({ handler: { a: { b: { c: KEYS } } } }), false],
  ['60,000 empty lists', `a: [${Array(60_000).fill('[]').join(',')}]`, true],
  [
    'lists that aliases repeat ten to the ninth times',
    Array.from(
      { length: 9 },
      (_, at) =>
        `a${at}: &a${at} [${Array(10)
          .fill(at === 0 ? 'x' : `*a${at - 1}`)
          .join(', ')}]`,
    ).join('\n'),
    true,
  ],
  ['a list of 100,000 numbers', `a: [${Array(100_000).fill('1').join(',')}]`, true],
  ['100,000 tags', `a: ${'!a '.repeat(100_000)}`, true],
  ['100,000 empty lines', '\n'.repeat(100_000), false],
  [
    '4,000 keys merged 99 times',
    `a: &a {${MANY.slice(0, 4000)
      .map(([key]) => `${key}: 1`)
      .join(', ')}}\n${MANY.slice(0, 99)
      .map(([key]) => `b${key}: {<<: *a}`)
      .join('\n')}`,
    true,
  ],
  [
    'merges of merges',
    [
      'a0: &a0 {x: [1, 2, 3]}',
      ...Array.from({ length: 40 }, (_, at) => `a${at + 1}: &a${at + 1} {<<: [*a${at}, *a${at}]}`),
    ].join('\n'),
    false,
  ],
  [
    '2,000 unknown keys',
    MANY.slice(0, 2000)
      .map(([key, at]) => `${key}: ${at}`)
      .join('\n'),
    false,
  ],
  ['a text of 100,000 lines', `a: |\n${'  b\n'.repeat(100_000)}`, false],
  ['a key of 300 kB', `? ${LONG}\n: 1`, false],
  ['a key of the engine of 300 kB', `engine:\n  ? ${LONG}\n  : 1`, false],
  ['a key of 300 kB in JSON', JSON.stringify({ handler: { [LONG]: 1 } }), false],
] as const)
  test(`a config with ${what} is answered within a second`, async () => {
    const answer = await within(async () => await check(await parseConfig(text, 'c.yaml')));
    if (answer instanceof Error) expect(answer).toMatchObject({ name: 'TabServeError', code: 'model-config' });
    expect(answer instanceof Error).toBe(isRefused);
    const messages = answer instanceof Error ? [answer.message] : answer;
    expect(messages.length).toBeLessThan(100);
    for (const message of messages) expect(message.length).toBeLessThan(300);
  });

const deepValue = Array.from({ length: DEEP }).reduce<unknown>((inner) => ({ a: inner }), 1);

for (const [what, config] of [
  ['20,000 unknown keys', KEYS],
  ['20,000 unknown keys of the engine', { engine: KEYS }],
  ['20,000 unknown keys of the handler', { handler: KEYS }],
  ['20,000 unknown keys that are nested', { handler: { decoder: { yolov8: KEYS } }, engine: { a: { b: KEYS } } }],
  ['20,000 free dimensions', { engine: { freeDimensions: KEYS } }],
  ['20,000 labels', { handler: { labels: MANY.map(([key]) => key) } }],
  ['a key of 300 kB', { [LONG]: 1, engine: { [LONG]: 1 }, handler: { [LONG]: 1 } }],
  ['a key of 300 kB that is nested', { engine: { freeDimensions: { [LONG]: -1 } } }],
  ['a value of 300 kB', { engine: { threads: LONG }, handler: { topK: LONG } }],
  ['mappings in mappings', { engine: { freeDimensions: deepValue }, handler: { a: deepValue } }],
] as const)
  test(`a config that an app passes, with ${what}, is answered within a second`, async () => {
    const answer = await within(async () => await check(config as never));
    if (answer instanceof Error) expect(answer).toMatchObject({ name: 'TabServeError', code: 'model-config' });
    const messages = answer instanceof Error ? [answer.message] : answer;
    expect(messages.length).toBeLessThan(110);
    for (const message of messages) expect(message.length).toBeLessThan(300);
  });

for (const [what, files] of [
  ['20,000 unknown keys in each file', { 'config.json': KEYS, 'preprocessor_config.json': KEYS }],
  [
    '20,000 unknown keys under a known one',
    {
      'config.json': { id2label: KEYS, 'transformers.js_config': KEYS },
      'preprocessor_config.json': { size: KEYS, pad_size: KEYS },
    },
  ],
  [
    'a key of 300 kB',
    {
      'config.json': { [LONG]: 1, id2label: { [LONG]: 1 } },
      'preprocessor_config.json': { [LONG]: 1, size: { [LONG]: 1 } },
    },
  ],
  [
    'values of 300 kB',
    {
      'config.json': { problem_type: LONG, model_type: LONG },
      'preprocessor_config.json': { image_processor_type: LONG, size: LONG },
    },
  ],
  [
    'values in values',
    { 'config.json': { id2label: { a: [[KEYS]] } }, 'preprocessor_config.json': { size: [[[KEYS]]] } },
  ],
] as const)
  test(`a repository of Hugging Face's layout with ${what} is answered within a second`, async () => {
    const all = { ...files, 'config.json': { architectures: ['ViTForImageClassification'], ...files['config.json'] } };
    const blobs = Object.entries(all).map(([path, value]) => [path, new File([JSON.stringify(value)], path)] as const);
    const folder = { ...Object.fromEntries(blobs), 'onnx/model.onnx': new File(['w'], 'model.onnx') };
    const answer = await within(async () => {
      const { config } = await fetchArchive(folder, { fetch });
      return await check(config);
    });
    if (!(answer instanceof Error)) return;
    expect(answer).toMatchObject({ name: 'TabServeError' });
    expect(answer.message.length).toBeLessThan(1000);
  });

const MANIFEST = JSON.stringify({ model: { modelName: 'm', serializedFile: 'm.onnx' } });
const deep = `{"a":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}`;

for (const [what, files, message] of [
  ['a deep manifest', { 'MAR-INF/MANIFEST.json': deep }, /MANIFEST\.json is nested/],
  [
    'a manifest that is deep and not closed',
    { 'MAR-INF/MANIFEST.json': '{"a":'.repeat(DEEP) },
    /MANIFEST\.json is nested/,
  ],
  ['a huge manifest', { 'MAR-INF/MANIFEST.json': MANIFEST + ' '.repeat(2 ** 22) }, /MANIFEST\.json has \d+ bytes/],
  ['a deep tabserve.json', { 'tabserve.json': deep }, /tabserve\.json is nested/],
  ['a huge tabserve.json', { 'tabserve.json': `{"a":"${'x'.repeat(2 ** 22)}"}` }, /tabserve\.json has \d+ bytes/],
] as const)
  test(`${what} is refused`, async () => {
    const all = Object.entries({ 'MAR-INF/MANIFEST.json': MANIFEST, 'm.onnx': 'w', ...files });
    const zip = new File([buildZip(all.map(([name, data]) => ({ name, data })))], 'm.mar');
    await expect(fetchArchive(zip, { fetch })).rejects.toMatchObject({
      code: 'model-format',
      message: expect.stringMatching(message),
    });
  });

test('JSON: deep labels are refused, brackets in texts are none', async () => {
  const files = createFiles({ 'deep.json': deep, 'flat.json': JSON.stringify({ a: '['.repeat(1000), b: '\\"[' }) });
  await expect(files.json('deep.json')).rejects.toMatchObject({ code: 'model-format' });
  expect(await files.json('flat.json')).toEqual({ a: '['.repeat(1000), b: '\\"[' });
});
