import { expect, test } from '@playwright/test';
import * as fc from 'fast-check';
import type { Candidate } from '../../../../src/contract/backends.ts';
import { VerdictCache } from '../../../../src/page/selection/verdict-cache.ts';
import { isVerdict, type Verdict, type VerdictStore } from '../../../../src/page/selection/verdicts.ts';
import type { Archive } from '../../../../src/contract/archive.ts';
import type { Probe } from '../../../../src/contract/backends.ts';
import { TabServeError } from '../../../../src/contract/errors.ts';
import { FakeClock, settle } from '../../support/fake-clock.ts';

const WEBGPU: Candidate = { engine: 'onnx', name: 'webgpu' };
const WASM: Candidate = { engine: 'onnx', name: 'wasm' };
const absent = { available: false, reason: 'none' } as const;
const probe: Probe = {
  webgpu: absent,
  webgl: absent,
  webnn: absent,
  wasm: absent,
  crossOriginIsolated: false,
  cores: 2,
};
const archive = { url: 'https://example.org/m/', config: {} } as Archive;

/** A store in memory. */
function memoryStore(): VerdictStore & { readonly entries: Map<string, Verdict> } {
  const entries = new Map<string, Verdict>();
  return {
    entries,
    get: async (key) => entries.get(key),
    set: async (key, verdict) => void entries.set(key, verdict),
    clear: async () => entries.clear(),
  };
}

function cacheOf(store: VerdictStore, options: { clock?: FakeClock; signal?: AbortSignal; archive?: Archive } = {}) {
  const logged: string[] = [];
  const cache = new VerdictCache({ store, probe, archive, log: (message) => logged.push(message), ...options });
  return { cache, logged };
}

const hanging = (): Promise<never> => new Promise(() => {});

test('a saved verdict is found for the same build only', async () => {
  const { cache } = cacheOf(memoryStore());
  await cache.save(WEBGPU, 'hash 1.0', { compared: true, median: 4 });
  expect(await cache.find(WEBGPU, 'hash 1.0')).toMatchObject({ compared: true, median: 4 });
  expect(await cache.find(WEBGPU, 'hash 1.1')).toEqual({});
  expect(await cache.find(WASM, 'hash 1.0')).toEqual({});
  expect(await cache.findAll([WEBGPU, WASM])).toEqual(
    new Map([['onnx/webgpu', { median: 4, reason: 'It is slower: at an earlier visit a run took 4 ms.' }]]),
  );
});

test('a precision that is wrong is remembered once, whatever else is found out', async () => {
  const { cache } = cacheOf(memoryStore());
  const excluded = { node: '', precision: 'int8-weights', reason: 'r', file: 'f' };
  expect(await cache.findExcluded(WASM)).toBeUndefined();
  await cache.save(WASM, 'b', { median: 4 });
  await cache.saveExcluded(WASM, { ...excluded, reason: 'before' });
  await cache.saveExcluded(WASM, excluded);
  await cache.saveExcluded(WASM, { ...excluded, node: 'a' });
  await cache.save(WASM, 'other', { median: 5 });
  expect(await cache.findExcluded(WASM)).toEqual([excluded, { ...excluded, node: 'a' }]);
  expect(await cache.find(WASM, 'other')).toMatchObject({ median: 5 });
  expect(await cache.findExcluded(WEBGPU)).toBeUndefined();
});

test('a verdict does not apply to another config', async () => {
  const store = memoryStore();
  await cacheOf(store).cache.save(WASM, 'b', { median: 4 });
  const other = { ...archive, config: { batchSize: 2 } } as Archive;
  expect(await cacheOf(store, { archive: other }).cache.find(WASM, 'b')).toEqual({});
});

test('a candidate that failed twice is no longer tried; wrong outputs are never forgotten for it', async () => {
  const { cache } = cacheOf(memoryStore());
  const error = new TabServeError('backend-failed', 'no memory');
  await cache.saveFailure(WASM, error);
  expect(await cache.findAll([WASM])).toEqual(new Map());
  await cache.saveFailure(WASM, error);
  expect((await cache.findAll([WASM])).get('onnx/wasm')).toMatchObject({
    median: undefined,
    reason: 'It could not be measured at 2 visits, and is no longer tried: no memory',
  });
  await cache.save(WEBGPU, 'b', { compared: true, wrong: 'output "y" is off by 1' });
  await cache.saveFailure(WEBGPU, error);
  expect((await cache.findAll([WEBGPU])).get('onnx/webgpu')!.reason).toContain('off by 1');
});

test('a store that never answers costs one second in all, and is treated as empty', async () => {
  const clock = new FakeClock();
  const { cache, logged } = cacheOf({ get: hanging, set: hanging, clear: hanging }, { clock });
  const found = cache.findAll([WEBGPU, WASM]);
  let isDone = false;
  void found.then(() => (isDone = true));
  await clock.advance(999);
  expect(isDone).toBe(false);
  await clock.advance(1);
  expect(await found).toEqual(new Map());
  expect(logged).toEqual([expect.stringContaining('did not answer within 1000 ms')]);
  // It is not asked again.
  expect(await cache.find(WASM, 'b')).toEqual({});
  await cache.save(WASM, 'b', { median: 1 });
  await cache.saveFailure(WASM, new TabServeError('timeout', 'late'));
  expect(logged).toHaveLength(1);
  expect(clock.pending).toBe(0);
});

