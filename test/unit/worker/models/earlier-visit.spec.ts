import { createHash } from 'node:crypto';
import { expect, test } from '@playwright/test';
import type { FileProgress } from '../../../../src/contract/archive.ts';
import { fetchArchive, type ArchiveOptions, type ManifestFound } from '../../../../src/worker/models/archive.ts';
import { MAX_LABELS_BYTES } from '../../../../src/contract/limits.ts';
import { FileCache } from '../../../../src/worker/models/cache/file-cache.ts';
import { fetchModel } from '../../../../src/worker/models/model-files.ts';
import { browserClock } from '../../../../src/shared/clock.ts';
import { memoryStore } from '../../../memory-store.ts';
import { settle } from '../../support/fake-clock.ts';

const MANIFEST = 'MAR-INF/MANIFEST.json';
const manifestOf = (configFile: string): string =>
  JSON.stringify({ model: { modelName: 'm', serializedFile: 'm.onnx', configFile } });

/** Files by their path in the archive, as they are at first. */
const FILES = { [MANIFEST]: manifestOf('c.yaml'), 'c.yaml': 'batchSize: 1', 'm.onnx': 'weights' };

/** A server, and the visits of one visitor, who keeps a cache. */
function world(files: Record<string, string> = { ...FILES }) {
  const store = memoryStore();
  const held = new Map<string, Promise<void>>();
  /** The paths for which the server answers 403. */
  const refused = new Set<string>();
  /** The paths that were asked for in this visit, and those whose requests were aborted. */
  const asked: string[] = [];
  const givenUp: string[] = [];
  const fetch = (async (url: URL, { headers, signal }: RequestInit) => {
    const path = new URL(url).pathname.slice('/m/'.length);
    asked.push(path);
    // What is sent is what the server has when it is asked.
    const file = files[path];
    await Promise.race([held.get(path), aborted(signal!).finally(() => givenUp.push(path))]);
    if (refused.has(path)) return new Response('', { status: 403 });
    if (file === undefined) return new Response('', { status: 404 });
    const etag = `"${file}"`;
    const isKnown = (headers as Record<string, string>)['If-None-Match'] === etag;
    return new Response(isKnown ? null : file, { status: isKnown ? 304 : 200, headers: { etag } });
  }) as typeof globalThis.fetch;
  const open = (more: Partial<ArchiveOptions> = {}) => {
    asked.length = 0;
    const cache = new FileCache({
      store,
      visit: 1,
      clock: browserClock,
      locks: undefined,
      estimate: async () => ({}),
      warn: () => {},
    });
    const options = {
      fetch,
      cache,
      downloads: new Map(),
      pageOrigin: 'https://example.org',
      onManifest: () => {},
      ...more,
    };
    const loaded = async () => {
      const loaded = await fetchModel(await fetchArchive('https://example.org/m/', options), 'onnx', options);
      await cache.stored();
      return loaded;
    };
    return loaded();
  };
  /** Holds the server's answers for a path back, until the returned function is called. */
  const hold = (path: string): (() => void) => {
    let release!: () => void;
    held.set(path, new Promise((resolve) => (release = resolve)));
    return release;
  };
  return { files, asked, givenUp, refused, open, hold };
}

/** Rejects when the signal aborts, as `fetch` does. */
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

/**
 * Waits until the manifest was asked for, and no more requests come: names in the cache are hashed on another thread.
 */
async function quiet(asked: readonly string[]): Promise<void> {
  await expect.poll(() => asked).toContain(MANIFEST);
  for (let turns = 0, before = -1; turns < 20; turns = before === asked.length ? turns + 1 : 0) {
    before = asked.length;
    await crypto.subtle.digest('SHA-256', new Uint8Array(1));
    await settle();
  }
}

/** Notes what `onManifest` is called with. */
function listener() {
  const told: [Partial<ManifestFound['models']>, boolean][] = [];
  return { told, onManifest: ({ models }: ManifestFound, isCertain: boolean) => void told.push([models, isCertain]) };
}

test('at a later visit every file is asked for, once, while the server is asked for the manifest', async () => {
  const { asked, open, hold } = world();
  await open();
  const release = hold(MANIFEST);
  const { told, onManifest } = listener();
  const loading = open({ onManifest });
  await quiet(asked);
  expect(asked.toSorted()).toEqual([MANIFEST, 'c.yaml', 'index_to_name.json', 'm.onnx', 'tabserve.json']);
  expect(told).toEqual([[{ onnx: 'm.onnx' }, false]]);
  release();
  const { config, files } = await loading;
  expect(config).toEqual({ batchSize: 1 });
  expect(await files['m.onnx']!.text()).toBe('weights');
  expect(asked).toHaveLength(5);
  expect(told).toEqual([
    [{ onnx: 'm.onnx' }, false],
    [{ onnx: 'm.onnx' }, true],
  ]);
});

test('at a first visit nothing is asked for before the manifest is there', async () => {
  const { asked, open, hold } = world();
  const release = hold(MANIFEST);
  const { told, onManifest } = listener();
  const loading = open({ onManifest });
  await quiet(asked);
  expect(asked.toSorted()).toEqual([MANIFEST, 'tabserve.json']);
  release();
  await loading;
  expect(told).toEqual([[{ onnx: 'm.onnx' }, true]]);
});

