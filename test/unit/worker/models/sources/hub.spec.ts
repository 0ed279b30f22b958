/** Repositories of the Hub, read from a made-up hub that answers over HTTP as the real one does. */
import { expect, test } from '@playwright/test';
import type { FileProgress } from '../../../../../src/contract/archive.ts';
import type { Clock } from '../../../../../src/shared/clock.ts';
import { loadHandler } from '../../../../../src/worker/handlers/registry.ts';
import { fetchArchive, type ArchiveOptions } from '../../../../../src/worker/models/archive.ts';
import { FileCache } from '../../../../../src/worker/models/cache/file-cache.ts';
import { fetchModel } from '../../../../../src/worker/models/model-files.ts';
import { MadeUpHub, type HubFault, type HubFile } from '../../../../hub.ts';
import { memoryStore } from '../../../../memory-store.ts';
import { FakeLocks } from '../../../support/fake-locks.ts';

const PAGE = 'https://app.example.org';
const LISTED = '/api/models/org/vit/revision/main';
const BYTES = new Uint8Array(1000).map((_, index) => index);
const json = (value: unknown): HubFile => ({ bytes: JSON.stringify(value) });

const vit: Readonly<Record<string, HubFile>> = {
  '.gitattributes': { bytes: '*.onnx filter=lfs' },
  'config.json': json({ architectures: ['ViTForImageClassification'], id2label: { 0: 'tench', 1: 'goldfish' } }),
  'preprocessor_config.json': json({
    image_processor_type: 'ViTImageProcessor',
    image_mean: [0.5, 0.5, 0.5],
    image_std: [0.5, 0.5, 0.5],
    size: 224,
  }),
  'onnx/model.onnx': { bytes: BYTES, isLarge: true },
  'onnx/model_quantized.onnx': { bytes: 'eight bits', isLarge: true },
};

/** Waits pass at once, and are noted. */
function instantClock(waits: number[] = []): Clock {
  let now = 0;
  return {
    now: () => now,
    schedule(task, milliseconds) {
      // The limit of a connection on which nothing arrives.
      if (milliseconds > 1000) return () => {};
      waits.push(milliseconds);
      now += milliseconds;
      const timer = setImmediate(task);
      return () => clearImmediate(timer);
    },
  };
}

/** Visits of a page to repositories, with one cache. */
function visitor(hub: MadeUpHub) {
  const store = memoryStore();
  const warnings: string[] = [];
  const waits: number[] = [];
  let visits = 0;
  const clock = instantClock(waits);
  const visit = async (address: string, more: Partial<ArchiveOptions> = {}) => {
    const cache = new FileCache({
      store,
      clock,
      locks: new FakeLocks(),
      visit: ++visits,
      estimate: async () => ({ quota: 2 ** 30, usage: 0 }),
      warn: (message) => warnings.push(message),
    });
    const before = hub.asked.length;
    const progress: FileProgress[] = [];
    const options: ArchiveOptions = {
      fetch: hub.fetch(PAGE),
      pageOrigin: PAGE,
      downloads: new Map(),
      handlerClass: loadHandler,
      onProgress: (one) => progress.push(one),
      clock,
      random: () => 1,
      cache,
      ...more,
    };
    const archive = await fetchArchive(address, options);
    const loaded = await fetchModel(archive, 'onnx', options);
    await cache.stored();
    const weights = new Uint8Array(await loaded.files[loaded.models.onnx!]!.arrayBuffer());
    const asked = hub.asked.slice(before).filter(({ method }) => method !== 'OPTIONS');
    return { archive, loaded, weights, progress, asked, paths: asked.map(({ url }) => url.pathname) };
  };
  return { visit, warnings, waits };
}

const unreachable = (() => Promise.reject(new TypeError('Failed to fetch'))) as typeof globalThis.fetch;

/** Returns the error of a repository with these files, or that is asked for so. */
async function failureOf(
  files: Readonly<Record<string, HubFile>>,
  address = 'hf:org/vit',
  options: Partial<ArchiveOptions> = {},
): Promise<unknown> {
  using hub = await MadeUpHub.start({
    repositories: {
      'org/vit': files,
      'org/gated': { revisions: { main: vit }, gatedFor: 'hf_right' },
    },
  });
  return await visitor(hub)
    .visit(address, options)
    .then(
      () => 'loaded',
      (error: unknown) => error,
    );
}

