import { expect, test } from '@playwright/test';
import { readLocation } from '../../../src/page/options/model-location.ts';
import { readModelUrl } from '../../../src/shared/model-url.ts';
import { requestFile } from '../../../src/shared/request-policy.ts';
import { loadHandler } from '../../../src/worker/handlers/registry.ts';
import { fetchArchive } from '../../../src/worker/models/archive.ts';
import { fetchModel } from '../../../src/worker/models/model-files.ts';
import { MadeUpHub } from '../../hub.ts';

const MAIN = 'https://huggingface.co/org/my.model_1/resolve/main/';

test('what people paste of a repository is its folder', () => {
  for (const url of [
    'https://huggingface.co/org/my.model_1',
    'https://huggingface.co/org/my.model_1/',
    'https://huggingface.co/org/my.model_1/?x=1#files',
    'https://huggingface.co/org/my.model_1?download=true',
    'https://huggingface.co/org/my.model_1/tree/main',
    'https://huggingface.co/org/my.model_1/tree/main/',
    'https://huggingface.co/org/my.model_1/blob/main/config.json',
    'https://huggingface.co/org/my.model_1/resolve/main/',
    'https://huggingface.co/org/my.model_1/resolve/main',
    'https://hf.co/org/my.model_1',
    'https://hf.co/org/my.model_1/resolve/main/',
    'https://www.huggingface.co/org/my.model_1',
    'http://huggingface.co/org/my.model_1',
    'HTTPS://HuggingFace.co/org/my.model_1',
    ' https://hf.co/org/my.model_1 ',
    'huggingface.co/org/my.model_1',
    'hf.co/org/my.model_1?library=transformers.js',
    'www.huggingface.co/org/my.model_1',
    'https://huggingface.co/org/my.model_1/tree/main/onnx',
    'https://huggingface.co/org/my.model_1/blob/main/onnx/model_fp16.onnx_data',
    'hf:org/my.model_1',
    'hf:org/my.model_1@main',
    'hf://org/my.model_1',
  ])
    expect(readLocation(url), url).toEqual({ source: MAIN, ...(!/resolve/.test(url) && { dtype: undefined }) });
});

test('a revision and a folder are part of the address', () => {
  for (const [url, folder] of [
    ['https://huggingface.co/org/name/tree/refs%2Fpr%2F4', 'resolve/refs%2Fpr%2F4/'],
    ['https://huggingface.co/org/name/tree/v1/sub/folder/', 'resolve/v1/sub/folder/'],
    ['https://huggingface.co/org/name/commit/0123abc', 'resolve/0123abc/'],
    ['https://huggingface.co/org/name/blob/v1/sub/config.json', 'resolve/v1/sub/'],
    ['hf:org/name@v1.0', 'resolve/v1.0/'],
    ['hf:org/name@refs/pr/4', 'resolve/refs%2Fpr%2F4/'],
  ] as const)
    expect(readLocation(url).source, url).toBe(`https://huggingface.co/org/name/${folder}`);
});

test('the page of a model’s file names its precision; a file to download is that file', () => {
  for (const [path, folder, dtype] of [
    ['blob/main/onnx/model_q4.onnx', 'resolve/main/', 'q4'],
    ['blob/main/onnx/model_quantized.onnx', 'resolve/main/', 'q8'],
    ['blob/main/onnx/model_q4f16.onnx', 'resolve/main/', 'q4f16'],
    ['blob/main/onnx/model.onnx', 'resolve/main/', 'fp32'],
    ['blob/v1/model_fp16.onnx', 'resolve/v1/', 'fp16'],
    ['blob/main/clip/onnx/vision_model_int8.onnx', 'resolve/main/clip/', 'int8'],
  ] as const)
    expect(readLocation(`https://huggingface.co/org/name/${path}`), path).toEqual({
      source: `https://huggingface.co/org/name/${folder}`,
      dtype,
    });
  expect(readModelUrl('https://hf.co/org/name/resolve/main/onnx/model_q4.onnx?download=true')).toEqual({
    url: new URL('https://huggingface.co/org/name/resolve/main/onnx/model_q4.onnx'),
    file: 'model_q4.onnx',
  });
});

