import { expect, test } from '@playwright/test';
import { TabServeError } from '../../../../../src/contract/errors.ts';
import { FileCache, type Download, type DownloadedFile } from '../../../../../src/worker/models/cache/file-cache.ts';
import type { FileRequest } from '../../../../../src/worker/models/cache/file-request.ts';
import type { BlobStore } from '../../../../../src/shared/cache/blob-store.ts';
import { CacheEntries, idOf } from '../../../../../src/shared/cache/cache-entries.ts';
import { memoryStore } from '../../../../memory-store.ts';
import { failuresOf } from '../../../../browser/cache/store-contract.ts';
import { FakeClock, settle } from '../../../support/fake-clock.ts';
import { FakeLocks } from '../../../support/fake-locks.ts';

const URL = 'https://example.org/m/model.onnx';
const SHA = 'a'.repeat(64);

interface World {
  store?: BlobStore;
  locks?: FakeLocks;
  clock?: FakeClock;
  estimate?: () => Promise<StorageEstimate>;
}

function world({ store = memoryStore(), locks = new FakeLocks(), clock = new FakeClock(), estimate }: World = {}) {
  const warnings: string[] = [];
  let visits = 0;
  const open = (): FileCache =>
    new FileCache({
      store,
      visit: ++visits,
      clock,
      locks,
      estimate: estimate ?? (async () => ({ quota: 1000, usage: 0 })),
      warn: (message) => warnings.push(message),
    });
  /** A visit: a worker with a cache of its own, on the same store. It ends when its files are stored. */
  const visit = (): Pick<FileCache, 'get'> => {
    const cache = open();
    const get: FileCache['get'] = async (...request) => {
      const blob = await cache.get(...request);
      await cache.stored();
      return blob;
    };
    return { get };
  };
  return { store, locks, clock, warnings, open, visit, entries: new CacheEntries(store) };
}

/** A server of one file. It notes the validators of each request. */
function server(file: Partial<DownloadedFile> & { text?: string } = { text: 'v1' }) {
  const asked: unknown[] = [];
  const state = { file: file as typeof file | undefined, error: undefined as Error | undefined };
  const download: Download = async (validators, onBytes) => {
    asked.push(validators);
    if (state.error) throw state.error;
    if (!state.file) return undefined;
    const { text, etag, lastModified, isStorable = true } = state.file;
    if (etag !== undefined && validators?.etag === etag) return 'not-modified';
    if (lastModified !== undefined && validators?.lastModified === lastModified) return 'not-modified';
    const blob = new Blob([text!]);
    onBytes(blob.size, blob.size);
    return { blob, etag, lastModified, isStorable };
  };
  return { asked, state, download };
}

const offline = new TabServeError('network', 'no connection', { cause: new TypeError('Failed to fetch') });
const text = async (blob: Blob | undefined): Promise<string | undefined> => await blob?.text();
const never = (): Promise<never> => new Promise(() => {});

/** Resolves when `is` returns true: keys are hashed on another thread, so no number of turns is enough. */
async function until(is: () => boolean): Promise<void> {
  while (!is()) await settle();
}

test('the store in memory does what every store must do', async () => {
  expect(await failuresOf(memoryStore())).toEqual({});
});

for (const [what, request] of [
  ['its hash', { url: URL, sha256: SHA }],
  ['its version', { url: URL, version: '1.30.0' }],
] as const) {
  test(`a file that is known by ${what} is downloaded once, and the server is not asked again`, async () => {
    const { visit } = world();
    const { download, asked, state } = server();
    expect(await text(await visit().get(request, download))).toBe('v1');
    state.error = offline;
    expect(await text(await visit().get(request, download))).toBe('v1');
    expect(asked).toEqual([undefined]);
  });
}

test('a hash finds the file at any URL, in capital letters too; another version of an engine is another file', async () => {
  const { visit } = world();
  const { download, asked } = server();
  await visit().get({ url: URL, sha256: SHA }, download);
  await visit().get({ url: 'https://example.org/other', sha256: SHA.toUpperCase() }, download);
  expect(asked).toHaveLength(1);
  await visit().get({ url: URL, version: '1' }, download);
  await visit().get({ url: URL, version: '2' }, download);
  expect(asked).toHaveLength(3);
});

for (const validators of [{ etag: '"1"' }, { lastModified: 'Sun, 01 Nov 2026 00:00:00 GMT' }]) {
  test(`a file without a hash is revalidated by ${Object.keys(validators)[0]}`, async () => {
    const { visit } = world();
    const { download, asked, state } = server({ text: 'v1', ...validators });
    await visit().get({ url: URL }, download);
    expect(await text(await visit().get({ url: URL }, download))).toBe('v1');
    expect(asked).toEqual([undefined, { etag: undefined, lastModified: undefined, ...validators }]);
    state.file = { text: 'v2', etag: '"2"' };
    expect(await text(await visit().get({ url: URL }, download))).toBe('v2');
    expect(await text(await visit().get({ url: URL }, download))).toBe('v2');
    expect(asked.at(-1)).toEqual({ etag: '"2"', lastModified: undefined });
  });
}

test('without validators a file is downloaded at each visit; offline the copy is used, with one warning', async () => {
  const { visit, warnings } = world();
  const { download, state } = server();
  const other = 'https://example.org/m/labels.json';
  const first = visit();
  for (const url of [URL, other]) await first.get({ url }, download);
  state.file = { text: 'v2' };
  const second = visit();
  for (const url of [URL, other]) expect(await text(await second.get({ url }, download))).toBe('v2');
  state.error = offline;
  const cache = visit();
  for (const url of [URL, other]) expect(await text(await cache.get({ url }, download))).toBe('v2');
  expect(warnings).toEqual(['Cached files are used: no connection']);
});