test('each file is asked for once, of one commit, and none that is not there', async () => {
  using hub = await MadeUpHub.start({ repositories: { 'org/vit': vit } });
  const { archive, weights, asked, paths, progress } = await visitor(hub).visit('hf:org/vit');
  expect(weights).toEqual(BYTES);
  const { commit } = archive.listing!;
  expect(paths.filter((path) => path.includes('/resolve/')).toSorted()).toEqual([
    `/org/vit/resolve/${commit}/config.json`,
    `/org/vit/resolve/${commit}/onnx/model.onnx`,
    `/org/vit/resolve/${commit}/preprocessor_config.json`,
  ]);
  expect(paths.filter((path) => path.startsWith('/api/models'))).toEqual([LISTED]);
  expect(asked.every(({ headers }) => !headers.has('range'))).toBe(true);
  // The size is known before the first byte.
  expect(progress.find(({ file }) => file === 'onnx/model.onnx')).toMatchObject({ loaded: 0, total: 1000 });
});

test('a revision, a subfolder and a bare file', async () => {
  const below = Object.fromEntries(Object.entries(vit).map(([path, file]) => [`small/${path}`, file]));
  using hub = await MadeUpHub.start({
    repositories: { 'org/vit': { revisions: { main: {}, 'refs/pr/4': vit, 'v1.0': below } } },
  });
  const { visit } = visitor(hub);
  for (const address of [
    'hf:org/vit@refs/pr/4',
    'https://huggingface.co/org/vit/tree/v1.0/small',
    'https://huggingface.co/org/vit/resolve/v1.0/small/onnx/model.onnx',
  ])
    expect((await visit(address)).weights, address).toEqual(BYTES);
});

test('a second visit asks for the list alone, and none without a connection; a new revision is noticed', async () => {
  using hub = await MadeUpHub.start({ repositories: { 'org/vit': vit } });
  const { visit, warnings } = visitor(hub);
  await visit('hf:org/vit');
  const second = await visit('hf:org/vit');
  expect(second.paths).toEqual([LISTED]);
  expect(second.weights).toEqual(BYTES);
  expect(warnings).toEqual([]);
  expect((await visit('hf:org/vit', { fetch: unreachable })).weights).toEqual(BYTES);
  expect(warnings).toEqual([expect.stringMatching(/^Cached files are used/)]);

  hub.commit('org/vit', { 'onnx/model.onnx': { bytes: 'new weights', isLarge: true } });
  const third = await visit('hf:org/vit');
  expect(new TextDecoder().decode(third.weights)).toBe('new weights');
  // The other files are the same as before.
  expect(third.paths.filter((path) => path.includes('/resolve/'))).toEqual([
    `/org/vit/resolve/${third.archive.listing!.commit}/onnx/model.onnx`,
  ]);
});

test('without the list, each file is requested; a list of an earlier visit serves meanwhile', async () => {
  using hub = await MadeUpHub.start({ repositories: { 'org/vit': vit } });
  const { visit } = visitor(hub);
  hub.hasApi = false;
  const first = await visit('hf:org/vit');
  expect(first.weights).toEqual(BYTES);
  expect(first.archive.listing).toBeUndefined();
  hub.hasApi = true;
  await visit('hf:org/vit');
  hub.hasApi = false;
  const third = await visit('hf:org/vit');
  expect(new Set(third.paths)).toEqual(new Set([LISTED]));
});

test('a broken connection is continued from where it stopped, at a new signed address', async () => {
  using hub = await MadeUpHub.start({ repositories: { 'org/vit': vit } });
  hub.plan(/^\/xet-bridge-us/, { kind: 'cut', at: 0.4 });
  // As Node asks: without preflights.
  const { asked, weights } = await visitor(hub).visit('hf:org/vit', { fetch: hub.fetch(), pageOrigin: undefined });
  expect(weights).toEqual(BYTES);
  const signed = asked.filter(({ url }) => url.pathname.startsWith('/xet-bridge-us'));
  expect(signed.map(({ headers }) => headers.get('range'))).toEqual([null, 'bytes=400-']);
  expect(new Set(signed.map(({ url }) => url.searchParams.get('X-Amz-Signature'))).size).toBe(2);
});

test('where the file server refuses a range, the download begins anew', async () => {
  using hub = await MadeUpHub.start({ repositories: { 'org/vit': vit } });
  hub.plan(/^\/xet-bridge-us/, { kind: 'cut', at: 0.4 }, { kind: 'cut', at: 0.5 });
  const { asked, weights, progress } = await visitor(hub).visit('hf:org/vit');
  expect(weights).toEqual(BYTES);
  const signed = asked.filter(({ url }) => url.pathname.startsWith('/xet-bridge-us'));
  expect(signed.map(({ headers }) => headers.get('range'))).toEqual([null, null, null]);
  const refused = hub.asked.filter(({ method, url }) => method === 'OPTIONS' && url.host.endsWith('hf.co'));
  expect(refused, 'a refusal is remembered').toHaveLength(1);
  const loaded = progress.filter(({ file }) => file === 'onnx/model.onnx').map((one) => one.loaded);
  expect(loaded).toEqual(loaded.toSorted((a, b) => a - b));
});