test('a file whose name says no precision is not taken for another one', () => {
  // The names of Optimum and sentence-transformers.
  for (const file of ['onnx/model_O4.onnx', 'onnx/model_qint8_avx512.onnx', 'model_quint8_avx2.onnx'])
    expect(() => readLocation(`https://hf.co/org/name/blob/v1/${file}`), file).toThrow(
      expect.objectContaining({
        code: 'model-config',
        message: expect.stringContaining(`It opens alone: https://huggingface.co/org/name/resolve/v1/${file}`),
      }),
    );
});

test('what is at the Hub and no model is refused with what it is', () => {
  for (const [url, message] of [
    ['https://huggingface.co/', 'is a page of the Hub, not a model'],
    ['https://huggingface.co/org/name/discussions/3', 'is a page of the Hub, not a model'],
    ['https://huggingface.co/org/name/commits/main', 'is a page of the Hub, not a model'],
    ['https://huggingface.co/org/name%20', 'is a page of the Hub, not a model'],
    ['https://huggingface.co/gpt2/tree/main', 'is a page of the Hub, not a model'],
    ['https://huggingface.co/collections/org/name', 'a collection'],
    ['hf:datasets/name', 'a dataset, not a model'],
    ['hf:../name', 'expected hf:ORG/NAME'],
    ['hf:org/name@v1#x', 'expected hf:ORG/NAME'],
    ['https://huggingface.co/datasets/org/name', 'a dataset, not a model'],
    ['https://huggingface.co/spaces/org/name', 'a space, not a model'],
    ['https://huggingface.co/papers/2401.00001', 'a paper'],
    ['https://huggingface.co/org', 'is a page of the Hub, not a model'],
    ['hf:org', 'expected hf:ORG/NAME'],
    ['hf:org/name/onnx', 'expected hf:ORG/NAME'],
  ] as const)
    expect(() => readLocation(url), url).toThrow(
      expect.objectContaining({ code: 'model-config', message: expect.stringContaining(message) }),
    );
  // Only the Hub's own names are the Hub.
  expect(readLocation('https://hf.co.example.org/datasets/org').source).toBe('https://hf.co.example.org/datasets/org/');
});

const vit = {
  'config.json': {
    bytes: JSON.stringify({ architectures: ['ViTForImageClassification'], id2label: { 0: 'tench', 1: 'goldfish' } }),
  },
  'preprocessor_config.json': {
    bytes: JSON.stringify({
      image_processor_type: 'ViTImageProcessor',
      do_resize: true,
      do_normalize: true,
      image_mean: [0.5, 0.5, 0.5],
      image_std: [0.5, 0.5, 0.5],
      size: 224,
    }),
  },
  'onnx/model_quantized.onnx': { bytes: 'eight bits', isLarge: true },
  'onnx/model.onnx': { bytes: 'weights', isLarge: true },
};
const PAGE = 'https://app.example.org';

