import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import type { Integrity } from '../../../../src/contract/archive.ts';
import { archiveFor } from '../../../../src/contract/archive-parts.ts';
import type { EngineName } from '../../../../src/contract/backends.ts';
import { readDownloadSettings } from '../../../../src/page/options/download-settings.ts';
import { fetchArchive, type ArchiveOptions } from '../../../../src/worker/models/archive.ts';
import { fetchModel } from '../../../../src/worker/models/model-files.ts';
import { mergeConfig, parseConfig } from '../../../../src/worker/models/config.ts';
import { FileCache } from '../../../../src/worker/models/cache/file-cache.ts';
import { CacheEntries } from '../../../../src/shared/cache/cache-entries.ts';
import { memoryStore } from '../../../memory-store.ts';
import { browserClock } from '../../../../src/shared/clock.ts';
import { hashOf } from '../../../../src/shared/hash.ts';
import { readGolden } from '../../../../src/worker/models/golden.ts';
import { VERSION } from '../../../../src/contract/version.ts';

/** A server with these files, and 404 for the rest. */
const server =
  (files: Record<string, string | Response>) =>
  (url: URL | string | Request): Promise<Response> => {
    const file = files[new URL(url as URL).pathname];
    return Promise.resolve(
      file === undefined
        ? new Response('', { status: 404 })
        : file instanceof Response
          ? file.clone()
          : new Response(file),
    );
  };
const manifest = (model: object) => JSON.stringify({ model: { modelName: 'm', serializedFile: 'm.onnx', ...model } });
const get = async (files: Record<string, string | Response>, url = 'https://example.org/m', options = {}) =>
  fetchAll(url, { fetch: server(files) as typeof fetch, ...options });
/** The archive, with its model where it has it in one format. */
const fetchAll = async (url: string | File, options: ArchiveOptions) => {
  const archive = await fetchArchive(url, options);
  const [engine, ...others] = Object.keys(archive.models) as EngineName[];
  return others.length > 0 ? archive : await fetchModel(archive, engine!, options);
};

test('a folder: manifest, weights, config, labels and extra files', async () => {
  const archive = await get(
    {
      '/m/MAR-INF/MANIFEST.json': manifest({ configFile: 'model-config.yaml', extensions: 'extra/vocab.txt, ' }),
      '/m/m.onnx': 'weights',
      '/m/model-config.yaml': 'batchSize: 4\nhandler:\n  topK: 3\n  output: logits\n',
      '/m/vocab.txt': 'words',
      '/m/index_to_name.json': '{"0":"x"}',
    },
    'https://example.org/m',
    { config: { handler: { topK: 1 } } },
  );
  expect(Object.keys(archive.files).sort()).toEqual(['index_to_name.json', 'm.onnx', 'model-config.yaml', 'vocab.txt']);
  expect(archive.config).toEqual({ batchSize: 4, handler: { topK: 1, output: 'logits' } });
  expect(await archive.files['m.onnx']!.text()).toBe('weights');
});

test('a config that was parsed when its archive was made is not parsed again, unless it was edited since', async () => {
  const yaml = 'handler: { topK: 3 }\n';
  const files = (text: string): Record<string, string> => ({
    '/m/MAR-INF/MANIFEST.json': manifest({ configFile: 'c.yaml' }),
    '/m/m.onnx': 'weights',
    '/m/c.yaml': text,
    // It says something else, so that the test tells it from the file.
    '/m/tabserve.json': JSON.stringify({
      parsedConfig: {
        sha256: createHash('sha256').update(yaml).digest('hex').toUpperCase(),
        config: { handler: { topK: 4 } },
      },
    }),
  });
  expect((await get(files(yaml))).config).toEqual({ handler: { topK: 4 } });
  expect((await get(files(`${yaml}# edited\n`))).config).toEqual({ handler: { topK: 3 } });
  const merged = await get(files(yaml), 'https://example.org/m', { config: { handler: { output: 'logits' } } });
  expect(merged.config).toEqual({ handler: { topK: 4, output: 'logits' } });
});

test('a parsed config that is none is named', async () => {
  for (const parsedConfig of [7, null, {}, { sha256: 'x', config: {} }, { sha256: 'a'.repeat(64), config: [] }])
    await expect(
      get({
        '/m/MAR-INF/MANIFEST.json': manifest({ configFile: 'c.yaml' }),
        '/m/m.onnx': 'weights',
        '/m/c.yaml': '',
        '/m/tabserve.json': JSON.stringify({ parsedConfig }),
      }),
    ).rejects.toMatchObject({
      code: 'model-format',
      message: expect.stringContaining('tabserve.json: parsedConfig: expected { sha256, config }'),
    });
});