test('abort ends the wait for a store, and leaves no timer', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const { cache } = cacheOf({ get: hanging, set: hanging, clear: hanging }, { clock, signal: stop.signal });
  const found = cache.find(WASM, 'b');
  await settle();
  stop.abort(new Error('enough'));
  await expect(found).rejects.toMatchObject({ code: 'aborted', message: 'enough' });
  await expect(cache.save(WASM, 'b', {})).rejects.toMatchObject({ code: 'aborted' });
  expect(clock.pending).toBe(0);
});

test('a store that throws at once, rejects, or throws what cannot be printed is treated as empty', async () => {
  const unprintable = {
    toString: () => {
      throw new Error('no');
    },
  };
  const broken: (() => Promise<never>)[] = [
    () => {
      throw new Error('the disk is full');
    },
    () => Promise.reject(new Error('the disk is full')),
    () => {
      throw unprintable;
    },
    () => Promise.reject(unprintable),
    undefined as never,
  ];
  for (const fail of broken) {
    const { cache, logged } = cacheOf({ get: fail, set: fail, clear: fail });
    expect(await cache.findAll([WASM])).toEqual(new Map());
    await cache.save(WASM, 'b', { median: 1 });
    await cache.saveFailure(WASM, new TabServeError('timeout', 'late'));
    expect(logged.length).toBeGreaterThan(0);
  }
});

test('a config that JSON cannot represent does no harm', async () => {
  const cyclic: Record<string, unknown> = { big: 10n };
  cyclic['self'] = cyclic;
  const { cache } = cacheOf(memoryStore(), { archive: { ...archive, config: cyclic } as Archive });
  await cache.save(WASM, 'b', { median: 1 });
  expect(await cache.find(WASM, 'b')).toEqual({});
});

/** Verdicts, and things that are nearly verdicts. */
const nearly = fc.record(
  {
    environment: fc.oneof(fc.constant('$'), fc.anything()),
    build: fc.oneof(fc.constant('b'), fc.anything()),
    compared: fc.oneof(fc.boolean(), fc.anything()),
    wrong: fc.oneof(fc.string(), fc.anything()),
    median: fc.oneof(fc.double(), fc.anything()),
    excluded: fc.oneof(
      fc.array(fc.record({ node: fc.anything(), precision: fc.string(), reason: fc.string(), file: fc.string() })),
      fc.anything(),
    ),
    failed: fc.oneof(fc.record({ reason: fc.anything(), visits: fc.anything() }), fc.anything()),
  },
  { requiredKeys: [] },
);

test('whatever a store answers, nothing throws, and only a verdict is believed', async () => {
  const saved = memoryStore();
  await cacheOf(saved).cache.save(WASM, 'b', {});
  const [{ environment }] = [...saved.entries.values()] as [Verdict];
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.anything(), nearly), async (value) => {
      // An answer that holds for this environment is the one that is read on.
      const answer =
        typeof value === 'object' && value !== null && (value as Verdict).environment === '$'
          ? { ...value, environment }
          : value;
      const store = { get: async () => answer as Verdict, set: async () => {}, clear: async () => {} };
      const { cache } = cacheOf(store);
      for (const verdict of (await cache.findAll([WASM])).values()) {
        expect(typeof verdict.reason).toBe('string');
        expect(verdict.median === undefined || verdict.median >= 0).toBe(true);
      }
      const { median, wrong } = await cache.find(WASM, 'b');
      expect([undefined, 'number']).toContain(median === undefined ? undefined : typeof median);
      expect([undefined, 'string']).toContain(wrong === undefined ? undefined : typeof wrong);
      for (const { reason } of (await cache.findExcluded(WASM)) ?? []) expect(typeof reason).toBe('string');
      await cache.saveFailure(WASM, new TabServeError('timeout', 'late'));
    }),
    { numRuns: 500, seed: 1 },
  );
});

test('a verdict is read as it was written; one with a wrong type is ignored', () => {
  const verdict: Verdict = {
    environment: 'e',
    build: 'b',
    compared: true,
    median: 1.5,
    excluded: [{ node: '', precision: 'int8-weights', reason: 'r', file: 'f' }],
    failed: { reason: 'r', visits: 1 },
  };
  expect(isVerdict(verdict)).toBe(true);
  expect(isVerdict({ environment: 'e' })).toBe(true);
  for (const other of [
    { median: '1' },
    { median: NaN },
    { median: -1 },
    { wrong: 1 },
    { failed: 'often' },
    { failed: { reason: 'r' } },
    { failed: null },
    { build: 3 },
    { environment: undefined },
    { compared: 'yes' },
    { excluded: 'int8-weights' },
    { excluded: [{ node: '', precision: 'int8-weights', reason: 'r' }] },
    { excluded: [null] },
  ])
    expect(isVerdict({ ...verdict, ...other })).toBe(false);
  for (const other of [null, undefined, 'verdict', 1, [], { place: 'e' }]) expect(isVerdict(other)).toBe(false);
});

test('a store that fails when the caller aborts', async () => {
  const controller = new AbortController();
  const get = (): never => {
    controller.abort();
    throw new Error('no store');
  };
  const { cache } = cacheOf({ ...memoryStore(), get }, { signal: controller.signal });
  await expect(cache.find(WASM, 'b')).rejects.toMatchObject({ name: 'TabServeError', code: 'aborted' });
});