test('a copy is not used once the server has begun to send another version, if that breaks off', async () => {
  const breaksOff: Download = async (_, onBytes) => {
    onBytes(1, 2);
    throw offline;
  };
  for (const [validators, outcome] of [
    [{ etag: '"1"' }, 'no connection'],
    // It may be the same version: the server does not say.
    [{}, 'v1'],
  ] as const) {
    const { visit } = world();
    const { download } = server({ text: 'v1', ...validators });
    await visit().get({ url: URL }, download);
    const got = visit()
      .get({ url: URL }, breaksOff)
      .then(text, (error: Error) => error.message);
    expect(await got).toBe(outcome);
  }
  const { visit } = world();
  await visit().get({ url: URL }, async () => undefined);
  await expect(visit().get({ url: URL }, breaksOff), 'there was no such file').rejects.toThrow('no connection');
});

test('a copy that the server was not asked about never meets a new version of another file', async () => {
  const [model, labels] = [{ url: URL }, { url: 'https://example.org/m/labels.json' }];
  const begin = async () => {
    const own = world();
    const servers = { model: server({ text: 'v1', etag: '"1"' }), labels: server({ text: 'v1', etag: '"1"' }) };
    const earlier = own.visit();
    await earlier.get(model, servers.model.download);
    await earlier.get(labels, servers.labels.download);
    return { ...own, ...servers };
  };

  // The new version is there first: the file whose request was dropped is asked for like one without a copy, which is
  // tried several times.
  const first = await begin();
  first.model.state.file = first.labels.state.file = { text: 'v2', etag: '"2"' };
  const cache = first.visit();
  expect(await text(await cache.get(model, first.model.download))).toBe('v2');
  const dropsOnce: Download = async (validators, onBytes) => {
    if (validators) throw offline;
    return await first.labels.download(validators, onBytes);
  };
  expect(await text(await cache.get(labels, dropsOnce))).toBe('v2');
  expect(first.warnings).toEqual([]);
  const dropped = await begin();
  dropped.model.state.file = { text: 'v2', etag: '"2"' };
  dropped.labels.state.error = offline;
  const alone = dropped.visit();
  expect(await text(await alone.get(model, dropped.model.download))).toBe('v2');
  await expect(alone.get(labels, dropped.labels.download)).rejects.toMatchObject({
    code: 'network',
    message: expect.stringMatching(/^https:.*labels\.json cannot be downloaded, and its cached copy may be of another/),
    cause: offline,
  });

  // The copy is in use first: the new version is refused, and the next visit gets both.
  const second = await begin();
  second.model.state.file = second.labels.state.file = { text: 'v2', etag: '"2"' };
  second.labels.state.error = offline;
  const later = second.visit();
  expect(await text(await later.get(labels, second.labels.download))).toBe('v1');
  await expect(later.get(model, second.model.download)).rejects.toMatchObject({ code: 'network', retriable: true });
  await expect(later.get({ url: `${URL}2` }, second.model.download), 'one without a copy').rejects.toThrow('is new');
  expect((await second.entries.list()).map(({ etag }) => etag)).toEqual(['"1"', '"1"']);
  second.labels.state.error = undefined;
  const next = second.visit();
  for (const [request, { download }] of [
    [model, second.model],
    [labels, second.labels],
  ] as const)
    expect(await text(await next.get(request, download))).toBe('v2');
});

test('a copy that the server was not asked about is used beside files that it still has, and beside those that a hash or a version names', async () => {
  const { visit, warnings } = world();
  const [model, labels] = [server({ text: 'v1', etag: '"1"' }), server({ text: 'v1', etag: '"1"' })];
  const other = { url: 'https://example.org/m/labels.json' };
  const earlier = visit();
  await earlier.get({ url: URL }, model.download);
  await earlier.get(other, labels.download);
  const cache = visit();
  expect(await text(await cache.get({ url: URL }, model.download))).toBe('v1');
  expect(await text(await cache.get({ url: URL, sha256: SHA }, server().download))).toBe('v1');
  labels.state.error = offline;
  expect(await text(await cache.get(other, labels.download))).toBe('v1');
  expect(warnings).toEqual(['Cached files are used: no connection']);
  // A service worker may have some of the files, and does not say which versions.
  const plain = 'https://example.org/m/plain.json';
  await visit().get({ url: plain }, server().download);
  expect(await text(await cache.get({ url: plain }, server().download))).toBe('v1');
  expect(await text(await cache.get(other, labels.download))).toBe('v1');
  expect(await text(await cache.get({ url: URL, version: '2' }, server({ text: 'v2' }).download))).toBe('v2');
  expect(await text(await cache.get({ url: URL }, model.download))).toBe('v1');
});

/** An archive without hashes on a server. `get` reads some of its files in one visit; `isDown` is said of each. */
function unhashedArchive() {
  const own = world();
  const versions: Record<string, string> = {};
  const get = async (names: readonly string[], isDown: (name: string) => boolean = () => false): Promise<string> => {
    const cache = own.visit();
    const read = async (name: string): Promise<string | undefined> => {
      const { download } = server({ text: versions[name]!, etag: `"${versions[name]}"` });
      const dropped: Download = () => Promise.reject(offline);
      return await text(await cache.get({ url: `https://example.org/m/${name}` }, isDown(name) ? dropped : download));
    };
    const texts: (string | undefined)[] = [];
    try {
      for (const name of names) texts.push(await read(name));
      return texts.join(' ');
    } catch (error) {
      return (error as TabServeError).code;
    }
  };
  const offlineGet = (names: readonly string[]): Promise<string> => get(names, () => true);
  return { ...own, versions, get, offlineGet };
}