test('a config that was parsed when its archive was made has the limits of YAML', async () => {
  const sha256 = createHash('sha256').update('').digest('hex');
  const load = (config: string): Promise<unknown> =>
    get({
      '/m/MAR-INF/MANIFEST.json': manifest({ configFile: 'c.yaml' }),
      '/m/m.onnx': 'weights',
      '/m/c.yaml': '',
      '/m/tabserve.json': `{"parsedConfig":{"sha256":"${sha256}","config":${config}}}`,
    });
  const nested = (levels: number): string => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
  for (const [config, why] of [
    ['{"__proto__":{"batchSize":7}}', 'no key may be __proto__'],
    ['{"handler":{"steps":[{"__proto__":{}}]}}', 'no key may be __proto__'],
    [nested(65), 'more than 64 levels'],
    [`{"a":[${'0,'.repeat(50_000)}0]}`, 'more than 50000 values'],
  ] as const)
    await expect(load(config)).rejects.toMatchObject({
      code: 'model-config',
      message: expect.stringMatching(`^tabserve.json: parsedConfig of c.yaml cannot be a config: .*${why}`),
    });
  expect(await load(nested(64))).toMatchObject({ config: { a: [[expect.anything()]] } });
  expect(await load('{"constructor":{"prototype":{"a":1}}}')).toMatchObject({ config: { constructor: {} } });
});

test('the labels file may be absent; other files may not', async () => {
  const files = { '/m/MAR-INF/MANIFEST.json': manifest({ configFile: 'c.yaml' }), '/m/m.onnx': 'w' };
  await expect(get(files)).rejects.toMatchObject({
    code: 'model-not-found',
    message: expect.stringContaining('c.yaml'),
  });
  const html = new Response('<!doctype html>', { headers: { 'content-type': 'text/html; charset=utf-8' } });
  expect(Object.keys((await get({ ...files, '/m/c.yaml': '', '/m/index_to_name.json': html })).files).sort()).toEqual([
    'c.yaml',
    'm.onnx',
  ]);
});

test('an archive for a model on a server needs no model file, and downloads none for it', async () => {
  const remote = 'engine: { remote: { model: big } }';
  const files = (model: object, config: string): Record<string, string> => ({
    '/m/MAR-INF/MANIFEST.json': manifest({ configFile: 'c.yaml', ...model }),
    '/m/c.yaml': config,
    '/m/tabserve.json': '{"golden":["g.safetensors"]}',
    '/m/g.safetensors': 'golden',
    '/m/index_to_name.json': '{"0":"no"}',
    '/m/m.onnx': 'weights',
  });
  for (const serializedFile of [undefined, 'm.pt', 'm.onnx']) {
    const options = { fetch: server(files({ serializedFile }, remote)) as typeof fetch };
    const archive = await fetchArchive('https://example.org/m', options);
    const loaded = await fetchModel(archive, 'remote', options);
    expect(Object.keys(loaded.files).toSorted()).toEqual(['c.yaml', 'g.safetensors', 'index_to_name.json']);
    expect(loaded.config.engine).toEqual({ remote: { model: 'big' } });
    // What the app says of the model is merged with what the archive says.
    const merged = mergeConfig(archive.config, { engine: { remote: { version: '2' } } });
    expect(merged.engine).toEqual({ remote: { model: 'big', version: '2' } });
  }
  for (const serializedFile of [undefined, 'm.pt'])
    await expect(get(files({ serializedFile }, 'handler: {}'))).rejects.toMatchObject({ code: 'model-format' });
  // The app's config is enough, too.
  const own = { config: { engine: { remote: {} } } };
  const fetch = server(files({ serializedFile: undefined }, 'handler: {}')) as typeof globalThis.fetch;
  expect((await fetchArchive('https://example.org/m', { fetch, ...own })).models).toEqual({});
});

test('a manifest that is none, names nothing, or reaches outside', async () => {
  const only = (text: string) => get({ '/m/MAR-INF/MANIFEST.json': text });
  await expect(only('{')).rejects.toMatchObject({ code: 'model-format' });
  await expect(only('{}')).rejects.toMatchObject({ code: 'model-format' });
  await expect(only(manifest({ serializedFile: 'm.pt' }))).rejects.toMatchObject({
    code: 'model-format',
    message: expect.stringContaining('"m.pt"'),
  });
  for (const path of ['../secret.onnx', 'https://evil.example/m.onnx', '/m.onnx'])
    await expect(only(manifest({ serializedFile: path }))).rejects.toMatchObject({ code: 'model-format' });
});

