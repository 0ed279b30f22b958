import { mkdir, mkdtemp, readFile, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { ModelServer } from '../../../../src/server/model-server.ts';
import { Snapshot } from '../../../../src/tools/cli/snapshot.ts';
import { FakeClient } from '../../support/fake-client.ts';

test('a snapshot that could not be written keeps no later one from being written', async () => {
  const path = join(await mkdtemp(join(tmpdir(), 'snapshot-')), 'models.json');
  const server = new ModelServer({ load: async (_model: string) => new FakeClient() });
  await server.register('digits.mar', { name: 'digits', version: '1.0' });
  const snapshot = new Snapshot(path);
  // A folder is in the way of the file.
  await mkdir(`${path}.part`);
  await expect(snapshot.write(server)).rejects.toThrow(/EISDIR/);
  await rmdir(`${path}.part`);
  await snapshot.write(server);
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
    models: [{ name: 'digits', version: '1.0', model: 'digits.mar', isDefault: true, options: {} }],
  });
  expect(await snapshot.read()).toHaveLength(1);
});