for (const order of [
  ['labels', 'model'],
  ['model', 'labels'],
] as const) {
  test(`offline, copies of two versions are not used together: ${order.join(', then ')}`, async () => {
    const { versions, get, offlineGet } = unhashedArchive();
    Object.assign(versions, { labels: 'l1', model: 'm1' });
    await get(order);
    // A visit that ends before the model of the new version is stored.
    Object.assign(versions, { labels: 'l2', model: 'm2' });
    expect(await get(['labels', 'model'], (name) => name === 'model')).toBe('network');
    expect(await offlineGet(order)).toBe('network');
    expect(await offlineGet(['labels'])).toBe('l2');
    expect(await offlineGet(['model'])).toBe('m1');
    // Nor is the one dropped request of a visit replaced by the copy.
    expect(await get(order, (name) => name === 'model')).toBe('network');
    expect(await get(order)).toBe(order[0] === 'labels' ? 'l2 m2' : 'm2 l2');
    expect(await offlineGet(order)).toBe(order[0] === 'labels' ? 'l2 m2' : 'm2 l2');
  });
}

test('offline, a file that one version changed is used with those that it left as they were', async () => {
  const { versions, get, offlineGet } = unhashedArchive();
  Object.assign(versions, { labels: 'l1', model: 'm1' });
  await get(['labels', 'model']);
  versions['labels'] = 'l2';
  expect(await get(['labels', 'model'])).toBe('l2 m1');
  expect(await offlineGet(['labels', 'model'])).toBe('l2 m1');
  expect(await offlineGet(['model', 'labels'])).toBe('m1 l2');
});

test('offline, each of the models that different visits needed is used, as long as nothing has changed', async () => {
  const { versions, get, offlineGet } = unhashedArchive();
  Object.assign(versions, { labels: 'l1', float16: 'h1', float32: 'f1' });
  await get(['labels', 'float16']);
  expect(await get(['labels', 'float32'])).toBe('l1 f1');
  expect(await offlineGet(['labels', 'float16'])).toBe('l1 h1');
  expect(await offlineGet(['labels', 'float32'])).toBe('l1 f1');
  // A visit in which one request is dropped changes nothing either.
  expect(await get(['labels', 'float16'], (name) => name === 'labels')).toBe('l1 h1');
  expect(await offlineGet(['labels', 'float32'])).toBe('l1 f1');
  // One that was stored in a visit that ended before the rest of the archive was confirmed.
  const { versions: others, get: visit, entries, offlineGet: later } = unhashedArchive();
  Object.assign(others, { labels: 'l1', float32: 'f1' });
  await visit(['labels']);
  await visit(['float32']);
  expect(await later(['labels', 'float32'])).toBe('network');
  expect(await visit(['labels', 'float32'])).toBe('l1 f1');
  expect(await later(['labels', 'float32'])).toBe('l1 f1');
  expect((await entries.list()).map(({ visit }) => visit)).toEqual([1, 2]);
});

test('a server without validators: a file that has not changed is not stored anew, and fits the others as before', async () => {
  const { visit, entries } = world();
  const [model, labels] = [server({ text: 'm1' }), server({ text: 'l1' })];
  const other = 'https://example.org/m/labels.json';
  const first = visit();
  await first.get({ url: URL }, model.download);
  await first.get({ url: other }, labels.download);
  const [before] = await entries.list();
  // A visit that ends before the model was sent again.
  await visit().get({ url: other }, labels.download);
  expect((await entries.list()).map(({ visit }) => visit)).toEqual([1, 1]);
  expect((await entries.list()).map(({ content }) => content)).toContain(before!.content);
  model.state.error = labels.state.error = offline;
  const last = visit();
  expect(await text(await last.get({ url: URL }, model.download))).toBe('m1');
  expect(await text(await last.get({ url: other }, labels.download))).toBe('l1');
});

test('a server that answers with an error is not replaced by the cache', async () => {
  const { visit } = world();
  const { download, state } = server({ text: 'v1', etag: '"1"' });
  await visit().get({ url: URL }, download);
  state.error = new TabServeError('network', 'the server answered 403');
  await expect(visit().get({ url: URL }, download)).rejects.toMatchObject({ message: 'the server answered 403' });
  state.error = new TabServeError('model-format', 'another hash');
  await expect(visit().get({ url: URL }, download)).rejects.toMatchObject({ code: 'model-format' });
});

test('offline, a file that the server did not have is still missing, and one that was never asked for is an error', async () => {
  const { visit } = world();
  const { download, state } = server();
  state.file = undefined;
  expect(await visit().get({ url: URL }, download)).toBeUndefined();
  state.error = offline;
  expect(await visit().get({ url: URL }, download)).toBeUndefined();
  await expect(visit().get({ url: `${URL}2` }, download)).rejects.toBe(offline);
});

test('a file that the server did not have, and still has not, is not stored again', async () => {
  const store = memoryStore();
  const { visit } = world({ store });
  const { download, state, asked } = server();
  state.file = undefined;
  await visit().get({ url: URL }, download);
  const written: string[] = [];
  const { write } = store;
  store.write = async (name, blob) => {
    written.push(name);
    await write(name, blob);
  };
  expect(await visit().get({ url: URL }, download)).toBeUndefined();
  expect(asked).toHaveLength(2);
  expect(written, 'only that the server has said so').toEqual([`${await idOf(`url ${URL}`)}.used`]);
});