test('a manifest or tabserve.json with a value of the wrong type names the key', async () => {
  const load = (manifest: unknown, extras: unknown = {}) =>
    get({
      '/m/MAR-INF/MANIFEST.json': JSON.stringify(manifest),
      '/m/tabserve.json': JSON.stringify(extras),
      '/m/m.onnx': 'w',
    });
  const model = { modelName: 'm', serializedFile: 'm.onnx' };
  for (const [key, manifest] of [
    ['modelName', { model: { ...model, modelName: 7 } }],
    ['serializedFile', { model: { ...model, serializedFile: 3 } }],
    ['configFile', { model: { ...model, configFile: 1 } }],
    ['extensions', { model: { ...model, extensions: ['a.txt'] } }],
    ['handler', { model: { ...model, handler: {} } }],
    ['runtime', { model, runtime: 3 }],
    ['model', { model: 'm.onnx' }],
    ['the file', [model]],
    ['the file', null],
  ] as const)
    await expect(load(manifest), key).rejects.toMatchObject({
      code: 'model-format',
      message: expect.stringMatching(new RegExp(`^MAR-INF/MANIFEST\\.json.*${key}.*got `)),
    });
  for (const [key, extras] of [
    ['models', { models: 'm.onnx' }],
    ['models.onnx', { models: { onnx: 3 } }],
    ['models.onnx.file', { models: { onnx: {} } }],
    ['models.onnx.config', { models: { onnx: { file: 'm.onnx', config: { batchSize: 3 } } } }],
    ['models.onnx.golden', { models: { onnx: { file: 'm.onnx', golden: 'g' } } }],
    ['golden', { golden: null }],
    ['files["m.onnx"]', { files: { 'm.onnx': null } }],
    ['files', { files: 3 }],
    ['the file', [1]],
  ] as const)
    await expect(load({ model }, extras), key).rejects.toMatchObject({
      code: 'model-format',
      message: expect.stringContaining(`tabserve.json: ${key}: expected`),
    });
  expect((await load({ model: { ...model, handler: null } })).manifest.model.handler ?? undefined).toBeUndefined();
});

test('config: invalid YAML, and how configs are merged', async () => {
  await expect(parseConfig('a: [', 'c.yaml')).rejects.toMatchObject({ code: 'model-config' });
  await expect(parseConfig('- a', 'c.yaml')).rejects.toMatchObject({ code: 'model-config' });
  await expect(parseConfig('handler: 3', 'c.yaml')).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('handler'),
  });
  expect(await parseConfig('', 'c.yaml')).toEqual({});
  const base = Object.freeze({ handler: Object.freeze({ a: 1 }), x: 1 });
  expect(mergeConfig(base, { handler: { b: 2 } })).toEqual({ handler: { a: 1, b: 2 }, x: 1 });
  expect(mergeConfig(base, { handler: undefined } as never)).toEqual(base);
  expect(mergeConfig(base, { handler: 'b' } as never)).toEqual({ handler: 'b', x: 1 });
});