for (const page of [PAGE, undefined]) {
  const policy = page === undefined ? {} : { pageOrigin: page };
  const where = page === undefined ? 'in Node' : 'in a browser';

  test(`a repository loads by its URL alone, through the Hub's redirects, ${where}`, async () => {
    using hub = await MadeUpHub.start({ repositories: { 'org/vit': vit } });
    const options = { fetch: hub.fetch(page), downloads: new Map(), handlerClass: loadHandler, ...policy };
    const archive = await fetchArchive(readLocation('hf:org/vit').source as string, options);
    const { files, models } = await fetchModel(archive, 'onnx', options);
    expect(await files[models.onnx!]!.text()).toBe('weights');
    const origins = new Set(hub.asked.map(({ url }) => url.origin));
    expect([...origins].sort()).toEqual(['https://cas-bridge.xethub.hf.co', 'https://huggingface.co']);
  });

  test(`headers of the app reach the Hub and none of its file servers, ${where}`, async () => {
    using hub = await MadeUpHub.start({ repositories: { 'org/vit': vit } });
    const headers = { Authorization: 'Bearer secret', 'X-Key': 'secret' };
    for (const path of ['config.json', 'onnx/model.onnx']) {
      const url = new URL(`https://huggingface.co/org/vit/resolve/main/${path}`);
      expect((await requestFile(hub.fetch(page), url, { ...policy, headers })).ok).toBe(true);
    }
    const asked = hub.asked.filter(({ method }) => method !== 'OPTIONS');
    expect(asked[0]!.headers.get('authorization')).toBe('Bearer secret');
    const large = asked.filter(({ url }) => url.host.endsWith('hf.co'));
    expect(large).toHaveLength(1);
    for (const { headers: sent } of large) expect([sent.get('authorization'), sent.get('x-key')]).toEqual([null, null]);
  });

  test(`the Hub's redirects lead to its own servers and nowhere else, ${where}`, async () => {
    for (const fileServer of ['https://hf.co.example.org', 'https://evil-hf.co', 'http://cdn.hf.co']) {
      using hub = await MadeUpHub.start({ repositories: { 'org/vit': vit }, fileServer });
      const url = new URL('https://huggingface.co/org/vit/resolve/main/onnx/model.onnx');
      await expect(requestFile(hub.fetch(page), url, policy)).rejects.toMatchObject({
        code: 'unsupported',
        message: expect.stringContaining(`redirected to ${fileServer}`),
      });
      // A browser tells only afterwards where a redirect has led.
      if (page === undefined)
        expect(hub.asked.map(({ url: { origin } }) => origin)).toEqual(['https://huggingface.co']);
    }
  });
}

test('the servers of the Hub are no rule for other sites', async () => {
  const fetch = ((url: URL) =>
    Promise.resolve(
      new Response(null, { status: 302, headers: { location: `https://cas-bridge.xethub.hf.co${url.pathname}` } }),
    )) as typeof globalThis.fetch;
  for (const site of ['https://example.org', 'https://hf.co.example.org', 'https://cdn.hf.co', 'http://huggingface.co'])
    await expect(requestFile(fetch, new URL('/m', site), {})).rejects.toMatchObject({ code: 'unsupported' });
});

test('headers of the app are not sent again after a redirect that came back', async () => {
  const sent: (string | null)[] = [];
  const fetch = ((url: URL, init: RequestInit) => {
    sent.push(new Headers(init.headers).get('authorization'));
    const to = { '/a': 'https://cdn.hf.co/b', '/b': 'https://huggingface.co/c' }[url.pathname];
    return Promise.resolve(to ? new Response(null, { status: 302, headers: { location: to } }) : new Response('x'));
  }) as typeof globalThis.fetch;
  await requestFile(fetch, new URL('https://huggingface.co/a'), { headers: { Authorization: 'Bearer secret' } });
  expect(sent).toEqual(['Bearer secret', null, null]);
});

test('a redirect within one origin is followed, as often as browsers follow', async () => {
  const asked: string[] = [];
  const fetch = ((url: URL) => {
    asked.push(url.pathname);
    const to = { '/a': '/b', '/b': '/c', '/loop': '/loop' }[url.pathname];
    return Promise.resolve(
      to ? new Response(null, { status: 307, headers: { location: to } }) : new Response('weights'),
    );
  }) as typeof globalThis.fetch;
  expect(await (await requestFile(fetch, new URL('https://example.org/a'), {})).text()).toBe('weights');
  expect(asked).toEqual(['/a', '/b', '/c']);
  await expect(requestFile(fetch, new URL('https://example.org/loop'), {})).rejects.toMatchObject({ code: 'network' });
});