test('a file that may be kept no more is deleted', async () => {
  const { visit, store } = world();
  const { download, state } = server({ text: 'v1', etag: '"1"' });
  await visit().get({ url: URL }, download);
  expect(await store.names()).toHaveLength(2);
  state.file = { text: 'v2', etag: '"2"', isStorable: false };
  expect(await text(await visit().get({ url: URL }, download))).toBe('v2');
  expect(await store.names()).toEqual([]);
});

test('a file that the server has no more is deleted; one that it has again is found', async () => {
  const { visit, entries, store } = world();
  const { download, state } = server({ text: 'v1', etag: '"1"' });
  await visit().get({ url: URL }, download);
  const { file } = state;
  state.file = undefined;
  expect(await visit().get({ url: URL }, download)).toBeUndefined();
  expect(await entries.list()).toMatchObject([{ url: URL, content: null, bytes: 0 }]);
  expect(await store.names()).toHaveLength(1);
  state.file = file;
  expect(await text(await visit().get({ url: URL }, download))).toBe('v1');
});

test('a hash for which a server has no file is not remembered as missing', async () => {
  const { visit, entries } = world();
  const { download, state } = server();
  state.file = undefined;
  expect(await visit().get({ url: URL, sha256: SHA }, download)).toBeUndefined();
  expect(await entries.list()).toEqual([]);
});

test('a private file is never used without the server’s consent, whatever is known of it', async () => {
  const { visit } = world();
  const request: FileRequest = { url: URL, sha256: SHA, isPrivate: true };
  const { download, asked, state } = server({ text: 'secret', etag: '"1"' });
  await visit().get(request, download);
  expect(await text(await visit().get(request, download))).toBe('secret');
  expect(asked).toEqual([undefined, { etag: '"1"' }]);
  for (const error of [offline, new TabServeError('network', 'the server answered 401')]) {
    state.error = error;
    await expect(visit().get(request, download)).rejects.toBe(error);
  }
  // Nor does it serve a request of the public's.
  const other = server({ text: 'public' });
  expect(await text(await visit().get({ url: URL }, other.download))).toBe('public');
  expect(await text(await visit().get({ url: URL, sha256: SHA }, other.download))).toBe('public');
});

test('a private file without a strong ETag is not stored', async () => {
  for (const etag of [undefined, 'W/"1"']) {
    const { visit, store } = world();
    const { download } = server({ text: 'secret', etag, lastModified: 'Sun, 01 Nov 2026 00:00:00 GMT' });
    expect(await text(await visit().get({ url: URL, isPrivate: true }, download))).toBe('secret');
    expect(await store.names()).toEqual([]);
  }
});

test("a private file is compared by its strong ETag alone: another user's file may have the same date", async () => {
  const { visit, entries } = world();
  const request: FileRequest = { url: URL, isPrivate: true };
  const lastModified = 'Mon, 01 Jan 2024 00:00:00 GMT';
  const { download, asked, state } = server({ text: "A's", etag: '"a"', lastModified });
  expect(await text(await visit().get(request, download))).toBe("A's");
  state.file = { text: "B's", lastModified };
  expect(await text(await visit().get(request, download))).toBe("B's");
  expect(asked).toEqual([undefined, { etag: '"a"' }]);
  // An entry of whatever origin with a weak one is not compared at all.
  await entries.save(`private  ${URL}`, URL, new Blob(["A's"]), { etag: 'W/"a"', lastModified });
  expect(await text(await visit().get(request, download))).toBe("B's");
  expect(asked.at(-1)).toBeUndefined();
});

test('a crash at any point of writing leaves the old file, the new one or none; what it left is deleted later', async () => {
  for (let calls = 0; ; calls++) {
    const { store, entries } = world();
    await entries.save('url a', 'a', new Blob(['old file']), { etag: '1' });
    let left = calls;
    let isClosed = false;
    const close = (): Promise<never> => {
      isClosed = true;
      return never();
    };
    /** The store of a tab that is closed in its call number `calls`, in the middle of a write. */
    const crashing: BlobStore = {
      ...store,
      async write(name, blob) {
        if (left-- > 0) return await store.write(name, blob);
        await store.write(name, blob.slice(0, blob.size >> 1));
        return await close();
      },
      delete: async (name) => (left-- > 0 ? await store.delete(name) : await close()),
    };
    let isDone = false;
    void new CacheEntries(crashing)
      .save('url a', 'a', new Blob(['new file!']), { etag: '2' })
      .then(() => (isDone = true));
    await until(() => isDone || isClosed);
    const found = await entries.find('url a');
    const file = found && (await entries.open(found));
    const got = file && `${await text(file.blob)} ${file.entry.etag}`;
    expect(['old file 1', 'new file! 2', undefined]).toContain(got);
    // While somebody may be writing it, nothing is deleted.
    const names = await store.names();
    await entries.sweep(async () => false);
    expect(await store.names()).toEqual(names);
    await entries.list();
    await entries.sweep(async () => true);
    expect((await store.names()).length).toBe(got ? 2 : 0);
    expect(isDone).toBe(calls >= 3);
    if (isDone) return;
  }
});

test('a content that is shorter than its entry says, or gone, is never served', async () => {
  const { visit, store } = world();
  const { download, asked } = server();
  const request = { url: URL, sha256: SHA };
  await visit().get(request, download);
  const content = (await store.names()).find((name) => !name.endsWith('.json'))!;
  await store.write(content, new Blob(['v']));
  expect(await text(await visit().get(request, download))).toBe('v1');
  expect(asked).toHaveLength(2);
  const again = (await store.names()).find((name) => !name.endsWith('.json'))!;
  await store.delete(again);
  expect(await text(await visit().get(request, download))).toBe('v1');
  expect(asked).toHaveLength(3);
  expect(await store.names()).toHaveLength(2);
});

