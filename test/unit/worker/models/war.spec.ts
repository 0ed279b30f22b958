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
