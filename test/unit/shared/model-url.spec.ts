import { expect, test } from '@playwright/test';
import { readLocation } from '../../../src/page/options/model-location.ts';
import { fetchArchive, type ArchiveOptions } from '../../../src/worker/models/archive.ts';
import { fetchModel } from '../../../src/worker/models/model-files.ts';
import { modelUrl } from '../../../src/server/node/model-url.ts';
import { locateFile, readModelUrl } from '../../../src/shared/model-url.ts';
import { buildZip } from '../support/zip-builder.ts';

const MANIFEST = JSON.stringify({ model: { modelName: 'm', serializedFile: 'm.onnx' } });

/** Loads a model from a server of these files, by URL. Returns every URL that was asked for. */
async function load(url: string, files: Readonly<Record<string, string | Uint8Array<ArrayBuffer>>> = {}) {
  const asked: string[] = [];
  const fetch = (async (input: URL) => {
    asked.push(input.href);
    const file = files[input.href];
    return file === undefined ? new Response('', { status: 404 }) : new Response(file);
  }) as unknown as typeof globalThis.fetch;
  const options: ArchiveOptions = { fetch, downloads: new Map(), headers: { Authorization: 'Bearer secret' } };
  const error = await fetchArchive(url, options)
    .then((archive) => fetchModel(archive, 'onnx', options))
    .then(
      () => undefined,
      (reason: unknown) => reason as { code: string; message: string },
    );
  return { asked, error };
}

test('every request goes to the host of the URL, however many slashes its path begins with', async () => {
  for (const [url, folder] of [
    ['https://cdn.example.org//models/digits', 'https://cdn.example.org//models/digits/'],
    ['https://cdn.example.org//models/digits/', 'https://cdn.example.org//models/digits/'],
    ['https://cdn.example.org//models/digits?v=1', 'https://cdn.example.org//models/digits/'],
    ['https://cdn.example.org///digits', 'https://cdn.example.org///digits/'],
    ['https://cdn.example.org/\\evil.example/digits', 'https://cdn.example.org//evil.example/digits/'],
    ['https://cdn.example.org//evil.example/m.onnx', 'https://cdn.example.org//evil.example/m.onnx'],
    ['https://cdn.example.org//evil.example/m.mar', 'https://cdn.example.org//evil.example/m.mar'],
  ] as const) {
    const { asked } = await load(url);
    expect(asked.length, url).toBeGreaterThan(0);
    for (const one of asked) expect(one.startsWith(folder), `${url} requests ${one}`).toBe(true);
  }
  // At the Hub, such an address is no model's.
  for (const url of [
    'https://huggingface.co//models.example/digits',
    'https://huggingface.co//org/name/resolve/main',
  ]) {
    const { asked, error } = await load(url);
    expect([asked, error?.code], url).toEqual([[], 'model-config']);
  }
});

test('a path that an archive names is a path, and never a host or a scheme', async () => {
  const place = readModelUrl('https://example.org//m?v=1');
  for (const [path, url] of [
    ['m.onnx', 'https://example.org//m/m.onnx?v=1'],
    ['./a/../m.onnx', 'https://example.org//m/m.onnx?v=1'],
    ['my net#1?.onnx', 'https://example.org//m/my%20net%231%3F.onnx?v=1'],
    ['%2e%2e/m.onnx', 'https://example.org//m/%252e%252e/m.onnx?v=1'],
    ['a\\b.onnx', 'https://example.org//m/a%5Cb.onnx?v=1'],
    ['a\tb', 'https://example.org//m/a%09b?v=1'],
    ['a//evil.example/b', 'https://example.org//m/a//evil.example/b?v=1'],
    ['\ud800', 'https://example.org//m/%EF%BF%BD?v=1'],
  ] as const)
    expect(locateFile(place, path).href, path).toBe(url);
  for (const path of [
    '//evil.example/m',
    '\\\\evil.example\\m',
    ' //evil.example/m',
    '\t/m',
    '/m',
    'https://evil.example/m',
    'https:m',
    'data:,x',
    '../m',
    'a/../../m',
    '..',
  ])
    expect(() => locateFile(place, path), path).toThrow(expect.objectContaining({ code: 'model-format' }));
});