test('an entry of another version, or of no version at all, is ignored and deleted', async () => {
  const { store, entries } = world();
  const id = await idOf('url a');
  for (const entry of [
    '',
    '{"form',
    '[]',
    'null',
    '{"format":0}',
    '{"format":1,"key":"url a"}',
    '{"format":1,"key":3,"url":"a","bytes":"1","content":7}',
  ]) {
    await store.write(`${id}.json`, new Blob([entry]));
    expect(await entries.find('url a')).toBeUndefined();
    expect(await entries.list()).toEqual([]);
    expect(await store.names()).toEqual([]);
  }
});

test('the least recently used file leaves first, and never one of the model that is being loaded', async () => {
  // Half of the quota is 10 bytes.
  const used = { bytes: 0 };
  const { visit, entries, store, warnings } = world({ estimate: async () => ({ quota: 20, usage: used.bytes }) });
  const save = async (cache: Pick<FileCache, 'get'>, name: string, size: number): Promise<void> => {
    await cache.get({ url: name, version: '1' }, server({ text: 'x'.repeat(size) }).download);
    used.bytes = (await entries.list()).reduce((sum, { bytes }) => sum + bytes, 0);
  };
  const age = async (name: string, hours: number): Promise<void> => {
    const entry = (await entries.find(`version 1 ${name}`))!;
    const id = await idOf(entry.key);
    const usedAt = Date.now() - hours * 3_600_000;
    await store.write(`${id}.json`, new Blob([JSON.stringify({ format: 2, ...entry, usedAt })]));
  };
  for (const [name, hours] of [
    ['a', 3],
    ['b', 5],
    ['c', 4],
  ] as const) {
    await save(visit(), name, 3);
    await age(name, hours);
  }
  // A use makes it the most recent.
  await save(visit(), 'b', 3);
  const cache = visit();
  await save(cache, 'd', 3);
  expect((await entries.list()).map(({ url }) => url)).toEqual(['a', 'b', 'd']);
  await save(cache, 'e', 7);
  expect((await entries.list()).map(({ url }) => url)).toEqual(['d', 'e']);
  expect(warnings).toEqual([]);
  await save(cache, 'f', 1);
  expect((await entries.list()).map(({ url }) => url)).toEqual(['d', 'e']);
  await save(visit(), 'g', 11);
  expect((await entries.list()).map(({ url }) => url)).toEqual(['d', 'e']);
  expect(warnings).toHaveLength(2);
  expect(warnings[1]).toContain('no room for its 11 bytes');
});

test('a new version of a file that takes up most of the room replaces the former one', async () => {
  const usage = { bytes: 0 };
  const { visit, entries, warnings } = world({ estimate: async () => ({ quota: 1000, usage: usage.bytes }) });
  const { download, state } = server({ text: '1'.repeat(400), etag: '"1"' });
  await visit().get({ url: URL }, download);
  usage.bytes = 400;
  state.file = { text: '2'.repeat(400), etag: '"2"' };
  await visit().get({ url: URL }, download);
  expect(warnings).toEqual([]);
  expect(await entries.list()).toEqual([expect.objectContaining({ bytes: 400, etag: '"2"' })]);
});

test('a full disk: others are deleted, and then the file is only downloaded', async () => {
  const disk = { room: 12 };
  const store = memoryStore();
  const sizes = new Map<string, number>();
  const full: BlobStore = {
    ...store,
    async write(name, blob) {
      if (name.endsWith('.json')) return await store.write(name, blob);
      const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
      if (total + blob.size > disk.room) throw new DOMException('full', 'QuotaExceededError');
      sizes.set(name, blob.size);
      await store.write(name, blob);
    },
    async delete(name) {
      sizes.delete(name);
      await store.delete(name);
    },
  };
  const { visit, entries, warnings } = world({ store: full });
  const get = async (name: string, size: number): Promise<number> =>
    (await visit().get({ url: name, version: '1' }, server({ text: 'x'.repeat(size) }).download))!.size;
  for (const name of ['a', 'b', 'c']) await get(name, 4);
  expect(await get('d', 8)).toBe(8);
  expect((await entries.list()).map(({ url }) => url).toSorted()).toEqual(['c', 'd']);
  disk.room = 2;
  expect(await get('e', 5)).toBe(5);
  expect(warnings).toEqual([expect.stringContaining('e is not cached')]);
});

/** A store on a disk with room for this many bytes of contents. */
function diskOf(room: number): BlobStore {
  const store = memoryStore();
  return {
    ...store,
    async write(name, blob) {
      const contents = (await store.names()).filter((one) => !one.endsWith('.json') && one !== name);
      const sizes = await Promise.all(contents.map(async (one) => (await store.read(one))!.size));
      if (!name.endsWith('.json') && sizes.reduce((sum, size) => sum + size, blob.size) > room)
        throw new DOMException('full', 'QuotaExceededError');
      await store.write(name, blob);
    },
  };
}

