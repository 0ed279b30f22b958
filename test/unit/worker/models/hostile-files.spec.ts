import { expect, test } from '@playwright/test';
import { fetchArchive, type ArchiveOptions } from '../../../../src/worker/models/archive.ts';
import { fetchModel, openFiles } from '../../../../src/worker/models/model-files.ts';
import type { EngineName } from '../../../../src/contract/backends.ts';
import { createFiles } from '../../../../src/worker/models/files.ts';
import { imageProcessingOf } from '../../../../src/worker/models/hugging-face/image-processing.ts';
import { maxLengthOf } from '../../../../src/worker/models/hugging-face/inputs.ts';
import { readWeightsManifest } from '../../../../src/worker/models/shards.ts';
import { openZip } from '../../../../src/worker/models/sources/zip.ts';
import { parseLabels } from '../../../../src/worker/outputs/labels.ts';
import { buildZip } from '../../support/zip-builder.ts';

/** A server with these files, and 404 for the rest, that counts requests. */
function server(files: Record<string, string>) {
  const asked: string[] = [];
  const fetch = (async (url: URL) => {
    asked.push(url.pathname);
    const file = files[url.pathname];
    return file === undefined ? new Response('', { status: 404 }) : new Response(file);
  }) as typeof globalThis.fetch;
  return { fetch, asked };
}

const nothing = { fetch: () => Promise.reject(new Error('no request is to be made')) };
const manifest = (model: object = {}) =>
  JSON.stringify({ model: { modelName: 'm', serializedFile: 'm.onnx', ...model } });
const blobs = (files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [path, new Blob([text])]));
const picked = async (from: Record<string, string> | File, options: Partial<ArchiveOptions> = {}) => {
  const archive = await fetchArchive(from instanceof File ? from : blobs(from), { ...nothing, ...options });
  return await fetchModel(archive, Object.keys(archive.models)[0] as EngineName, nothing);
};
const names = (count: number) => Array.from({ length: count }, (_, at) => `g${at}`);
const formatError = (message: string | RegExp) => ({
  name: 'TabServeError',
  code: 'model-format',
  message: typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
});

test.describe('what names files', () => {
  const load = async (model: object, extras: object = {}) => {
    const { fetch, asked } = server({
      '/m/MAR-INF/MANIFEST.json': manifest(model),
      '/m/tabserve.json': JSON.stringify(extras),
      '/m/m.onnx': 'w',
    });
    const error: unknown = await fetchArchive('https://example.org/m', { fetch })
      .then((archive) => fetchModel(archive, 'onnx', { fetch }))
      .then(
        () => undefined,
        (reason: unknown) => reason,
      );
    return { error, asked };
  };

  test('lists of a hundred thousand names are refused before a file of them is asked for', async () => {
    for (const [model, extras, why] of [
      [{}, { golden: names(100_000) }, 'golden names 100000 golden examples; a model may have 64'],
      [{}, { models: { onnx: { file: 'm.onnx', golden: names(65) } } }, 'models.onnx.golden names 65'],
      [{}, { files: Object.fromEntries(names(10_001).map((name) => [name, {}])) }, 'files has 10001 entries'],
      [{ extensions: names(100_000).join() }, {}, 'model.extensions names more than 10000 files'],
    ] as const) {
      const { error, asked } = await load(model, extras);
      expect(error).toMatchObject(formatError(why));
      expect(asked.length).toBeLessThan(5);
    }
  });

  test('the first failure stops the other downloads', async () => {
    let aborted = 0;
    const fetch = ((url: URL, { signal }: RequestInit) => {
      if (url.pathname === '/m/MAR-INF/MANIFEST.json')
        return Promise.resolve(new Response(manifest({ extensions: 'gone.txt, slow.txt' })));
      if (!/m\.onnx|slow/.test(url.pathname)) return Promise.resolve(new Response('', { status: 404 }));
      return new Promise((_, reject) => {
        signal!.addEventListener('abort', () => {
          aborted += 1;
          reject(signal!.reason as Error);
        });
      });
    }) as typeof globalThis.fetch;
    const archive = await fetchArchive('https://example.org/m', { fetch });
    await expect(fetchModel(archive, 'onnx', { fetch })).rejects.toMatchObject({
      code: 'model-not-found',
      message: expect.stringContaining('gone.txt'),
    });
    expect(aborted).toBe(2);
  });

  test('a shard is named once, and shards have the bytes of the weights', async () => {
    const model = (paths: readonly string[], weights: readonly object[] = []) =>
      JSON.stringify({ modelTopology: {}, weightsManifest: [{ paths, weights }] });
    expect(() => readWeightsManifest(model(Array(100).fill('w.bin')), 'model.json')).toThrow('it names "w.bin" twice');
    expect(() => readWeightsManifest(model(names(10_001)), 'model.json')).toThrow('more than 10000 files');
    const two = { name: 'w', dtype: 'float32', shape: [2] };
    const load = (text: string, shard: string) => picked({ 'model.json': text, 'w.bin': shard });
    await expect(load(model(['w.bin']), 'x'.repeat(1000))).rejects.toMatchObject(
      formatError('describes 0 bytes of weights, but w.bin hold 1000'),
    );
    for (const size of [7, 9])
      await expect(load(model(['w.bin'], [two]), 'x'.repeat(size))).rejects.toMatchObject(
        formatError('describes 8 bytes'),
      );
    expect(Object.keys((await load(model(['w.bin'], [two]), 'x'.repeat(8))).files)).toHaveLength(2);
    // The length of strings is in their bytes.
    const texts = { name: 's', dtype: 'string', shape: [2] };
    expect(Object.keys((await load(model(['w.bin'], [two, texts]), 'x'.repeat(20))).files)).toHaveLength(2);
  });
});