test('the version is the package’s', () => {
  expect(VERSION).toBe(
    (JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8')) as { version: string })
      .version,
  );
});

const shard = (bytes: number) => 'x'.repeat(bytes);
const tfjs = (
  weightsManifest: unknown = [{ paths: ['a.bin', 'b.bin'], weights: [{ name: 'w', shape: [2, 3], dtype: 'float32' }] }],
) => JSON.stringify({ modelTopology: { node: [] }, weightsManifest });

test('a TensorFlow.js model, in a folder or bare: its shards come with it, relative to it, with progress', async () => {
  const served = { '/m/tf/model.json': tfjs(), '/m/tf/a.bin': shard(20), '/m/tf/b.bin': shard(4) };
  const progress = new Map<string, number>();
  const onProgress = ({ file, loaded }: { file: string; loaded: number }): void => void progress.set(file, loaded);
  const folder = await get(
    { ...served, '/m/MAR-INF/MANIFEST.json': manifest({ serializedFile: 'tf/model.json' }) },
    'https://example.org/m',
    { onProgress },
  );
  expect(folder.models).toEqual({ tfjs: 'tf/model.json' });
  expect(Object.keys(folder.files).sort()).toEqual(['tf/a.bin', 'tf/b.bin', 'tf/model.json']);
  expect([progress.get('tf/a.bin'), progress.get('tf/b.bin')]).toEqual([20, 4]);
  const bare = await get(served, 'https://example.org/m/tf/model.json?v=2');
  expect(bare).toMatchObject({ models: { tfjs: 'model.json' }, manifest: { model: { modelName: 'model' } } });
  expect(Object.keys(bare.files).sort()).toEqual(['a.bin', 'b.bin', 'model.json']);
  const onnx = await get({ '/my%20net%231.onnx': 'w' }, 'https://example.org/my%20net%231.onnx');
  expect(Object.keys(onnx.files)).toEqual(['my net#1.onnx']);
});

test('a TensorFlow.js model that is damaged, incomplete, or reaches outside', async () => {
  const load = (files: Record<string, string>) => get(files, 'https://example.org/m/model.json');
  const complete = { '/m/model.json': tfjs(), '/m/a.bin': shard(20), '/m/b.bin': shard(4) };
  await expect(load({ ...complete, '/m/model.json': '{"modelTopology":' })).rejects.toMatchObject({
    code: 'model-format',
    message: expect.stringContaining('model.json'),
  });
  for (const text of ['null', '[]', '{"weightsManifest":[]}', '{"0":"cat"}'])
    await expect(load({ '/m/model.json': text })).rejects.toMatchObject({
      code: 'model-format',
      message: expect.stringContaining('modelTopology'),
    });
  for (const wrong of [
    'all',
    3,
    [{}],
    [{ paths: 'a.bin', weights: [] }],
    [{ paths: ['a.bin'], weights: [{ shape: [1], dtype: 'float8' }] }],
    [{ paths: [1], weights: [] }],
    [{ paths: ['a.bin'], weights: [{ shape: ['n'], dtype: 'int32' }] }],
  ])
    await expect(load({ ...complete, '/m/model.json': tfjs(wrong) })).rejects.toMatchObject({
      code: 'model-format',
      message: expect.stringContaining('weightsManifest'),
    });
  await expect(load({ '/m/model.json': tfjs(), '/m/a.bin': shard(20) })).rejects.toMatchObject({
    code: 'model-not-found',
    message: expect.stringContaining('b.bin'),
  });
  await expect(load({ ...complete, '/m/b.bin': shard(3) })).rejects.toMatchObject({
    code: 'model-format',
    message: expect.stringMatching(/24 bytes.*hold 23/),
  });
  for (const path of ['../secret.bin', '/secret.bin', 'https://evil.example/a.bin'])
    await expect(load({ '/m/model.json': tfjs([{ paths: [path], weights: [] }]) })).rejects.toMatchObject({
      code: 'model-format',
      message: expect.stringContaining('outside'),
    });
  const quantized = [
    {
      paths: ['a.bin'],
      weights: [{ name: 'w', shape: [20], dtype: 'float32', quantization: { dtype: 'uint8', scale: 1, min: 0 } }],
    },
  ];
  expect(Object.keys((await load({ ...complete, '/m/model.json': tfjs(quantized) })).files)).toHaveLength(2);
});

test('tabserve.json names the model in both formats: neither is downloaded before an engine needs it', async () => {
  const asked: string[] = [];
  const files: Record<string, string> = {
    '/m/MAR-INF/MANIFEST.json': manifest({ serializedFile: 'weights.pt' }),
    '/m/tabserve.json': '{ "models": { "onnx": "m.onnx", "tfjs": "tf/model.json" }, "more": 1 }',
    '/m/m.onnx': 'w',
    '/m/tf/model.json': tfjs(),
    '/m/tf/a.bin': shard(20),
    '/m/tf/b.bin': shard(4),
  };
  const fetch = ((url: URL) => (asked.push(url.pathname), server(files)(url))) as unknown as typeof globalThis.fetch;
  const archive = await fetchArchive('https://example.org/m', { fetch });
  expect(archive).toMatchObject({ models: { onnx: 'm.onnx', tfjs: 'tf/model.json' }, files: {} });
  const [onnx, both] = [
    await fetchModel(archive, 'onnx', { fetch }),
    await fetchModel(await fetchModel(archive, 'onnx', { fetch }), 'tfjs', { fetch }),
  ];
  expect(Object.keys(onnx.files)).toEqual(['m.onnx']);
  expect(Object.keys(both.files).sort()).toEqual(['m.onnx', 'tf/a.bin', 'tf/b.bin', 'tf/model.json']);
  const before = asked.length;
  expect(await fetchModel(both, 'tfjs', { fetch })).toBe(both);
  expect(asked).toHaveLength(before);
  expect(asked).not.toContain('/m/weights.pt');
});

test('a model that is missing in one of two formats: the error says how to use the other one', async () => {
  const files: Record<string, string> = {
    '/m/MAR-INF/MANIFEST.json': manifest({}),
    '/m/tabserve.json': '{ "models": { "onnx": "m.onnx", "tfjs": "tf/model.json" } }',
  };
  const load = async (engine: EngineName, more: object) => {
    const fetch = server({ ...files, ...more }) as typeof globalThis.fetch;
    return await fetchModel(await fetchArchive('https://example.org/m', { fetch }), engine, { fetch });
  };
  const missing = (path: string, format: EngineName, other: EngineName) => ({
    code: 'model-not-found',
    message: `https://example.org/m/${path} is missing: there is no such file, or a page of HTML instead. To use ${other}, name ${other}/wasm in backends, or remove models.${format} from tabserve.json.`,
  });
  const onnx = { '/m/m.onnx': 'w' };
  await expect(load('tfjs', onnx)).rejects.toMatchObject(missing('tf/model.json', 'tfjs', 'onnx'));
  await expect(load('onnx', {})).rejects.toMatchObject(missing('m.onnx', 'onnx', 'tfjs'));
  // Both remedies work.
  expect((await load('onnx', onnx)).files).toHaveProperty(['m.onnx']);
  files['/m/tabserve.json'] = '{ "models": { "onnx": "m.onnx" } }';
  expect((await load('onnx', onnx)).models).toEqual({ onnx: 'm.onnx' });
});

test('two layouts in one archive: each engine has its own config and golden examples', async () => {
  const folder = new URL('../../../models/two-layouts/', import.meta.url);
  const fetch = ((url: URL) => {
    try {
      return Promise.resolve(new Response(readFileSync(new URL(url.pathname.slice('/m/'.length), folder))));
    } catch {
      return Promise.resolve(new Response('', { status: 404 }));
    }
  }) as unknown as typeof globalThis.fetch;
  const archive = await fetchArchive('https://example.org/m/', { fetch, config: { handler: { topK: 2 } } });
  expect(archive.models).toEqual({ onnx: 'model.onnx', tfjs: 'tfjs/model.json' });
  const toTensor = [{ resize: [8, 8] }, 'toTensor'];
  expect(archiveFor(archive, 'onnx')).toMatchObject({
    config: { handler: { imageProcessing: toTensor, topK: 2 } },
    golden: ['golden.safetensors'],
  });
  expect(archiveFor(archive, 'tfjs')).toMatchObject({
    config: { handler: { imageProcessing: [...toTensor, { layout: 'NHWC' }], outputName: 'Identity_1', topK: 2 } },
    golden: ['tfjs/golden.safetensors'],
  });
  const { files } = await fetchModel(archive, 'tfjs', { fetch });
  expect(Object.keys(files).sort()).toEqual([
    'model-config.yaml',
    'tfjs/golden.safetensors',
    'tfjs/model.1of1.bin',
    'tfjs/model.json',
  ]);
  const [nchw, nhwc] = [
    readGolden(readFileSync(new URL('golden.safetensors', folder)), 'onnx'),
    readGolden(new Uint8Array(await files['tfjs/golden.safetensors']!.arrayBuffer()), 'tfjs'),
  ];
  expect([nchw.inputs['image']!.dims, nhwc.inputs['pixels']!.dims]).toEqual([
    [1, 3, 8, 8],
    [1, 8, 8, 3],
  ]);
  expect(nhwc.outputs['Identity_1']!.data).toEqual(nchw.outputs['logits']!.data);
});

test('tabserve.json that is wrong', async () => {
  const load = (text: string) =>
    get({ '/m/MAR-INF/MANIFEST.json': manifest({}), '/m/m.onnx': 'w', '/m/tabserve.json': text });
  expect((await load('{}')).models).toEqual({ onnx: 'm.onnx' });
  await expect(load('{')).rejects.toMatchObject({
    code: 'model-format',
    message: expect.stringContaining('tabserve.json'),
  });
  await expect(load('{ "models": {} }')).rejects.toMatchObject({
    code: 'model-format',
    message: expect.stringContaining('onnx or tfjs'),
  });
  await expect(load('{ "models": { "torch": "m.pt" } }')).rejects.toMatchObject({
    code: 'model-format',
    message: expect.stringContaining('models.torch'),
  });
  for (const path of ['"m.json"', '3', 'null']) {
    await expect(load(`{ "models": { "onnx": ${path} } }`)).rejects.toMatchObject({
      code: 'model-format',
      message: expect.stringContaining('.onnx'),
    });
  }
});

test("a voice of Piper's with its file beside it; another handler does not ask for it", async () => {
  const url = 'https://app.test/m/joe.onnx';
  const files = { '/m/joe.onnx': 'weights', '/m/joe.onnx.json': '{"a":1}' };
  const voice = await get(files, url, { handler: 'text_to_speech' });
  expect(Object.keys(voice.files).sort()).toEqual(['joe.onnx', 'joe.onnx.json']);
  expect(voice.manifest.model).toEqual({ modelName: 'joe', serializedFile: 'joe.onnx', extensions: 'joe.onnx.json' });
  const alone = await get({ '/m/joe.onnx': 'weights' }, url, { handler: 'text_to_speech' });
  expect(alone.manifest.model).toEqual({ modelName: 'joe', serializedFile: 'joe.onnx' });
  expect(Object.keys((await get(files, url, { handler: 'image_classifier' })).files)).toEqual(['joe.onnx']);
});

test('a model file with its tokenizer beside it, for a handler of texts: also as langchain4j names it', async () => {
  const url = 'https://example.org/m/minilm.onnx';
  const texts = { handler: 'text_feature_extractor' };
  const archive = await get(
    { '/m/minilm.onnx': 'weights', '/m/tokenizer.json': '{}', '/m/tokenizer_config.json': '{"a":1}' },
    url,
    texts,
  );
  expect(Object.keys(archive.files).sort()).toEqual(['minilm.onnx', 'tokenizer.json', 'tokenizer_config.json']);
  expect(archive.manifest.model.extensions).toBe('tokenizer.json,tokenizer_config.json');
  const named = await get({ '/m/minilm.onnx': 'weights', '/m/minilm-tokenizer.json': '{"b":2}' }, url, texts);
  expect(await named.files['tokenizer.json']!.text()).toBe('{"b":2}');
  // A handler of images needs none, and without a handler none is looked for.
  for (const options of [{ handler: 'image_classifier' }, {}])
    expect(Object.keys((await get({ '/m/minilm.onnx': 'w', '/m/tokenizer.json': '{}' }, url, options)).files)).toEqual([
      'minilm.onnx',
    ]);
});

test("a visitor's file: bare weights, of the one format that comes in one file", async () => {
  const options = { fetch: () => Promise.reject(new Error('no request is to be made')) };
  const archive = await fetchArchive(new File(['weights'], 'net.onnx'), options);
  expect(archive).toMatchObject({
    url: 'net.onnx',
    manifest: { model: { modelName: 'net', serializedFile: 'net.onnx' } },
    models: { onnx: 'net.onnx' },
  });
  const fetched = await fetchModel(archive, 'onnx', options);
  expect(await fetched.files['net.onnx']!.text()).toBe('weights');
  // The next worker gets what the first one has read.
  expect(await fetchModel(fetched, 'onnx', options)).toBe(fetched);
  await expect(fetchArchive(new File(['{}'], 'model.json'), options)).rejects.toMatchObject({
    code: 'model-format',
    message: expect.stringContaining('model.json'),
  });
});

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

test('integrity: what the caller expects is checked, from the manifest on; a contradiction to tabserve.json is an error', async () => {
  const files = {
    '/m/MAR-INF/MANIFEST.json': manifest({ configFile: 'c.yaml' }),
    '/m/c.yaml': 'batchSize: 2',
    '/m/m.onnx': 'weights',
    '/m/index_to_name.json': '{}',
    '/m/tabserve.json': JSON.stringify({ files: { 'm.onnx': { sha256: hash('weights') } } }),
  };
  const load = (integrity: Record<string, Integrity>) => get(files, 'https://example.org/m', { integrity });
  const good = Object.entries(files).map(([path, text]) => [
    path.slice('/m/'.length),
    { sha256: hash(text).toUpperCase(), bytes: text.length },
  ]);
  expect(await (await load(Object.fromEntries(good) as Record<string, Integrity>)).files['m.onnx']!.text()).toBe(
    'weights',
  );
  for (const path of Object.keys(files).map((one) => one.slice('/m/'.length)))
    await expect(load({ [path]: { sha256: hash('another') } }), path).rejects.toMatchObject({
      code: 'model-format',
      message: expect.stringMatching(
        path === 'm.onnx' ? /m\.onnx: the option "integrity" and tabserve\.json/ : /SHA-256/,
      ),
    });
  await expect(load({ 'm.onnx': { bytes: 6 } })).rejects.toMatchObject({ code: 'model-format' });
});

test('integrity: a metadata file that the HTTP cache has in another version is asked for once more past it, and that version is not kept', async () => {
  const good: Record<string, string> = {
    '/m/MAR-INF/MANIFEST.json': manifest({ configFile: 'model-config.yaml', extensions: 'tokenizer.json' }),
    '/m/model-config.yaml': 'batchSize: 2',
    '/m/index_to_name.json': '{"0":"new"}',
    '/m/tokenizer.json': '{"version":"1.0"}',
    '/m/m.onnx': 'w',
  };
  const entries = Object.entries(good).map(([path, text]) => [path.slice('/m/'.length), { sha256: hash(text) }]);
  for (const stale of Object.keys(good)) {
    const asked: (string | undefined)[] = [];
    const fetch = ((url: URL, { cache }: RequestInit) => {
      const { pathname } = url;
      if (pathname === '/m/tabserve.json')
        return Promise.resolve(new Response(JSON.stringify({ files: Object.fromEntries(entries) as object })));
      if (pathname === stale) asked.push(cache);
      const old = stale.endsWith('MANIFEST.json') ? good[stale]!.replace('"m"', '"old"') : '{"0":"old"}';
      return Promise.resolve(new Response(pathname === stale && cache !== 'reload' ? old : good[pathname]));
    }) as unknown as typeof globalThis.fetch;
    const store = memoryStore();
    const cache = new FileCache({
      store,
      visit: 1,
      clock: browserClock,
      locks: undefined,
      estimate: async () => ({}),
      warn: () => {},
    });
    const options = { fetch, cache, downloads: new Map() };
    const archive = await fetchModel(await fetchArchive('https://example.org/m/', options), 'onnx', options);
    expect(asked.at(-1), stale).toBe('reload');
    for (const [path, { sha256 }] of entries as [string, { sha256: string }][]) {
      const file = archive.files[path];
      if (file) expect(await hashOf([file]), path).toBe(sha256);
    }
    expect(archive.manifest.model.modelName).toBe('m');
    // Of what is kept, everything that has a hash is found by it.
    const kept = (await new CacheEntries(store).list()).filter(({ url }) => url.endsWith(stale));
    expect(
      kept.map(({ key }) => key),
      stale,
    ).toContain(`sha256 ${hash(good[stale]!)}`);
    expect(kept).toHaveLength(stale.endsWith('MANIFEST.json') ? 2 : 1);
  }
});

test('metadata that has no end is an error at its limit, whichever file it is', async () => {
  const files: Record<string, string> = {
    '/m/MAR-INF/MANIFEST.json': manifest({ configFile: 'model-config.yaml' }),
    '/m/tabserve.json': '{}',
    '/m/model-config.yaml': 'batchSize: 2',
    '/m/m.onnx': 'w',
  };
  const repository: Record<string, string> = {
    '/m/config.json': '{"architectures":["ViTForImageClassification"],"model_type":"vit","id2label":{"0":"a","1":"b"}}',
    '/m/preprocessor_config.json': '{}',
  };
  const run = async (served: Record<string, string>, endless: string): Promise<number> => {
    let sent = 0;
    const body = () =>
      new ReadableStream({
        pull: (controller) => {
          sent += 2 ** 20;
          controller.enqueue(new Uint8Array(2 ** 20));
        },
      });
    const good = server(served);
    const fetch = ((url: URL) =>
      url.pathname === endless ? Promise.resolve(new Response(body())) : good(url)) as typeof globalThis.fetch;
    await expect(fetchArchive('https://example.org/m/', { fetch }), endless).rejects.toMatchObject({
      code: 'model-format',
      message: expect.stringContaining(`${endless} has more than 4194304 bytes`),
    });
    return sent;
  };
  for (const path of Object.keys(files).slice(0, 3)) expect(await run(files, path)).toBeLessThan(2 ** 24);
  for (const path of Object.keys(repository)) expect(await run(repository, path)).toBeLessThan(2 ** 24);
});

test('integrity: an entry for a file that does not exist, or is spelled otherwise, is an error; of the caller as of tabserve.json', async () => {
  const files = (entry?: string) => ({
    '/m/MAR-INF/MANIFEST.json': manifest({}),
    '/m/m.onnx': 'weights',
    ...(entry !== undefined && { '/m/tabserve.json': JSON.stringify({ files: { [entry]: { bytes: 7 } } }) }),
  });
  for (const path of ['M.onnx', './m.onnx', '/m.onnx', 'm.ONNX', 'model.onnx', 'README.md', 'm.onnx ', 'constructor']) {
    const error = { code: 'model-format', message: expect.stringContaining(`"${path}"`) };
    await expect(get(files(), undefined, { integrity: { [path]: { bytes: 7 } } }), path).rejects.toMatchObject(error);
    await expect(get(files(path)), path).rejects.toMatchObject(error);
  }
  await expect(get(files('m.onnx'))).resolves.toBeTruthy();
  const bare = { '/m.onnx': 'weights' };
  await expect(
    get(bare, 'https://example.org/m.onnx', { integrity: { 'm.onnx': { bytes: 7 } } }),
  ).resolves.toBeTruthy();
  await expect(
    get(bare, 'https://example.org/m.onnx', { integrity: { 'n.onnx': { bytes: 7 } } }),
  ).rejects.toMatchObject({ message: expect.stringContaining('there are m.onnx') });
  const options = { fetch, integrity: { 'm.onnx': { sha256: hash('other') } } };
  await expect(fetchAll(new File(['weights'], 'm.onnx'), options)).rejects.toMatchObject({ code: 'model-format' });
});

test('integrity: entries for the weights of a format that is not needed yet wait until it is', async () => {
  const files = (entry: string) => ({
    '/m/MAR-INF/MANIFEST.json': manifest({}),
    '/m/tabserve.json': JSON.stringify({
      models: { onnx: 'm.onnx', tfjs: 'tf/model.json' },
      files: { [entry]: { bytes: 20 } },
    }),
    '/m/m.onnx': 'w',
    '/m/tf/model.json': tfjs(),
    '/m/tf/a.bin': shard(20),
    '/m/tf/b.bin': shard(4),
  });
  const open = async (entry: string, ...engines: EngineName[]) => {
    const options = { fetch: server(files(entry)) as typeof fetch };
    let archive = await fetchArchive('https://example.org/m', options);
    for (const engine of engines) archive = await fetchModel(archive, engine, options);
    return archive;
  };
  await expect(open('tf/a.bin', 'onnx', 'tfjs')).resolves.toBeTruthy();
  await expect(open('tf/c.bin', 'onnx')).resolves.toBeTruthy();
  await expect(open('tf/c.bin', 'onnx', 'tfjs')).rejects.toMatchObject({
    message: expect.stringContaining('"tf/c.bin"'),
  });
  await expect(open('TF/model.json', 'onnx')).rejects.toMatchObject({
    message: expect.stringContaining('"tf/model.json" is meant'),
  });
  await expect(open('c.bin', 'onnx')).rejects.toMatchObject({ message: expect.stringContaining('"c.bin"') });
});

test('without Web Crypto, as in an insecure context, hashes are checked all the same', async () => {
  const { crypto } = globalThis;
  Object.defineProperty(globalThis, 'crypto', { value: undefined, configurable: true });
  try {
    for (const text of ['', 'abc', 'x'.repeat(100_000)])
      expect(await hashOf([new Blob([text]), new Blob(['tail'])])).toBe(hash(`${text}tail`));
  } finally {
    Object.defineProperty(globalThis, 'crypto', { value: crypto, configurable: true });
  }
});

test('files that are too large to be read at once are hashed all the same', async () => {
  const { arrayBuffer } = Blob.prototype;
  // Of 2.5 GB, Chromium says this.
  Blob.prototype.arrayBuffer = () =>
    Promise.reject(new DOMException('The requested file could not be read.', 'NotReadableError'));
  try {
    const files = [new Blob(['x'.repeat(100_000)]), new Blob(['tail'])];
    expect(await hashOf(files)).toBe(hash(`${'x'.repeat(100_000)}tail`));
  } finally {
    Blob.prototype.arrayBuffer = arrayBuffer;
  }
});

test('integrity: an entry by the name __proto__ is an entry like any other', async () => {
  const entry = JSON.parse(`{ "__proto__": { "sha256": "${'0'.repeat(64)}" } }`) as Record<string, Integrity>;
  const error = { code: 'model-format', message: expect.stringContaining('"__proto__", which is no file of') };
  const files = { '/m/MAR-INF/MANIFEST.json': manifest({}), '/m/m.onnx': 'w' };
  await expect(get(files, undefined, { integrity: entry })).rejects.toMatchObject(error);
  await expect(get({ ...files, '/m/tabserve.json': JSON.stringify({ files: entry }) })).rejects.toMatchObject(error);
  const { integrity } = readDownloadSettings({ integrity: entry } as never);
  await expect(get(files, undefined, { integrity: structuredClone(integrity) })).rejects.toMatchObject(error);
});

test('ONNX external data: the files that the tensors name come with the model, also those of subgraphs', async () => {
  const folder = new URL('../../../models/external-data/', import.meta.url);
  const read = (path: string) => readFileSync(new URL(path, folder));
  const files = (model: string) => ({
    '/m/onnx/model.onnx': new Response(read(model)),
    '/m/onnx/model.onnx_data': new Response(read('model.onnx_data')),
    '/m/onnx/weights/biases.bin': new Response(read('weights/biases.bin')),
  });
  const archive = await get(files('model.onnx'), 'https://example.org/m/onnx/model.onnx');
  expect(Object.keys(archive.files).sort()).toEqual(['model.onnx', 'model.onnx_data', 'weights/biases.bin']);
  expect(archive.files['weights/biases.bin']!.size).toBe(64);
  const { files: nested } = await get(files('subgraphs.onnx'), 'https://example.org/m/onnx/model.onnx');
  expect(Object.keys(nested).sort()).toEqual(['model.onnx', 'model.onnx_data', 'weights/biases.bin']);
  await expect(
    get({ '/m/onnx/model.onnx': new Response(read('model.onnx')) }, 'https://example.org/m/onnx/model.onnx'),
  ).rejects.toMatchObject({ code: 'model-not-found', message: expect.stringMatching(/model.onnx_data|biases.bin/) });
  for (const model of ['outside.onnx', 'absolute.onnx', 'windows.onnx'])
    await expect(get(files(model), 'https://example.org/m/onnx/model.onnx')).rejects.toMatchObject({
      code: 'model-format',
      message: expect.stringContaining('secret.bin'),
    });
  const integrity = { 'weights/biases.bin': { bytes: 65 } };
  await expect(get(files('model.onnx'), 'https://example.org/m/onnx/model.onnx', { integrity })).rejects.toMatchObject({
    code: 'model-format',
  });
});