test('what tabs have left that were closed while they wrote is deleted before anything else, and blocks nothing', async () => {
  for (const orphan of [`version 1 ${URL}`, 'version 1 another']) {
    const { visit, entries, store, warnings } = world({ store: diskOf(10) });
    await visit().get({ url: 'kept', version: '1' }, server({ text: 'xxx' }).download);
    await store.write(`${await idOf(orphan)}.0f`, new Blob(['6bytes']));
    await visit().get({ url: URL, version: '1' }, server({ text: '5byte' }).download);
    expect((await entries.list()).map(({ url }) => url).toSorted()).toEqual([URL, 'kept'].toSorted());
    expect(warnings).toEqual([]);
    expect((await store.names()).filter((name) => !name.endsWith('.json'))).toHaveLength(2);
  }
});

test('what another tab is writing is not deleted, however full the disk is', async () => {
  const locks = new FakeLocks();
  const { visit, entries, store, warnings } = world({ locks, store: diskOf(10) });
  const id = await idOf('version 1 another');
  void locks.request(`tabserve/file/${id}`, never);
  await store.write(`${id}.0f`, new Blob(['6bytes']));
  expect(await text(await visit().get({ url: URL, version: '1' }, server({ text: '5byte' }).download))).toBe('5byte');
  expect(await store.names()).toEqual([`${id}.0f`]);
  expect(await entries.list()).toEqual([]);
  expect(warnings).toEqual([expect.stringContaining('is not cached')]);
});

test('a new version that this tab is writing is not deleted with what crashes have left', async () => {
  const store = memoryStore();
  const { visit, open } = world({ store });
  const files = ['a', 'b'].map((name) => ({
    url: `https://example.org/m/${name}`,
    ...server({ text: 'v1', etag: '"1"' }),
  }));
  for (const { url, download } of files) await visit().get({ url }, download);
  for (const { state } of files) state.file = { text: 'v2', etag: '"2"' };
  // The first file's content is in the store before its entry is.
  const { write } = store;
  const held = { release: (): void => {}, isWriting: false };
  store.write = async (name, blob) => {
    await write(name, blob);
    if (held.isWriting || name.endsWith('.json')) return;
    held.isWriting = true;
    await new Promise<void>((resolve) => (held.release = resolve));
  };
  const cache = open();
  await cache.get({ url: files[0]!.url }, files[0]!.download);
  await until(() => held.isWriting);
  await cache.get({ url: files[1]!.url }, files[1]!.download);
  for (let turn = 0; turn < 20; turn++) await settle();
  held.release();
  await cache.stored();
  for (const { url, download, asked } of files) {
    expect(await text(await visit().get({ url }, download))).toBe('v2');
    expect(asked.at(-1), url).toEqual({ etag: '"2"', lastModified: undefined });
  }
});

test('a file whose entry another tab is writing is left to that tab, and the others are cached', async () => {
  const store = memoryStore();
  const busy = `${await idOf(`url ${URL}`)}.json`;
  const refuse = (): Promise<never> => Promise.reject(new DOMException('locked', 'NoModificationAllowedError'));
  const { visit, entries, warnings } = world({
    store: { ...store, write: (name, blob) => (name === busy ? refuse() : store.write(name, blob)) },
  });
  const tab = visit();
  for (const url of [URL, 'https://example.org/m/other'])
    expect(await text(await tab.get({ url }, server().download))).toBe('v1');
  expect(warnings).toEqual([]);
  expect((await entries.list()).map(({ url }) => url)).toEqual(['https://example.org/m/other']);
  expect(await store.names()).toHaveLength(2);
});

test('a file of which another tab is writing a version of its own is cached all the same, and so are the others', async () => {
  const store = memoryStore();
  // As OPFS refuses it.
  const refuse = (): Promise<never> => Promise.reject(new DOMException('locked', 'NoModificationAllowedError'));
  const { visit, entries, warnings } = world({
    store: { ...store, delete: (name) => (name.endsWith('.0f') ? refuse() : store.delete(name)) },
  });
  await store.write(`${await idOf(`url ${URL}`)}.0f`, new Blob(['half']));
  const tab = visit();
  for (const url of [URL, 'https://example.org/m/other']) await tab.get({ url }, server().download);
  expect(warnings).toEqual([]);
  expect(await entries.list()).toHaveLength(2);
});

test('what a crash has left of a file is deleted when its new version is stored', async () => {
  const { visit, store } = world();
  const { download, state } = server();
  await visit().get({ url: URL }, download);
  state.file = { text: 'v2' };
  await store.write(`${await idOf(`url ${URL}`)}.0f`, new Blob(['half']));
  await visit().get({ url: URL }, download);
  expect((await store.names()).filter((name) => !name.endsWith('.json'))).toHaveLength(1);
});

test('recording a use changes no entry: a version that another tab has stored meanwhile stays, and a deleted file stays deleted', async () => {
  const { entries, store } = world();
  await entries.save('url a', 'a', new Blob(['old']), { etag: '1' });
  const old = (await entries.find('url a'))!;
  await entries.save('url a', 'a', new Blob(['newer']), { etag: '2' });
  await entries.touch(old);
  const found = (await entries.find('url a'))!;
  expect(found).toMatchObject({ etag: '2', bytes: 5 });
  expect(found.usedAt).toBeGreaterThanOrEqual(old.usedAt);
  expect(await text((await entries.open(found))!.blob)).toBe('newer');
  await entries.delete(found);
  expect(await store.names()).toEqual([]);
  await entries.touch(found);
  expect(await entries.find('url a')).toBeUndefined();
  expect(await entries.list()).toEqual([]);
  expect(await store.names()).toEqual([]);
});

