import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { ModelStore } from '../../../../src/tools/cli/model-store.ts';

test('a model store with links: what leads out of it is not registered, and what leads nowhere is no archive', async () => {
  const root = await mkdtemp(join(tmpdir(), 'store-'));
  const folder = join(root, 'store');
  await mkdir(join(folder, 'digits'), { recursive: true });
  await writeFile(join(folder, 'digits', 'model.onnx'), '');
  await writeFile(join(folder, 'cats.mar'), '');
  await writeFile(join(root, 'secret.mar'), '');
  await symlink(join(root, 'secret.mar'), join(folder, 'out.mar'));
  await symlink(root, join(folder, 'up'));
  await symlink(join(root, 'nothing'), join(folder, 'gone'));
  const store = new ModelStore(folder);
  expect(store.archives(['all']).map(({ path }) => path)).toEqual(['cats.mar', 'digits', 'out.mar']);
  const allowed = [
    'cats.mar',
    'cats',
    'digits',
    './digits/../cats.mar',
    join(folder, 'cats.mar'),
    '..mar',
    '%2e%2e/secret.mar',
  ];
  const refused = [
    '.',
    '..',
    'out.mar',
    'out',
    'up/secret.mar',
    '../secret.mar',
    'digits/../../secret.mar',
    join(root, 'secret.mar'),
    '/',
    'file:///etc/passwd',
    'HTTPS://example.org/m.mar',
    'data:,x',
  ];
  expect(allowed.filter((path) => !store.allows(path))).toEqual([]);
  expect(refused.filter((path) => store.allows(path))).toEqual([]);
});
