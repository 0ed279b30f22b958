import { expect, test } from '@playwright/test';
import { checkConfig, mergeConfig, parseConfig } from '../../src/models/config.ts';
import { fetchArchive } from '../../src/models/archive.ts';
import { createFiles } from '../../src/models/files.ts';
import { buildZip } from './zip-builder.ts';

/** Levels that overflow the stack of what recurses. */
const DEEP = 200_000;
const laughs = ['a: &a [x, x, x, x, x, x, x, x, x]', ...[...'bcdefghi'].map((key, at) => `${key}: &${key} [${Array(9).fill(`*${'abcdefghi'[at]}`).join(', ')}]`)]; // prettier-ignore

for (const [what, text] of [
  ['aliases of aliases', laughs.join('\n')],
  ['an alias of itself', 'a: &a [*a]'],
  ['a tag of Python', 'a: !!python/object/apply:os.system [ls]'],
  ['a tag of its own', 'a: !secret b'],
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
    const error: unknown = await parseConfig(text, 'c.yaml').then(() => undefined, (reason: unknown) => reason); // prettier-ignore
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

for (const [what, text] of [
  ['20,000 unknown keys', Array.from({ length: 20_000 }, (_, at) => `key${at}: ${at}`).join('\n')],
  [
    '20,000 unknown keys of the engine',
    `engine:\n${Array.from({ length: 20_000 }, (_, at) => `  key${at}: 1`).join('\n')}`,
  ],
  ['a key of 300 kB', `? ${'k'.repeat(300_000)}\n: 1`],
  ['a key of the engine of 300 kB', `engine:\n  ? ${'k'.repeat(300_000)}\n  : 1`],
] as const)
  // prettier-ignore
  test(`a config with ${what} is answered within a second of an idle machine`, async () => {
    const warnings: string[] = [];
    const start = process.cpuUsage();
    const config = mergeConfig(await parseConfig(text, 'c.yaml'), { handler: { topK: 1 } });
    checkConfig(config, (message) => warnings.push(message));
    // Of the processor, whatever else it does meanwhile; on a machine that is slower than most.
    expect(process.cpuUsage(start).user / 1000).toBeLessThan(2500);
    expect(warnings.length).toBeLessThan(100);
    for (const warning of warnings) expect(warning.length).toBeLessThan(300);
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
  // prettier-ignore
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