test('a file that was used an hour after it was stored is the most recent one', async () => {
  const { entries, store, visit } = world();
  const hour = 3_600_000;
  for (const [name, ago] of [
    ['a', 3],
    ['b', 2],
  ] as const) {
    await visit().get({ url: name, version: '1' }, server().download);
    const entry = (await entries.find(`version 1 ${name}`))!;
    const aged = { format: 2, ...entry, usedAt: Date.now() - ago * hour };
    await store.write(`${await idOf(entry.key)}.json`, new Blob([JSON.stringify(aged)]));
  }
  expect((await entries.list()).map(({ url }) => url)).toEqual(['a', 'b']);
  await visit().get({ url: 'a', version: '1' }, server().download);
  expect((await entries.list()).map(({ url }) => url)).toEqual(['b', 'a']);
  const names = await store.names();
  await entries.sweep(async () => true);
  expect(await store.names()).toEqual(names);
});

test('the time that a file may take to be read grows with its size', async () => {
  const clock = new FakeClock();
  const store = memoryStore();
  const estimate = async (): Promise<StorageEstimate> => ({});
  await world({ store, estimate })
    .visit()
    .get({ url: URL, version: '1' }, server({ text: 'x'.repeat(8_000_000) }).download);
  let isReading = false;
  const read = async (name: string): Promise<Blob | undefined> => {
    if (name.endsWith('.json') || name.endsWith('.used')) return await store.read(name);
    isReading = true;
    return await never();
  };
  const { visit, warnings } = world({ clock, store: { ...store, read } });
  const got = visit().get({ url: URL, version: '1' }, server({ text: 'new' }).download);
  await until(() => isReading);
  await clock.advance(6999);
  expect(warnings).toEqual([]);
  await clock.advance(1);
  expect(await text(await got)).toBe('new');
  expect(warnings).toEqual([expect.stringContaining('within 7000 ms')]);
});

test('a store that throws, or is not there, is reported once and never makes a load fail', async () => {
  const broken = (): Promise<never> => Promise.reject(new DOMException('The operation is insecure.', 'SecurityError'));
  const { visit, warnings } = world({
    store: { read: broken, write: broken, delete: broken, names: broken, isNew: broken },
  });
  const { download, asked } = server();
  const cache = visit();
  for (const url of ['a', 'b', 'c']) expect(await text(await cache.get({ url }, download))).toBe('v1');
  expect(asked).toHaveLength(3);
  expect(warnings).toEqual(['Cached files cannot be read: The operation is insecure.']);
});

test('a store that cannot be written is reported once', async () => {
  const store = memoryStore();
  const { visit, warnings } = world({ store: { ...store, write: () => Promise.reject(new Error('read only')) } });
  const cache = visit();
  for (const url of ['a', 'b']) expect(await text(await cache.get({ url }, server().download))).toBe('v1');
  expect(warnings).toEqual(['Files cannot be cached: read only']);
});

test('a store that never answers costs five seconds, once', async () => {
  const clock = new FakeClock();
  const { visit, warnings } = world({ clock, store: { ...memoryStore(), read: never, isNew: async () => false } });
  const cache = visit();
  const got = Promise.all(['a', 'b'].map((url) => cache.get({ url }, server().download)));
  let isDone = false;
  void got.then(() => (isDone = true));
  await clock.advance(4999);
  expect(isDone).toBe(false);
  await clock.advance(1);
  await got;
  expect(warnings).toEqual(['Cached files cannot be read: The cache did not answer within 5000 ms.']);
  await cache.get({ url: 'c' }, server().download);
  expect(clock.pending).toBe(0);
});

test('a store that cannot tell whether it is new is searched all the same', async () => {
  for (const isNew of [never, () => Promise.reject(new Error('no'))]) {
    const { visit, warnings } = world({ store: { ...memoryStore(), isNew } });
    await visit().get({ url: URL, sha256: SHA }, server().download);
    const again = server();
    expect(await text(await visit().get({ url: URL, sha256: SHA }, again.download))).toBe('v1');
    expect(again.asked).toEqual([]);
    expect(warnings).toEqual([]);
  }
});

test('in a new store no file is waited for, until one is stored', async () => {
  const store = memoryStore();
  let answer!: () => void;
  const slow = new Promise<void>((resolve) => (answer = resolve));
  const read = async (name: string): Promise<Blob | undefined> => {
    await slow;
    return await store.read(name);
  };
  const { open } = world({ store: { ...store, read } });
  const cache = open();
  expect(await text(await cache.get({ url: URL, sha256: SHA }, server().download))).toBe('v1');
  answer();
  await cache.stored();
  const again = server();
  expect(await text(await cache.get({ url: URL, sha256: SHA }, again.download))).toBe('v1');
  expect(again.asked).toEqual([]);
});

test('a write that never ends does not hold up the load for ever, in proportion to the size', async () => {
  const clock = new FakeClock();
  let isWriting = false;
  const write = (): Promise<never> => {
    isWriting = true;
    return never();
  };
  const { visit, warnings } = world({ clock, store: { ...memoryStore(), write } });
  const got = visit().get({ url: URL }, server({ text: 'x'.repeat(400) }).download);
  await until(() => isWriting);
  await clock.advance(10_000);
  await clock.advance(1);
  expect((await got)!.size).toBe(400);
  expect(warnings).toEqual([expect.stringContaining('did not answer within 10000 ms')]);
});

test('abort ends every wait: for the store, for another tab', async () => {
  for (const broken of ['read', 'lock'] as const) {
    const clock = new FakeClock();
    const locks = new FakeLocks();
    const { visit } = world({ clock, locks, ...(broken === 'read' && { store: { ...memoryStore(), read: never } }) });
    if (broken === 'lock') void locks.request(`tabserve/file/${await idOf(`url ${URL}`)}`, never);
    const stop = new AbortController();
    const got = visit().get({ url: URL }, server().download, { signal: stop.signal });
    await until(() => broken === 'read' || locks.waiting > 0);
    stop.abort(new Error('enough'));
    await expect(got).rejects.toMatchObject({ code: 'aborted', message: 'enough' });
    expect(clock.pending).toBe(0);
  }
});