test('the list of a zip file is read once', async () => {
  const packed = buildZip([
    { name: 'MAR-INF/MANIFEST.json', data: manifest() },
    { name: 'm.onnx', data: 'w' },
  ]);
  const list = Buffer.from(packed).indexOf('PK\u0001\u0002');
  let reads = 0;
  class Counting extends File {
    override slice(start = 0, end = this.size): Blob {
      if (start === list) reads += 1;
      return super.slice(start, end);
    }
  }
  const file = new Counting([packed], 'm.mar');
  const archive = await fetchArchive(file, nothing);
  const once = reads;
  expect(once).toBeGreaterThan(0);
  expect((await fetchModel(archive, 'onnx', nothing)).files).toHaveProperty(['m.onnx']);
  await openFiles(archive);
  expect(reads).toBe(once);
  await openZip('m.mar', file);
  expect(reads).toBe(2 * once);
});

test.describe('labels', () => {
  const many = Array.from({ length: 200_000 }, (_, at) => [String(at), `label ${at}`] as const);

  test('200,000 in little time; more than 250,000 are refused', () => {
    const value = Object.fromEntries(many);
    const started = process.cpuUsage().user;
    expect(Object.keys(parseLabels(value, 'x'))).toHaveLength(200_000);
    expect((process.cpuUsage().user - started) / 1000).toBeLessThan(1000);
    for (const labels of [Array(1_000_000).fill('a'), { object_type_names: Array(250_001).fill('a') }])
      expect(() => parseLabels(labels, 'x')).toThrow(expect.objectContaining(formatError('there may be 250000')));
  });

  test('a file of more than 16 MiB is not parsed', async () => {
    const files = createFiles({ 'index_to_name.json': `["${'x'.repeat(2 ** 24)}"]` });
    await expect(files.json('index_to_name.json')).rejects.toMatchObject(formatError('it may have at most 16777216'));
  });
});

test.describe('names as desktops write them', () => {
  const nfd = 'mode\u0300le.onnx';
  const zip = (...files: readonly string[]) =>
    new File(
      [
        buildZip(
          files.map((name) => ({ name, data: name.endsWith('MANIFEST.json') ? manifest() : 'w', flags: 0x800 })),
        ),
      ],
      'm.mar',
    );

  test('letters with accents, composed or not, in the manifest, in files and in hashes', async () => {
    expect(nfd.normalize()).not.toBe(nfd);
    for (const inManifest of [nfd, nfd.normalize()])
      for (const file of [nfd, nfd.normalize()])
        for (const key of [nfd, nfd.normalize()]) {
          const files = { 'MAR-INF/MANIFEST.json': manifest({ serializedFile: inManifest }), [file]: 'w' };
          for (const extras of [{}, { 'tabserve.json': JSON.stringify({ files: { [key]: { bytes: 1 } } }) }]) {
            const archive = await picked({ ...files, ...extras }, { integrity: { [key]: { bytes: 1 } } });
            expect(await (await openFiles(archive)).text(archive.models.onnx!)).toBe('w');
            expect(archive.unmatched).toEqual([]);
          }
          await expect(picked(files, { integrity: { [key]: { bytes: 2 } } })).rejects.toMatchObject(
            formatError('expected 2'),
          );
          const extras = { 'tabserve.json': JSON.stringify({ files: { [key]: { bytes: 2 } } }) };
          await expect(picked({ ...files, ...extras })).rejects.toMatchObject(formatError('expected 2'));
        }
    expect(
      Object.keys((await picked(new File(['w'], nfd), { integrity: { [nfd]: { bytes: 1 } } })).files),
    ).toHaveLength(1);
    await expect(
      picked({ [nfd]: 'w' }, { integrity: { [nfd]: { bytes: 1 }, [nfd.normalize()]: { bytes: 2 } } }),
    ).rejects.toMatchObject(formatError('different files'));
  });

  test('what macOS and Windows leave beside the folder', async () => {
    for (const junk of [
      '._digits',
      '.DS_Store',
      'Thumbs.db',
      'desktop.ini',
      '__MACOSX/digits/._m.onnx',
      'digits/._m.onnx',
    ]) {
      const archive = await picked(zip(junk, 'digits/MAR-INF/MANIFEST.json', 'digits/m.onnx'));
      expect(Object.keys(archive.files), junk).toEqual(['m.onnx']);
    }
  });
});