test('an address that has expired is replaced', async () => {
  using hub = await MadeUpHub.start({ repositories: { 'org/vit': vit } });
  const own = hub.fetch();
  let isExpired = false;
  const fetch = (async (input: URL, init) => {
    if (!isExpired && input.host.endsWith('hf.co')) {
      isExpired = true;
      hub.expire();
    }
    return await own(input, init);
  }) as typeof globalThis.fetch;
  const { asked, weights } = await visitor(hub).visit('hf:org/vit', { fetch, pageOrigin: undefined });
  expect(weights).toEqual(BYTES);
  const signed = asked.filter(({ url }) => url.host.endsWith('hf.co'));
  expect(signed.map(({ url }) => url.searchParams.get('X-Amz-Signature'))).toEqual(['1', '2']);
});

test('429 is waited for as the Hub says, up to a limit; 5xx once is retried', async () => {
  using hub = await MadeUpHub.start({ repositories: { 'org/vit': vit } });
  // A page cannot read these headers, because the Hub does not expose them.
  const inNode = { fetch: hub.fetch(), pageOrigin: undefined };
  const waited = async (path: RegExp, ...faults: readonly HubFault[]): Promise<number> => {
    const { visit, waits } = visitor(hub);
    hub.plan(path, ...faults);
    expect((await visit('hf:org/vit', inNode)).weights).toEqual(BYTES);
    return waits.reduce((sum, wait) => sum + wait, 0);
  };
  const busy = (headers: Readonly<Record<string, string>>): HubFault => ({ kind: 'status', status: 429, headers });
  expect(await waited(/\/config\.json$/, busy({ 'retry-after': '7' }))).toBe(7000);
  expect(await waited(/\/config\.json$/, busy({ ratelimit: '"resolvers";r=0;t=12' }))).toBe(12_000);
  expect(await waited(/\/config\.json$/, busy({ ratelimit: '"resolvers";r=5;t=12' }))).toBe(500);
  expect(await waited(/model\.onnx$/, { kind: 'status', status: 503 })).toBe(500);
  expect(await waited(/^\/api\/models/, { kind: 'status', status: 502 })).toBe(500);
  hub.plan(/\/config\.json$/, busy({ 'retry-after': '300' }));
  await expect(visitor(hub).visit('hf:org/vit', inNode)).rejects.toMatchObject({
    code: 'network',
    message: expect.stringMatching(/answered 429.*Try again in 300 s/),
  });
});

test('a compressed file whose Content-Length is that of what is sent', async () => {
  using hub = await MadeUpHub.start({ repositories: { 'org/vit': vit } });
  hub.plan(/^\/api\/resolve-cache/, { kind: 'gzip' }, { kind: 'gzip' });
  hub.plan(/^\/xet-bridge-us/, { kind: 'gzip' });
  const { weights, progress } = await visitor(hub).visit('hf:org/vit');
  expect(weights).toEqual(BYTES);
  for (const { loaded, total = Infinity } of progress) expect(loaded).toBeLessThanOrEqual(total);
});

for (const [what, address, message, code = 'model-not-found'] of [
  ['a name that is misspelled', 'hf:org/vitt', /no public model org\/vitt.*misspelled.*option request/],
  ['a revision that does not exist', 'hf:org/vit@v9', /org\/vit has no revision v9: expected a branch, a tag/],
  ['a gated repository without a token', 'hf:org/gated', /org\/gated is gated.*Accept them at https.*token/, 'network'],
] as const)
  test(`${what}: the error says so, and what to do`, async () => {
    expect(await failureOf(vit, address)).toMatchObject({ code, message: expect.stringMatching(message) });
  });

test('a gated repository opens with a token whose user has accepted; another token says what is missing', async () => {
  const token = (text: string) => ({ headers: { Authorization: `Bearer ${text}` } });
  expect(await failureOf(vit, 'hf:org/gated', token('hf_right'))).toBe('loaded');
  expect(await failureOf(vit, 'hf:org/gated', token('hf_other'))).toMatchObject({
    code: 'network',
    message: expect.stringContaining("the token's user has no access yet"),
  });
});