test('a file that no other tab downloads is looked for once, before it is downloaded; one that another tab has downloaded is looked for again', async () => {
  const store = memoryStore();
  const read: string[] = [];
  const { visit, locks } = world({
    store: { ...store, read: (name) => (read.push(name), store.read(name)) },
  });
  const { download } = server({ text: 'v1' });
  const id = await idOf(`url ${URL}`);
  let finish!: () => void;
  let found = -1;
  await visit().get({ url: URL }, async (...call) => {
    found = read.filter((name) => name === `${id}.json`).length;
    return await download(...call);
  });
  expect(found).toBe(1);
  read.length = 0;
  void locks.request(
    `tabserve/file/${await idOf('url other')}`,
    () => new Promise<void>((resolve) => (finish = resolve)),
  );
  const waiting = visit().get({ url: 'other' }, download);
  await until(() => locks.waiting > 0);
  finish();
  await waiting;
  const other = await idOf('url other');
  expect(read.filter((name) => name === `${other}.json`).length).toBeGreaterThan(1);
});

test('two tabs download a file once, and both see its progress', async () => {
  const { visit, locks } = world();
  const seen: Record<'first' | 'second', number[]> = { first: [], second: [] };
  let finish!: () => void;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const second = server();
  const a = visit().get(
    { url: URL, sha256: SHA },
    async (_, onBytes) => {
      onBytes(1, 2);
      await finished;
      return { blob: new Blob(['v1']) };
    },
    { onBytes: (loaded) => seen.first.push(loaded) },
  );
  await until(() => seen.first.length > 0);
  const b = visit().get({ url: URL, sha256: SHA }, second.download, { onBytes: (loaded) => seen.second.push(loaded) });
  await until(() => locks.waiting > 0);
  finish();
  expect(await Promise.all([text(await a), text(await b)])).toEqual(['v1', 'v1']);
  expect(second.asked).toEqual([]);
  expect(seen.first).toEqual([1]);
  expect(seen.second.at(-1)).toBe(2);
});

test('a tab that fails in the middle leaves the download to the one that waits', async () => {
  const { visit, locks } = world();
  let fail: ((error: Error) => void) | undefined;
  const a = visit().get({ url: URL }, () => new Promise((_, reject) => (fail = reject)));
  await until(() => fail !== undefined);
  const b = visit().get({ url: URL }, server().download);
  await until(() => locks.waiting > 0);
  fail!(offline);
  await expect(a).rejects.toBe(offline);
  expect(await text(await b)).toBe('v1');
});

test('a tab is waited for as long as it reports progress, and ten seconds after that', async () => {
  const clock = new FakeClock();
  const { visit, locks } = world({ clock });
  let report: ((loaded: number) => void) | undefined;
  void visit().get({ url: URL }, (_, onBytes) => new Promise(() => (report = (loaded) => onBytes(loaded, 100))));
  await until(() => report !== undefined);
  const { download, asked } = server({ text: 'own' });
  const seen: number[] = [];
  const b = visit().get({ url: URL }, download, { onBytes: (loaded) => seen.push(loaded) });
  await until(() => locks.waiting > 0);
  for (let loaded = 10; loaded <= 50; loaded += 10) {
    await clock.advance(9000);
    report!(loaded);
    await expect.poll(() => seen.at(-1)).toBe(loaded);
  }
  expect(asked).toEqual([]);
  await clock.advance(10_000);
  expect(await text(await b)).toBe('own');
  // What was reported does not fall.
  expect(seen).toEqual(seen.toSorted((x, y) => x - y));
});

test('where there are no locks, or they are refused, files are downloaded and stored all the same', async () => {
  const refusing = { request: () => Promise.reject(new DOMException('denied', 'SecurityError')) };
  for (const locks of [undefined, refusing as unknown as LockManager]) {
    const { store, clock } = world();
    const cache = (): FileCache =>
      new FileCache({ store, visit: 1, clock, locks, estimate: async () => ({}), warn: () => {} });
    const { download, asked } = server();
    const first = cache();
    await first.get({ url: URL, version: '1' }, download);
    await first.stored();
    expect(await text(await cache().get({ url: URL, version: '1' }, download))).toBe('v1');
    expect(asked).toHaveLength(1);
  }
});

test('a downloaded file is returned at once, and stored meanwhile', async () => {
  const store = memoryStore();
  let write = (): void => {};
  const written = new Promise<void>((resolve) => (write = resolve));
  const slow: BlobStore = { ...store, write: (name, blob) => written.then(() => store.write(name, blob)) };
  const { open, entries } = world({ store: slow });
  const cache = open();
  const { download } = server();
  expect(await text(await cache.get({ url: URL }, download))).toBe('v1');
  expect(await entries.list()).toEqual([]);
  let isStored = false;
  const stored = cache.stored().then(() => (isStored = true));
  await settle();
  expect(isStored).toBe(false);
  write();
  await stored;
  expect(await entries.list()).toHaveLength(1);
});

test('a file that cannot be downloaded is nothing to wait for', async () => {
  const { open } = world();
  const cache = open();
  const { download, state } = server();
  state.error = offline;
  await expect(cache.get({ url: URL }, download)).rejects.toThrow('no connection');
  await cache.stored();
});