test('a file is requested by the URL that was given, with its escapes and its query', async () => {
  for (const url of [
    'https://example.org/v0/b/o/models%2Fdigits.onnx?alt=media&token=1',
    'https://example.org/m:v1.onnx',
    'https://example.org/%20m.onnx',
    'https://example.org/a%5Cb.onnx',
    'https://example.org/my%20net%231.onnx',
    'https://example.org/m.onnx;v=1/m.onnx',
  ])
    expect(await load(url, { [url]: 'w' }), url).toEqual({ asked: [url], error: undefined });
  const mar = 'https://example.org/v0/b/o/models%2Fdigits.mar?alt=media';
  const zip = buildZip([
    { name: 'MAR-INF/MANIFEST.json', data: MANIFEST },
    { name: 'm.onnx', data: 'w' },
  ]) as Uint8Array<ArrayBuffer>;
  expect(await load(mar, { [mar]: zip })).toEqual({ asked: [mar], error: undefined });
  // What lies beside it has the same prefix.
  const json = readModelUrl('https://example.org/v0/b/o/models%2Fmodel.json?alt=media');
  expect(locateFile(json, 'a.bin').href).toBe('https://example.org/v0/b/o/models%2Fa.bin?alt=media');
  expect(readModelUrl('https://example.org/m.onnx#x').url.href).toBe('https://example.org/m.onnx');
});

test('a URL below which nothing can lie, or that cannot be decoded, is an error that names the option', async () => {
  for (const url of [
    'data:application/octet-stream;base64,AAAA',
    'about:blank',
    'blob:https://example.org/8c2e',
    'javascript:1',
    'https://example.org/%E0%A4%A.mar',
    'https://example.org/%E0%A4%A',
    'https://example.org/%/m.onnx',
    'net.onnx',
  ]) {
    const error = {
      code: 'model-config',
      message: expect.stringMatching(/^model: expected the URL of a file or folder, got "/),
    };
    expect(() => readModelUrl(url), url).toThrow(expect.objectContaining(error));
    expect(await load(url), url).toMatchObject({ asked: [], error });
    if (url !== 'net.onnx') expect(() => readLocation(url), url).toThrow(expect.objectContaining(error));
  }
  expect(() => readModelUrl('blob:https://example.org/8c2e')).toThrow(/new File\(\[bytes\], 'model\.onnx'\)/);
  expect(readLocation('https://example.org//m').source).toBe('https://example.org//m/');
  // Other schemes of apps have folders, too.
  expect(readModelUrl('chrome-extension://id/models').url.href).toBe('chrome-extension://id/models/');
});

test('under Node: a path is relative to the working directory, and what is no path of this machine is refused', () => {
  const here = new URL(`file://${process.cwd()}/`);
  expect(String(modelUrl('test/models'))).toBe(new URL('test/models/', here).href);
  expect(String(modelUrl('test/models/affine.onnx'))).toBe(new URL('test/models/affine.onnx', here).href);
  expect(modelUrl('https://example.org/m')).toBe('https://example.org/m');
  for (const address of ['hf:org/name@v1', 'huggingface.co/org/name/tree/v1'])
    expect(modelUrl(address)).toBe('https://huggingface.co/org/name/tree/v1');
  for (const model of ['file://evil/models/', new URL('file://evil/models/'), 'test/\0', '', 7, null, undefined])
    expect(() => modelUrl(model), String(model)).toThrow(
      expect.objectContaining({
        code: 'model-config',
        message: expect.stringMatching(/^model: expected a path or a URL, got /),
      }),
    );
  const long = (): unknown => modelUrl('a'.repeat(5000));
  expect(long).toThrow(/^model: expected a path or a URL, got "aaa[^]{150,200}$/);
  expect(() => modelUrl(undefined)).toThrow(/the archive that names its nodes\.$/);
});
