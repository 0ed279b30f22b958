import { createHash } from 'node:crypto';
import { mkdtempSync, openAsBlob, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { errorFromData, errorToData, type ErrorData } from '../../../../src/contract/error-data.ts';
import { fetchArchive, type ArchiveLocation } from '../../../../src/worker/models/archive.ts';
import { fetchModel, hashModel, openFiles } from '../../../../src/worker/models/model-files.ts';
import { buildZip } from '../../support/zip-builder.ts';

/** Made by torch-model-archiver: `make.py` beside them. */
const ARCHIVES = new URL('../../../models/archives/', import.meta.url);
const bytes = (path: string): Uint8Array<ArrayBuffer> => Uint8Array.from(readFileSync(new URL(path, ARCHIVES)));
const picked = (name: string, content: BlobPart = bytes(name)): File => new File([content], name);

/** Every file of the folder that the archiver writes without an archive, by path. */
function folder(): Record<string, File> {
  const paths = readdirSync(new URL('tiny', ARCHIVES), { recursive: true, encoding: 'utf8' });
  return Object.fromEntries(
    paths.filter((path) => path.includes('.')).map((path) => [`tiny/${path}`, picked(path, bytes(`tiny/${path}`))]),
  );
}

const nothing = { fetch: () => Promise.reject(new Error('no request is to be made')) };
const open = async (from: ArchiveLocation, options: Parameters<typeof fetchArchive>[1] = nothing) =>
  await fetchModel(await fetchArchive(from, options), 'onnx', options);

const FORMS: Readonly<Record<string, () => ArchiveLocation>> = {
  'zip, deflated': () => picked('tiny.mar'),
  'zip, stored': () => picked('tiny-store.mar'),
  'a .zip': () => picked('tiny.zip', bytes('tiny.mar')),
  tgz: () => picked('tiny.tar.gz'),
  'a folder': folder,
};

for (const [form, from] of Object.entries(FORMS)) {
  test(`torch-model-archiver's ${form}: read in full, unchanged`, async () => {
    const archive = await open(from());
    expect(archive.manifest).toMatchObject({
      runtime: 'python',
      archiverVersion: '0.12.0',
      model: { serializedFile: 'tiny_classifier.onnx', handler: 'image_classifier' },
    });
    expect(archive.config).toMatchObject({ batchSize: 2, maxBatchDelay: 5, handler: { output: 'logits', topK: 3 } });
    const files = await openFiles(archive);
    for (const path of ['tiny_classifier.onnx', 'index_to_name.json', 'model-config.yaml', 'readme.txt']) {
      expect(files.has(path)).toBe(true);
      expect(Buffer.from(await files.bytes(path)).equals(bytes(`tiny/${path}`)), path).toBe(true);
    }
    expect(files.has('other.txt')).toBe(false);
    await expect(files.text('other.txt')).rejects.toMatchObject({ code: 'model-not-found' });
  });
}

test('a URL: one download with its progress, none when another worker opens the archive', async () => {
  const asked: string[] = [];
  const events: unknown[] = [];
  const size = bytes('tiny.mar').length;
  const options = {
    fetch: ((url: URL) => {
      asked.push(url.href);
      return Promise.resolve(new Response(bytes('tiny.mar'), { headers: { 'content-length': String(size) } }));
    }) as unknown as typeof fetch,
    onProgress: (progress: unknown) => events.push(progress),
    downloads: new Map(),
  };
  const archive = await fetchArchive('https://example.org/m/tiny.mar?v=3', options);
  expect(archive.url).toBe('https://example.org/m/tiny.mar?v=3');
  expect(events.at(-1)).toMatchObject({ file: 'tiny.mar', loaded: size, total: size });
  // Another worker gets what the page keeps.
  const again = await fetchModel(structuredClone(archive), 'onnx', nothing);
  expect(again.files['tiny_classifier.onnx']!.size).toBe(1330);
  expect(asked).toEqual(['https://example.org/m/tiny.mar?v=3']);
  const missing = { fetch: () => Promise.resolve(new Response('', { status: 404 })) };
  await expect(fetchArchive('https://example.org/m/tiny.mar', missing)).rejects.toMatchObject({
    code: 'model-not-found',
    message: expect.stringContaining('tiny.mar is missing'),
  });
});

test('packed bytes are kept as long as something in them was not read', async () => {
  const all = {
    'MAR-INF/MANIFEST.json': JSON.stringify({ model: { modelName: 'm', serializedFile: 'm.onnx' } }),
    'm.onnx': 'w',
  };
  const pack = (files: object): File =>
    picked('m.mar', buildZip(Object.entries(files).map(([name, data]) => ({ name, data, method: 8 }))));
  const whole = await open(pack(all));
  expect(whole.local).toEqual({});
  const fromServer = await openFiles({ ...whole, url: 'https://example.org/m/tiny.mar' });
  expect(fromServer.url?.('m.onnx'), 'a file that was unpacked has no URL').toBeUndefined();
  expect((await open(pack({ ...all, 'vocab.txt': 'v' }))).local).toBeInstanceOf(File);
});

test('without a manifest: the only model is the model', async () => {
  const onnx = picked('net.onnx', 'weights');
  const zipped = picked(
    'net.zip',
    buildZip([{ name: 'net/net.onnx', data: 'weights' }, { name: '__MACOSX/._net.onnx' }]),
  );
  for (const from of [onnx, { 'net.onnx': onnx, 'index_to_name.json': picked('index_to_name.json', '{}') }, zipped]) {
    const archive = await open(from);
    expect(archive).toMatchObject({ manifest: { model: { modelName: 'net' } }, models: { onnx: 'net.onnx' } });
    expect(await archive.files['net.onnx']!.text()).toBe('weights');
  }
  const weights = [{ paths: ['a.bin'], weights: [{ name: 'w', shape: [1], dtype: 'uint8' }] }];
  const json = picked('model.json', JSON.stringify({ modelTopology: {}, weightsManifest: weights }));
  const tfjs = await fetchModel(
    await fetchArchive({ 'model.json': json, 'a.bin': picked('a.bin', 'x') }, nothing),
    'tfjs',
    nothing,
  );
  expect(Object.keys(tfjs.files).sort()).toEqual(['a.bin', 'model.json']);
  await expect(fetchArchive({ 'a.onnx': onnx, 'b.onnx': onnx }, nothing)).rejects.toMatchObject({
    code: 'model-not-found',
    message: expect.stringMatching(/MANIFEST\.json.*a\.onnx, b\.onnx/),
  });
});

test('tabserve.json holds for packed archives too', async () => {
  const pack = (sha256: string): File =>
    picked(
      'm.mar',
      buildZip([
        {
          name: 'MAR-INF/MANIFEST.json',
          data: JSON.stringify({ model: { modelName: 'm', serializedFile: 'm.onnx' } }),
        },
        { name: 'm.onnx', data: 'weights', method: 8 },
        { name: 'tabserve.json', data: JSON.stringify({ files: { 'm.onnx': { sha256 } } }) },
      ]),
    );
  await open(pack(createHash('sha256').update('weights').digest('hex')));
  await expect(open(pack('0'.repeat(64)))).rejects.toMatchObject({
    code: 'model-format',
    message: expect.stringMatching(/m\.onnx has the SHA-256 [\da-f]{64}, expected 0{64}/),
  });
});

for (const [what, change] of [
  ['changed', (path: string) => writeFileSync(path, 'another file, which is longer than the one before was')],
  ['was deleted', (path: string) => rmSync(path)],
] as const)
  test(`a picked file that ${what} since is one typed error, whatever it was and when it is noticed`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'picked-'));
    const error = { code: 'model-not-found', message: expect.stringMatching(/cannot be read any more.*pick it again/) };
    /** A file of the disk, as a browser hands it out. */
    const pick = async (name: string, content: string | Uint8Array) => {
      const path = join(folder, name);
      writeFileSync(path, content);
      return { file: new File([await openAsBlob(path)], name), change: () => change(path) };
    };
    try {
      for (const name of ['tiny.mar', 'tiny-store.mar', 'tiny.tar.gz']) {
        const before = await pick(name, bytes(name));
        before.change();
        await expect(open(before.file), name).rejects.toMatchObject(error);
        // After the archive was read: when a worker opens the model, or another file of it.
        const after = await pick(`later-${name}`, bytes(name));
        const archive = await open(after.file);
        const rest = await openFiles(archive);
        after.change();
        if (name !== 'tiny-store.mar') continue;
        await expect(rest.bytes('tiny_classifier.onnx')).rejects.toMatchObject(error);
        await expect(rest.text('readme.txt')).rejects.toMatchObject(error);
        await expect(hashModel(archive, 'onnx')).rejects.toMatchObject(error);
      }
      const onnx = await pick('net.onnx', 'weights');
      const integrity = { 'net.onnx': { sha256: createHash('sha256').update('weights').digest('hex') } };
      onnx.change();
      await expect(open(onnx.file)).rejects.toMatchObject(error);
      await expect(open(onnx.file, { ...nothing, integrity })).rejects.toMatchObject(error);
      const [config, model] = [await pick('config.json', '{}'), await pick('model.onnx', 'x')];
      config.change();
      await expect(open({ 'config.json': config.file, 'model.onnx': model.file })).rejects.toMatchObject(error);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

test('a picked file that became shorter within the second is noticed, too', async () => {
  /** A browser compares the seconds of the time, and reads to the new end. */
  class Shorter extends File {
    override slice(): Blob {
      return new Shorter(['PK'], this.name);
    }
    override arrayBuffer(): Promise<ArrayBuffer> {
      return new Blob(['P']).arrayBuffer();
    }
  }
  await expect(open(new Shorter([bytes('tiny.mar')], 'tiny.mar'))).rejects.toMatchObject({
    code: 'model-not-found',
    message: expect.stringContaining('tiny.mar cannot be read any more'),
  });
});

test('what cannot run in a browser is refused, with what to do instead', async () => {
  const refusal = async (name: string) => {
    const error = await open(picked(name)).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return errorFromData(errorToData(error) as ErrorData);
  };
  expect(await refusal('pytorch.mar')).toMatchObject({
    code: 'model-format',
    message: expect.stringMatching(/weights\.pt.*torch\.onnx\.export/),
  });
  expect(await refusal('no-model.mar')).toMatchObject({
    code: 'model-format',
    message: expect.stringMatching(/no serializedFile.*\.onnx/),
  });
  expect(await refusal('no-golden.mar')).toMatchObject({
    code: 'model-not-found',
    message: expect.stringMatching(/no-golden\.mar has no file "missing\.safetensors"/),
  });
});

test("torch-workflow-archiver's .war: a graph whose models lie beside it, or in it", async () => {
  const url = 'https://example.org/store/pair.war';
  const fetch = (() => Promise.resolve(new Response(bytes('pair.war')))) as typeof globalThis.fetch;
  const archive = await fetchArchive(url, { fetch });
  expect(archive.manifest).toEqual({ model: { modelName: 'pair', handler: 'graph_workflow' } });
  const beside = { archive: 'https://example.org/store/tiny.mar' };
  expect(archive.config).toEqual({
    minWorkers: 1,
    maxWorkers: 2,
    batchSize: 4,
    nodes: { first: beside, second: beside },
    handler: {
      dag: { first: [], second: [] },
      nodeSettings: {
        first: { batchSize: 2, maxBatchDelay: 100, retryAttempts: 1, timeout: 30_000 },
        second: { batchSize: 4, maxBatchDelay: 100, retryAttempts: 1 },
      },
    },
  });
  // What the app sets wins.
  const own = await fetchArchive(url, { fetch, config: { batchSize: 1, handler: { dag: { first: ['second'] } } } });
  expect(own.config).toMatchObject({ batchSize: 1, handler: { dag: { first: ['second'] } } });
  // A file that the visitor has picked has nothing beside it.
  expect((await fetchArchive(picked('workflow.war'), nothing)).config.nodes).toEqual({ tiny: { archive: 'tiny.mar' } });
});

test("the caller's integrity: of the packed file, of a file in it, and of one that is not there", async () => {
  const sha256 = createHash('sha256').update(bytes('tiny.mar')).digest('hex');
  const onnx = createHash('sha256').update(bytes('tiny/tiny_classifier.onnx')).digest('hex');
  const wrong = '0'.repeat(64);
  const url = 'https://example.org/tiny.mar';
  const fetch = (() => Promise.resolve(new Response(bytes('tiny.mar')))) as typeof globalThis.fetch;
  for (const from of [url, picked('tiny.mar')]) {
    const withIntegrity = (integrity: object) =>
      open(from, { fetch, found: new Set(), integrity: integrity as Record<string, object> });
    await withIntegrity({
      'tiny.mar': { sha256 },
      'tiny_classifier.onnx': { sha256: onnx },
      'readme.txt': { bytes: 152 },
    });
    for (const path of ['tiny.mar', 'tiny_classifier.onnx', 'MAR-INF/MANIFEST.json'])
      await expect(withIntegrity({ [path]: { sha256: wrong } }), path).rejects.toMatchObject({
        code: 'model-format',
        message: expect.stringContaining(`${path} has the SHA-256`),
      });
    for (const path of ['Tiny_classifier.onnx', './tiny_classifier.onnx', 'other.onnx'])
      await expect(withIntegrity({ [path]: { sha256: onnx } }), path).rejects.toMatchObject({
        code: 'model-format',
        message: expect.stringContaining(`"${path}"`),
      });
  }
});