test('no file that was asked for because of an old manifest is used with a new one', async () => {
  const { files, asked, open, hold } = world();
  await open();
  const release = hold(MANIFEST);
  Object.assign(files, { [MANIFEST]: manifestOf('new.yaml'), 'new.yaml': 'batchSize: 2' });
  const { told, onManifest } = listener();
  const loading = open({ onManifest });
  await quiet(asked);
  expect(asked, 'the server still has the old files').toContain('c.yaml');
  Object.assign(files, { 'm.onnx': 'new weights', 'index_to_name.json': '{"0":"new"}' });
  delete files['c.yaml'];
  release();
  const loaded = await loading;
  expect(loaded.config).toEqual({ batchSize: 2 });
  expect(await loaded.files['m.onnx']!.text()).toBe('new weights');
  expect(await loaded.files['index_to_name.json']!.text()).toBe('{"0":"new"}');
  expect(Object.keys(loaded.files)).not.toContain('c.yaml');
  expect(told.at(-1)).toEqual([{ onnx: 'm.onnx' }, true]);
});

test('a file that an old manifest named, and the server does not answer for, holds nothing up', async () => {
  const { files, open, hold } = world();
  await open();
  hold('c.yaml');
  Object.assign(files, { [MANIFEST]: manifestOf('new.yaml'), 'new.yaml': 'batchSize: 2' });
  expect((await open()).config).toEqual({ batchSize: 2 });
});

test('a copy that is not the manifest which the other copy names, as a stale cache between may leave it, says nothing', async () => {
  const [old, own] = [FILES[MANIFEST]!, manifestOf('new.yaml')];
  const sha256 = createHash('sha256').update(own).digest('hex');
  const { files, asked, open, hold } = world({
    ...FILES,
    'new.yaml': 'batchSize: 2',
    'tabserve.json': JSON.stringify({ files: { [MANIFEST]: { sha256 } } }),
  });
  // The first answer to every visit is the old manifest; asked again, by its hash, the server has the new one.
  let isStale = true;
  const answer = (): string => {
    isStale = !isStale;
    return isStale ? own : old;
  };
  Object.defineProperty(files, MANIFEST, { get: answer });
  expect((await open()).config).toEqual({ batchSize: 2 });
  isStale = true;
  const release = hold(MANIFEST);
  const { told, onManifest } = listener();
  const loading = open({ onManifest });
  await quiet(asked);
  expect(asked).not.toContain('c.yaml');
  release();
  expect((await loading).config).toEqual({ batchSize: 2 });
  expect(told.map(([, isCertain]) => isCertain)).not.toContain(false);
});

test('the progress of a file is not told before it is certain that it is needed', async () => {
  const { asked, open, hold } = world();
  await open();
  const release = hold(MANIFEST);
  const told: FileProgress[] = [];
  const loading = open({ onProgress: (progress) => told.push(progress) });
  await quiet(asked);
  expect(told).toEqual([]);
  release();
  await loading;
  expect(new Set(told.map(({ file }) => file))).toEqual(new Set([MANIFEST, 'c.yaml', 'm.onnx']));
  const model = told.filter(({ file }) => file === 'm.onnx').map(({ loaded }) => loaded);
  expect([model[0], model.at(-1)]).toEqual([0, FILES['m.onnx'].length]);
});

test('what was stored of a private archive asks for nothing', async () => {
  const { asked, open, hold } = world();
  const headers = { headers: { authorization: 'Bearer x' } };
  await open(headers);
  const release = hold(MANIFEST);
  const loading = open(headers);
  await quiet(asked);
  expect(asked.toSorted()).toEqual([MANIFEST, 'tabserve.json']);
  release();
  await loading;
});

test('if the manifest cannot be read, what was begun because of its copy is givenUp up', async () => {
  const { asked, givenUp, refused, open, hold } = world();
  await open();
  hold('m.onnx');
  const release = hold(MANIFEST);
  const loading = open();
  await quiet(asked);
  expect(asked).toContain('m.onnx');
  refused.add(MANIFEST);
  release();
  await expect(loading).rejects.toMatchObject({ code: 'network' });
  await expect.poll(() => givenUp).toContain('m.onnx');
});

test('at a later visit labels have the limit that they have at the first', async () => {
  const labels = JSON.stringify({ 0: 'x'.repeat(MAX_LABELS_BYTES) });
  const { files, open } = world();
  await open();
  files['index_to_name.json'] = labels;
  await expect(open()).rejects.toMatchObject({
    code: 'model-format',
    message: expect.stringContaining(String(MAX_LABELS_BYTES)),
  });
});

test('offline, the archive of the last visit is read', async () => {
  const { open } = world();
  await open();
  const offline = (async () => Promise.reject(new TypeError('Failed to fetch'))) as unknown as typeof fetch;
  expect((await open({ fetch: offline })).config).toEqual({ batchSize: 1 });
});

for (const damaged of ['{', '{"model":{}}'])
  test(`a manifest that was stored as ${damaged} says nothing, and the server's is used`, async () => {
    const { files, open } = world({ ...FILES, [MANIFEST]: damaged });
    await expect(open()).rejects.toMatchObject({ code: 'model-format' });
    files[MANIFEST] = FILES[MANIFEST];
    expect((await open()).config).toEqual({ batchSize: 1 });
  });
