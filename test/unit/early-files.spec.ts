import { expect, test } from '@playwright/test';
import type { Asked, AskedFile } from '../../src/client/ask-early.ts';
import { readEarly } from '../../src/client/selection/early-files.ts';

const FOLDER = new URL('https://example.org/m/');
const manifest = { model: { modelName: 'm', serializedFile: 'm.onnx', configFile: 'config/c.yaml' } };

/** A page that has asked for the first two files. @param files by path: a text, or a status; there are no others */
function page(files: Readonly<Record<string, string | number>>): { asked: Asked; paths: string[] } {
  const paths: string[] = [];
  const ask = (url: URL): AskedFile => {
    const path = url.pathname.replace('/m/', '');
    paths.push(path);
    const found = files[path] ?? 404;
    const response = typeof found === 'string' ? new Response(found, { headers: { etag: '"1"' } }) : new Response('', { status: found }); // prettier-ignore
    return { url: url.href, response: Promise.resolve(response) };
  };
  const first = ['MAR-INF/MANIFEST.json', 'tabserve.json'].map((path) => ask(new URL(path, FOLDER)));
  return { asked: { folder: FOLDER, files: first, ask }, paths };
}

test('the page reads the formats, and asks for the config and the labels that the manifest implies', async () => {
  const { asked, paths } = page({ 'MAR-INF/MANIFEST.json': JSON.stringify(manifest), 'config/c.yaml': 'a: 1' });
  const { formats, files } = readEarly(asked, undefined);
  expect(await formats).toBe('onnx');
  const found = await files;
  expect(found.map(({ url, status }) => [url.replace(FOLDER.href, ''), status])).toEqual([
    ['MAR-INF/MANIFEST.json', 200],
    ['tabserve.json', 404],
    ['config/c.yaml', 200],
    ['index_to_name.json', 404],
  ]);
  expect(new TextDecoder().decode(found[2]!.body)).toBe('a: 1');
  expect(found[2]!.headers).toContainEqual(['etag', '"1"']);
  expect(paths).toHaveLength(4);
});

test('the formats of tabserve.json come before that of the manifest', async () => {
  const extras = JSON.stringify({ models: { tfjs: 'm.json', onnx: 'm.onnx' } });
  const { asked } = page({ 'MAR-INF/MANIFEST.json': JSON.stringify(manifest), 'tabserve.json': extras });
  expect(await readEarly(asked, undefined).formats).toBe('onnx tfjs');
});

for (const [what, files, kept] of [
  ['there is no manifest', {}, ['MAR-INF/MANIFEST.json', 'tabserve.json']],
  [
    'the manifest is a page of HTML',
    { 'MAR-INF/MANIFEST.json': '<!doctype html>' },
    ['MAR-INF/MANIFEST.json', 'tabserve.json'],
  ],
  ['the server fails', { 'MAR-INF/MANIFEST.json': 503 }, ['tabserve.json']],
  [
    'the config lies outside of the archive',
    { 'MAR-INF/MANIFEST.json': JSON.stringify({ model: { ...manifest.model, configFile: '../c.yaml' } }) },
    ['MAR-INF/MANIFEST.json', 'tabserve.json'],
  ],
] as const)
  // prettier-ignore
  test(`what the page cannot read is left to the worker: ${what}`, async () => {
    const { asked, paths } = page(files);
    const { files: found } = readEarly(asked, undefined);
    expect((await found).map(({ url }) => url.replace(FOLDER.href, ''))).toEqual(kept);
    expect(paths).toHaveLength(2);
  });

test('nothing was asked for: nothing is known', async () => {
  const { formats, files } = readEarly(undefined, undefined);
  expect(await formats).toBeUndefined();
  expect(await files).toEqual([]);
});