test.describe('what a newcomer picks', () => {
  test('a model without a manifest: its model-config.yaml is read, below the options', async () => {
    const files = {
      'm.onnx': 'w',
      'index_to_name.json': '["a"]',
      'model-config.yaml': 'handler: {topK: 1, output: logits}',
    };
    const archive = await picked(files, { config: { handler: { topK: 2 } } });
    expect(archive.config).toEqual({ handler: { topK: 2, output: 'logits' } });
    await expect(picked({ ...files, 'model-config.yaml': '[' })).rejects.toMatchObject({ code: 'model-config' });
  });

  test('two models: which one', async () => {
    await expect(picked({ 'a.onnx': 'w', 'b.onnx': 'w' })).rejects.toMatchObject({
      code: 'model-not-found',
      message: expect.stringMatching(/a\.onnx, b\.onnx\. Which of its 2 models is meant\?/),
    });
  });

  test('a pointer of Git LFS, on a server, picked, or packed', async () => {
    const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n';
    const { fetch } = server({ '/m.onnx': pointer, '/m.mar': pointer });
    const load = async (url: string) => fetchModel(await fetchArchive(url, { fetch }), 'onnx', { fetch });
    for (const work of [
      () => load('https://example.org/m.onnx'),
      () => load('https://example.org/m.mar'),
      () => picked({ 'm.onnx': pointer }),
      () => picked(new File([pointer], 'm.onnx')),
      () => picked(new File([pointer], 'm.mar')),
    ])
      await expect(work()).rejects.toMatchObject(formatError(/m\.(onnx|mar) is a pointer of Git LFS.*git lfs pull/));
  });

  test('a file cut short: what to do', async () => {
    const packed = buildZip([{ name: 'MAR-INF/MANIFEST.json', data: manifest() }], { cut: 5 });
    await expect(picked(new File([packed], 'trunc.mar'))).rejects.toMatchObject(
      formatError(/^trunc\.mar is a damaged zip.*Download or copy it again/),
    );
  });
});

test.describe('fields of Hugging Face that no value follows from', () => {
  for (const [field, value, more] of [
    ['resample', 'constructor', {}],
    ['resample', '__proto__', {}],
    ['resample', '2', {}],
    ['crop_pct', 0, { image_processor_type: 'ConvNextImageProcessor', size: { shortest_edge: 224 } }],
    ['crop_pct', -1, { image_processor_type: 'ConvNextImageProcessor', size: { shortest_edge: 224 } }],
    ['crop_pct', '0.5', { image_processor_type: 'PoolFormerImageProcessor' }],
  ] as const)
    test(`${field}: ${JSON.stringify(value)}`, () => {
      const processor = { image_processor_type: 'ViTImageProcessor', ...more, [field]: value };
      expect(() => imageProcessingOf(processor, {})).toThrow(
        expect.objectContaining({ code: 'model-config', message: expect.stringContaining(`: ${field} is `) }),
      );
    });

  test('positions of RoBERTa', () => {
    const roberta = { model_type: 'roberta', max_position_embeddings: 514 };
    expect(maxLengthOf(roberta, {})).toEqual({ maxLength: 512 });
    expect(maxLengthOf({ ...roberta, pad_token_id: 0 }, {})).toEqual({ maxLength: 513 });
    // The halves of texts of CLAP and AltCLIP are RoBERTas.
    for (const type of ['clap_text_model', 'altclip_text_model'])
      expect(maxLengthOf({ ...roberta, model_type: type }, {})).toEqual({ maxLength: 512 });
    for (const [field, value] of [
      ['pad_token_id', 'x'],
      ['pad_token_id', -1],
      ['max_position_embeddings', 1],
      ['max_position_embeddings', 2],
    ] as const)
      expect(() => maxLengthOf({ ...roberta, [field]: value }, {})).toThrow(
        expect.objectContaining({ code: 'model-config', message: expect.stringContaining(`${field} is `) }),
      );
  });
});