test('a repository without ONNX files: its card names those that have them, or the search does', async () => {
  const { 'onnx/model.onnx': _, 'onnx/model_quantized.onnx': __, ...rest } = vit;
  const torch = { ...rest, 'model.safetensors': { bytes: 'weights', isLarge: true } };
  expect(await failureOf(torch)).toMatchObject({
    code: 'model-not-found',
    message: expect.stringMatching(/no \.onnx file.*https:\/\/huggingface\.co\/models\?library=onnx&search=vit/),
  });
  const card =
    'For the web: [here](https://huggingface.co/onnx-community/vit-ONNX), by https://huggingface.co/org/people.';
  expect(await failureOf({ ...torch, 'README.md': { bytes: card } })).toMatchObject({
    code: 'model-not-found',
    message: expect.stringMatching(/Its card names hf:onnx-community\/vit-ONNX\.$/),
  });
});

test('an empty repository, and one of another kind', async () => {
  expect(await failureOf({ '.gitattributes': { bytes: '' } })).toMatchObject({
    code: 'model-not-found',
    message: expect.stringMatching(/has no config\.json, but \.gitattributes\. Look for an export/),
  });
  expect(await failureOf({ 'model.Q4_K_M.gguf': { bytes: 'weights', isLarge: true } })).toMatchObject({
    code: 'model-not-found',
    message: expect.stringContaining('has no config.json, but model.Q4_K_M.gguf.'),
  });
});

test('files in another layout: the error says how they open', async () => {
  const { 'onnx/model.onnx': model, 'onnx/model_quantized.onnx': _, 'preprocessor_config.json': steps, ...rest } = vit;
  const below = Object.fromEntries(Object.entries(vit).map(([path, file]) => [`web/${path}`, file]));
  for (const [files, code, message] of [
    [below, 'model-not-found', /Name its folder: https:\/\/huggingface\.co\/org\/vit\/tree\/main\/web\/$/],
    [
      { ...rest, 'preprocessor_config.json': steps!, 'onnx/vit-base.onnx': model! },
      'model-not-found',
      /The file https:\/\/huggingface\.co\/org\/vit\/resolve\/main\/onnx\/vit-base\.onnx opens alone, with the option handler\.$/,
    ],
    // What is missing beside the model says less than that there is no model.
    [{ ...rest, 'vit.gguf': model! }, 'model-not-found', /has no \.onnx file\. Look for an export/],
    [
      { ...rest, 'config.json': { bytes: '<!doctype html>' } },
      'model-format',
      /^https:\/\/huggingface\.co\/org\/vit\/resolve\/main\/config\.json is not JSON/,
    ],
    [
      {
        'config.json': json({ architectures: ['WhisperForConditionalGeneration'], is_encoder_decoder: true }),
        'tokenizer.json': json({}),
        'preprocessor_config.json': json({ feature_extractor_type: 'WhisperFeatureExtractor' }),
        ...Object.fromEntries(
          ['encoder_model', 'decoder_model', 'decoder_with_past_model'].map((name) => [`onnx/${name}.onnx`, model!]),
        ),
      },
      'model-not-found',
      /expected is one, decoder_model_merged\.onnx/,
    ],
  ] as const)
    expect(await failureOf(files)).toMatchObject({ code, message: expect.stringMatching(message) });
});

test('a model in a precision that no backend takes by itself: the error names it', async () => {
  const { 'onnx/model.onnx': _, 'onnx/model_quantized.onnx': __, ...rest } = vit;
  expect(await failureOf({ ...rest, 'onnx/model_q4f16.onnx': { bytes: 'weights', isLarge: true } })).toMatchObject({
    code: 'model-not-found',
    message: expect.stringMatching(/It has onnx\/model_q4f16\.onnx\..*set engine\.dtype to q4f16\.$/),
  });
});

test('a config that is listed and cannot be had', async () => {
  using hub = await MadeUpHub.start({ repositories: { 'org/vit': vit } });
  hub.plan(/\/config\.json$/, { kind: 'status', status: 404, headers: { 'x-error-code': 'EntryNotFound' } });
  await expect(visitor(hub).visit('hf:org/vit')).rejects.toMatchObject({
    code: 'model-not-found',
    message: expect.stringContaining('lists config.json, but the server answers that there is none'),
  });
});

test('a config of 200 MB is refused before it is downloaded', async () => {
  using hub = await MadeUpHub.start({ repositories: { 'org/vit': vit } });
  hub.commit('org/vit', { 'config.json': { bytes: ' '.repeat(2 ** 23) } });
  await expect(visitor(hub).visit('hf:org/vit')).rejects.toMatchObject({
    code: 'model-format',
    message: expect.stringMatching(/config\.json has more than 4194304 bytes/),
  });
  expect(hub.paths.filter((path) => path.includes('/resolve'))).toEqual([]);
});
