import { expect, test } from '@playwright/test';
import { readWar } from '../../../../src/worker/models/war.ts';
import { localSource } from '../../../../src/worker/models/sources/packed.ts';
import type { Archive } from '../../../../src/contract/archive.ts';

async function read(spec: string): Promise<Archive> {
  const manifest = { workflow: { workflowName: 'own', specFile: 'spec.yaml' } };
  const files = {
    'WAR-INF/MANIFEST.json': new Blob([JSON.stringify(manifest)]),
    'spec.yaml': new Blob([spec]),
  };
  return await readWar(await localSource('own.war', files), {});
}

test('a node may have the name of what every object has', async () => {
  const names = ['constructor', 'toString', 'hasOwnProperty'];
  const { config } = await read(
    `models:\n  batch-size: 2\n${names.map((name) => `  ${name}:\n    url: ${name}.mar\n`).join('')}dag:\n  constructor: [toString]\n  toString: [hasOwnProperty]\n`,
  );
  expect(Object.entries(config.nodes!)).toEqual(names.map((name) => [name, { archive: `${name}.mar` }]));
  expect(Object.entries(config.handler!['nodeSettings'] as object)).toEqual(
    names.map((name) => [name, { batchSize: 2 }]),
  );
});

test('each model has its own batch, delay, retries and time; the worker is as large as the largest of them', async () => {
  const { config } = await read(
    [
      'models:',
      '  min-workers: 1',
      '  max-workers: 2',
      '  batch-size: 3',
      '  max-batch-delay: 50',
      '  retry-attempts: 3',
      '  timeout-ms: 5000',
      '  detect: { url: detect.mar, max-workers: 4 }',
      '  classify: { url: classify.mar, batch-size: 8, max-batch-delay: 200, retry-attempts: 0, timeout-ms: 100 }',
      'dag:',
      '  detect: [classify]',
      '',
    ].join('\n'),
  );
  expect(config).toMatchObject({ minWorkers: 1, maxWorkers: 4, batchSize: 8 });
  expect(config).not.toHaveProperty('maxBatchDelay');
  expect(config.handler!['nodeSettings']).toEqual({
    detect: { batchSize: 3, maxBatchDelay: 50, retryAttempts: 3, timeout: 5000 },
    classify: { batchSize: 8, maxBatchDelay: 200, retryAttempts: 0, timeout: 100 },
  });
});

test('an unknown key of a model is refused by its name, whatever every object has', async () => {
  await expect(read('models:\n  m:\n    url: m.mar\n    toString: 1\ndag:\n  m: []\n')).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('models.m.toString is not known') as unknown,
  });
});

test('a node named __proto__ is refused', async () => {
  await expect(read('models:\n  __proto__:\n    url: m.mar\ndag:\n  __proto__: []\n')).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('__proto__') as unknown,
  });
});

test('a spec that is too large, or that its aliases make too large, is refused with its limit', async () => {
  const model = '  m:\n    url: m.mar\n';
  const graph = `models:\n${model}dag:\n  m: []\n`;
  // Ten lists of ten references each: ten thousand million values.
  const levels = Array.from({ length: 10 }, (_, at) =>
    at === 0 ? 'a0: &a0 [1]\n' : `a${at}: &a${at} [${`*a${at - 1}, `.repeat(10)}]\n`,
  ).join('');
  for (const [spec, why] of [
    [`${graph}# ${'x'.repeat(2 ** 22)}\n`, /spec\.yaml.*(bytes|4 MB|4194304)/],
    [`${graph}# ${'x'.repeat(2 ** 19)}\n`, /spec\.yaml is not YAML that a config can be: it has \d+ characters/],
    [`${graph}${levels}`, /spec\.yaml is not YAML that a config can be: /],
    [`${graph}deep: ${'['.repeat(100)}${']'.repeat(100)}\n`, /spec\.yaml is not YAML that a config can be: /],
  ] as const) {
    const error = await read(spec).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: expect.stringMatching(/^model-(config|format)$/) as unknown });
    expect((error as Error).message).toMatch(why);
  }
});
