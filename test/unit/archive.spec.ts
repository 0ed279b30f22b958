import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { fetchArchive } from '../../src/models/archive.ts';
import { mergeConfig, parseConfig } from '../../src/models/config.ts';
import { VERSION } from '../../src/version.ts';

/** A server with these files, and 404 for the rest. */
const server =
  (files: Record<string, string | Response>) =>
  (url: URL | string | Request): Promise<Response> => {
    const file = files[new URL(url as URL).pathname];
    return Promise.resolve(file === undefined ? new Response('', { status: 404 }) : file instanceof Response ? file.clone() : new Response(file));
  };
const manifest = (model: object) => JSON.stringify({ model: { modelName: 'm', serializedFile: 'm.onnx', ...model } });
const get = (files: Record<string, string | Response>, url = 'https://example.org/m', options = {}) => fetchArchive(url, { fetch: server(files) as typeof fetch, ...options });

test('a folder: manifest, weights, config, labels and extra files', async () => {
  const archive = await get({
    '/m/MAR-INF/MANIFEST.json': manifest({ configFile: 'model-config.yaml', extensions: 'extra/vocab.txt, ' }),
    '/m/m.onnx': 'weights',
    '/m/model-config.yaml': 'batchSize: 4\nhandler:\n  topK: 3\n  output: logits\n',
    '/m/vocab.txt': 'words',
    '/m/index_to_name.json': '{"0":"x"}',
  }, 'https://example.org/m', { config: { handler: { topK: 1 } } }); // prettier-ignore
  expect(Object.keys(archive.files).sort()).toEqual(['index_to_name.json', 'm.onnx', 'model-config.yaml', 'vocab.txt']);
  expect(archive.config).toEqual({ batchSize: 4, handler: { topK: 1, output: 'logits' } });
  expect(await archive.files['m.onnx']!.text()).toBe('weights');
});

test('labels may be absent, other files may not', async () => {
  const files = { '/m/MAR-INF/MANIFEST.json': manifest({ configFile: 'c.yaml' }), '/m/m.onnx': 'w' };
  await expect(get(files)).rejects.toMatchObject({ code: 'model-not-found', message: expect.stringContaining('c.yaml') });
  const html = new Response('<!doctype html>', { headers: { 'content-type': 'text/html; charset=utf-8' } });
  expect(Object.keys((await get({ ...files, '/m/c.yaml': '', '/m/index_to_name.json': html })).files).sort()).toEqual(['c.yaml', 'm.onnx']);
});

test('a manifest that is none, names nothing, or reaches outside', async () => {
  const only = (text: string) => get({ '/m/MAR-INF/MANIFEST.json': text });
  await expect(only('{')).rejects.toMatchObject({ code: 'model-format' });
  await expect(only('{}')).rejects.toMatchObject({ code: 'model-format' });
  await expect(only(manifest({ serializedFile: 'm.pt' }))).rejects.toMatchObject({ code: 'model-format', message: expect.stringContaining('"m.pt"') });
  for (const path of ['../secret.onnx', 'https://evil.example/m.onnx', '/m.onnx'])
    await expect(only(manifest({ serializedFile: path }))).rejects.toMatchObject({ code: 'model-format' });
});

test('config: what YAML is wrong, and what is merged', async () => {
  await expect(parseConfig('a: [', 'c.yaml')).rejects.toMatchObject({ code: 'model-config' });
  await expect(parseConfig('- a', 'c.yaml')).rejects.toMatchObject({ code: 'model-config' });
  await expect(parseConfig('handler: 3', 'c.yaml')).rejects.toMatchObject({ code: 'model-config', message: expect.stringContaining('handler') });
  expect(await parseConfig('', 'c.yaml')).toEqual({});
  const base = Object.freeze({ handler: Object.freeze({ a: 1 }), x: 1 });
  expect(mergeConfig(base, { handler: { b: 2 } })).toEqual({ handler: { a: 1, b: 2 }, x: 1 });
});

test('the version is the package’s', () => {
  expect(VERSION).toBe((JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version);
});
