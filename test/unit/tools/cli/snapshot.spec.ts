import { mkdir, mkdtemp, readFile, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { TabServeError } from '../../../../src/contract/errors.ts';
import { ModelServer } from '../../../../src/server/model-server.ts';
import type { RegisteredLocation } from '../../../../src/server/options.ts';
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

test('a version that cannot be loaded is named with its cause, stays in the snapshot, and the others are registered', async () => {
  let isThere = false;
  const load = async (model: string): Promise<FakeClient> => {
    if (model === 'gone.mar' && !isThere) throw new TabServeError('model-not-found', 'gone.mar is not there.');
    return new FakeClient();
  };
  const location = (name: string, model: string): RegisteredLocation => ({
    name,
    version: '1.0',
    model,
    isDefault: true,
    options: {},
  });
  const [gone, digits] = [location('gone', 'gone.mar'), location('digits', 'digits.mar')];
  let changes = 0;
  const server = new ModelServer({ load, onChange: () => (changes += 1) });
  const failures = await server.restore([gone, digits]);
  expect(failures).toEqual([
    { location: gone, error: expect.objectContaining({ code: 'model-not-found' }) as unknown },
  ]);
  expect(server.snapshot()).toEqual([digits, gone]);
  expect(server.list().map(({ name }) => name)).toEqual(['digits']);
  const ask = async (path: string, method = 'GET'): Promise<readonly [number, unknown]> => {
    const response = await server.fetch(new Request(`http://server${path}`, { method }));
    return [response.status, await response.json()];
  };
  expect(await ask('/models/gone')).toEqual([
    200,
    [{ modelName: 'gone', modelVersion: '1.0', modelUrl: 'gone.mar', workers: [], error: 'gone.mar is not there.' }],
  ]);
  const message = 'Model "gone" could not be loaded: gone.mar is not there.';
  expect(await ask('/predictions/gone', 'POST')).toEqual([503, expect.objectContaining({ message })]);
  expect((await ask('/ping'))[0]).toBe(200);
  await expect(server.reload('gone')).rejects.toMatchObject({ code: 'model-not-found' });
  isThere = true;
  await server.reload('gone');
  expect([(await ask('/predictions/gone', 'POST'))[0], server.snapshot()]).toEqual([200, [digits, gone]]);
  // Removed, it is no longer brought back.
  isThere = false;
  const other = new ModelServer({ load, onChange: () => (changes += 1) });
  await other.restore([gone]);
  changes = 0;
  await other.unregister('gone');
  expect([other.snapshot(), changes]).toEqual([[], 1]);
  await expect(other.describe('gone')).rejects.toMatchObject({ code: 'model-not-found' });
});

test('a default that cannot be loaded stays the default: no other version answers in its place', async () => {
  let isThere = false;
  const load = async (model: string): Promise<FakeClient> => {
    if (model === '2.mar' && !isThere) throw new TabServeError('model-not-found', '2.mar is not there.');
    return new FakeClient();
  };
  const location = (version: string, isDefault: boolean): RegisteredLocation => ({
    name: 'm',
    version,
    model: `${version}.mar`,
    isDefault,
    options: {},
  });
  const snapshot = [location('1', false), location('2', true)];
  const restored = async (): Promise<ModelServer> => {
    const server = new ModelServer({ load, management: { allowsUrl: () => true } });
    // Twice: what has failed is kept once.
    for (const models of [snapshot, [snapshot[1]!]]) await server.restore(models);
    return server;
  };
  const ask = async (server: ModelServer, path: string, method = 'GET'): Promise<readonly [number, unknown]> => {
    const response = await server.fetch(new Request(`http://server${path}`, { method }));
    return [response.status, await response.json().catch(() => undefined)];
  };
  const server = await restored();
  expect(server.snapshot()).toEqual(snapshot);
  expect(server.list()).toEqual([{ name: 'm', defaultVersion: '2', versions: ['1'] }]);
  expect((await ask(server, '/predictions/m', 'POST'))[0]).toBe(503);
  expect((await ask(server, '/predictions/m/1', 'POST'))[0]).toBe(200);
  expect(await ask(server, '/models')).toEqual([200, { models: [{ modelName: 'm', modelUrl: '2.mar' }] }]);
  expect(await ask(server, '/ping')).toEqual([200, { status: 'Healthy' }]);
  await expect(server.unregister('m')).rejects.toThrow('Make another version the default first');
  isThere = true;
  await server.reload('m', '2');
  expect(server.snapshot()).toEqual(snapshot);
  expect((await ask(server, '/predictions/m', 'POST'))[0]).toBe(200);
  // Another version is made the default.
  isThere = false;
  const other = await restored();
  other.setDefault('m', '1');
  expect((await ask(other, '/predictions/m', 'POST'))[0]).toBe(200);
  expect(other.snapshot()).toEqual([location('1', true), location('2', false)]);
  await other.unregister('m', '2');
  expect(other.snapshot()).toEqual([location('1', true)]);
  // All versions are removed: nothing of them is left.
  const last = await restored();
  expect((await ask(last, '/v2/repository/models/m/unload', 'POST'))[0]).toBe(200);
  expect([last.snapshot(), (await ask(last, '/models/m'))[0]]).toEqual([[], 404]);
});
