import { expect, test } from '@playwright/test';
import { candidateName, describeCandidate, type Candidate } from '../../../../src/contract/backends.ts';
import { canAnotherHelp, chooseBackend, type Runner } from '../../../../src/page/selection/choose.ts';
import { planCandidates, sortByVerdict } from '../../../../src/page/selection/order.ts';
import { SkipList } from '../../../../src/page/selection/choose.ts';
import type { CachedVerdict } from '../../../../src/page/selection/verdict-cache.ts';
import { BROWSER_CANDIDATES, type Backend, type CandidateName, type Probe } from '../../../../src/contract/backends.ts';
import { ERROR_CODES, TabServeError, type ErrorCode } from '../../../../src/contract/errors.ts';
import { FakeClock, settle } from '../../support/fake-clock.ts';

const of = (name: CandidateName): Candidate => {
  const [engine, backend] = name.split('/') as ['onnx', 'wasm'];
  return { engine, name: backend };
};
const [WEBGPU, WEBGL, WASM] = [of('onnx/webgpu'), of('tfjs/webgl'), of('onnx/wasm')];

/** What a candidate does when it is tried: fails, or runs after this many milliseconds, with this median. */
type Behavior = Error | { readonly after?: number; readonly median?: number; readonly isCached?: boolean };

interface Stub {
  readonly clock: FakeClock;
  /** Candidates in the order in which they were tried, with the budget for measuring. */
  readonly tried: (readonly [CandidateName, number | undefined])[];
  readonly closed: CandidateName[];
  readonly failed: CandidateName[];
  readonly skips: SkipList;
  readonly logged: string[];
  readonly chosen: Promise<Runner>;
}

function choose(
  behaviors: Partial<Record<CandidateName, Behavior>>,
  options: {
    leftOut?: ConstructorParameters<typeof SkipList>[0];
    measureBudget?: number;
    cached?: Record<string, CachedVerdict>;
    signal?: AbortSignal;
  } = {},
): Stub {
  const clock = new FakeClock();
  const [tried, closed, failed]: [Stub['tried'], CandidateName[], CandidateName[]] = [[], [], []];
  const logged: string[] = [];
  const skips = new SkipList(options.leftOut);
  const chosen = chooseBackend<Runner>({
    modelName: 'digits',
    candidates: Object.keys(behaviors).map((name) => of(name as CandidateName)),
    skips,
    measureBudget: options.measureBudget,
    cached: new Map(Object.entries(options.cached ?? {})) as Map<CandidateName, CachedVerdict>,
    attempt: (candidate, budget, until) =>
      new Promise((resolve, reject) => {
        const name = candidateName(candidate);
        const behavior = behaviors[name]!;
        tried.push([name, budget]);
        if (behavior instanceof Error) return reject(behavior);
        until.addEventListener('abort', () => reject(until.reason as Error));
        const { after = 0, median, isCached = false } = behavior;
        const runner = { candidate, median, isCached };
        if (after > 0) clock.schedule(() => resolve(runner), after);
        else resolve(runner);
      }),
    dismiss: ({ candidate }) => void closed.push(candidateName(candidate)),
    onFailure: async (candidate) => void failed.push(candidateName(candidate)),
    log: (message) => void logged.push(message),
    clock,
    signal: options.signal,
  });
  chosen.catch(() => {});
  return { clock, tried, closed, failed, skips, logged, chosen };
}

const failure = (code: ErrorCode): TabServeError => new TabServeError(code, `no: ${code}`);
const reasons = (skips: SkipList): Record<string, string> =>
  Object.fromEntries(skips.entries.map((entry) => [candidateName(entry), entry.reason]));

test('the first candidate that runs is chosen, and no other is tried', async () => {
  const { chosen, tried, skips } = choose({
    'onnx/webgpu': failure('backend-wrong'),
    'tfjs/webgl': {},
    'onnx/wasm': {},
  });
  expect((await chosen).candidate).toEqual(WEBGL);
  expect(tried).toEqual([
    ['onnx/webgpu', undefined],
    ['tfjs/webgl', undefined],
  ]);
  expect(reasons(skips)).toEqual({ 'onnx/webgpu': 'no: backend-wrong' });
});

test('another candidate is tried only where the error blames the backend or the worker, or a script is missing', async () => {
  const another = (Object.keys(ERROR_CODES) as ErrorCode[]).filter((code) => canAnotherHelp(failure(code)));
  expect(another.sort()).toEqual([
    'backend-failed',
    'backend-wrong',
    'device-lost',
    'no-backend',
    'out-of-memory',
    'worker-failed',
    'worker-lost',
  ]);
  for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
    const { chosen, tried } = choose({
      'onnx/webgpu': failure('backend-failed'),
      'tfjs/webgl': failure(code),
      'onnx/wasm': {},
    });
    if (another.includes(code)) expect((await chosen).candidate).toEqual(WASM);
    else {
      // With what has failed before it.
      await expect(chosen).rejects.toMatchObject({
        code,
        message: expect.stringContaining('onnx/webgpu: no: backend-failed'),
      });
      expect(tried).toHaveLength(2);
    }
  }
});

test('no candidate is left: every reason, the last failure as the cause', async () => {
  const last = failure('out-of-memory');
  const { chosen } = choose({ 'onnx/webgpu': failure('backend-failed'), 'onnx/wasm': last });
  await expect(chosen).rejects.toMatchObject({
    code: 'no-backend',
    message: 'No backend can run digits. onnx/webgpu: no: backend-failed onnx/wasm: no: out-of-memory',
    cause: last,
  });
});

test('no candidate is left: what was tried is told before what was left out, and each reason once', async () => {
  const reason = 'There is no GPU.';
  const leftOut = [
    { engine: 'onnx', name: 'webgl', reason },
    { engine: 'tfjs', name: 'webgl', reason },
  ] as const;
  const { chosen } = choose({ 'onnx/wasm': new TabServeError('backend-failed', 'Install the package.') }, { leftOut });
  await expect(chosen).rejects.toThrow(
    'No backend can run digits. onnx/wasm: Install the package. onnx/webgl, tfjs/webgl: There is no GPU.',
  );
});

test('WebNN alone, which few browsers have: the error says what to add', async () => {
  const leftOut = [{ engine: 'onnx', name: 'webnn', reason: 'This browser has no WebNN.' }] as const;
  await expect(choose({}, { leftOut }).chosen).rejects.toThrow(
    "No backend can run digits. Few browsers have WebNN: add 'wasm' to backends, which all of them have. onnx/webnn: This browser has no WebNN.",
  );
  await expect(choose({ 'onnx/wasm': failure('out-of-memory') }, { leftOut }).chosen).rejects.toThrow(
    /has no WebNN\.$/,
  );
});

test('the candidate with the lowest median is chosen; the others are closed and skipped', async () => {
  const { chosen, tried, closed, skips } = choose(
    { 'onnx/webgpu': { median: 9 }, 'tfjs/webgl': { median: 3 }, 'onnx/wasm': { median: 5 } },
    { measureBudget: 300 },
  );
  expect((await chosen).candidate).toEqual(WEBGL);
  expect(tried).toEqual([
    ['onnx/webgpu', 100],
    ['tfjs/webgl', 100],
    ['onnx/wasm', 100],
  ]);
  expect(closed).toEqual(['onnx/webgpu', 'onnx/wasm']);
  expect(reasons(skips)).toEqual({
    'onnx/webgpu': 'It is slower: 9 ms a run, tfjs/webgl takes 3 ms.',
    'onnx/wasm': 'It is slower: 5 ms a run, tfjs/webgl takes 3 ms.',
  });
});

test('the budget begins when the first candidate runs; a late candidate is skipped and recorded', async () => {
  const { chosen, clock, tried, failed, skips, logged } = choose(
    { 'onnx/webgpu': { after: 5000, median: 9 }, 'tfjs/webgl': { after: 500, median: 3 }, 'onnx/wasm': { median: 1 } },
    { measureBudget: 300 },
  );
  await clock.advance(5000);
  // Two thirds of the budget are left for the other two: the first has had its share.
  expect(tried).toEqual([
    ['onnx/webgpu', 100],
    ['tfjs/webgl', 100],
  ]);
  await clock.advance(199);
  expect(reasons(skips)).toEqual({});
  await clock.advance(1);
  expect((await chosen).candidate).toEqual(WEBGPU);
  // No time was left to try the third.
  expect(tried).toHaveLength(2);
  expect(failed).toEqual(['tfjs/webgl', 'onnx/wasm']);
  expect(reasons(skips)).toEqual({
    'tfjs/webgl': 'It was not measured: measureBudget, 300 ms, was used up.',
    'onnx/wasm': 'It was not measured: measureBudget, 300 ms, was used up.',
  });
  // It may well run.
  expect(logged).toEqual([
    'tfjs/webgl was not measured: measureBudget, 300 ms, was used up.',
    'onnx/wasm was not measured: measureBudget, 300 ms, was used up.',
  ]);
  expect(clock.pending).toBe(1); // the stub's own
});

test('a cached verdict spares a candidate, until a new measurement shows that model or engine changed', async () => {
  const cached = {
    'onnx/wasm': { median: 2, reason: 'It is slower: cached.' },
    'onnx/webgpu': { median: 4, reason: 'It is slower: cached.' },
    'tfjs/webgl': { median: undefined, reason: 'It computes wrongly: cached.' },
  };
  const all = { 'onnx/webgpu': { median: 4 }, 'tfjs/webgl': { median: 3 } };
  const same = choose({ ...all, 'onnx/wasm': { median: 2, isCached: true } }, { measureBudget: 300, cached });
  expect((await same.chosen).candidate).toEqual(WASM);
  expect(same.tried.map(([name]) => name)).toEqual(['onnx/wasm']);
  expect(reasons(same.skips)).toEqual({
    'onnx/webgpu': 'It is slower: cached.',
    'tfjs/webgl': 'It computes wrongly: cached.',
  });
  const changed = choose({ ...all, 'onnx/wasm': { median: 9 } }, { measureBudget: 300, cached });
  expect((await changed.chosen).candidate).toEqual(WEBGL);
  expect(changed.tried.map(([name]) => name)).toEqual(['onnx/wasm', 'onnx/webgpu', 'tfjs/webgl']);
});

test('a candidate that cannot be measured still serves', async () => {
  const { chosen, tried } = choose({ 'onnx/webgpu': {}, 'onnx/wasm': { median: 1 } }, { measureBudget: 300 });
  expect((await chosen).candidate).toEqual(WEBGPU);
  expect(tried).toHaveLength(1);
});

test('a failure is recorded only where it blames the backend, and only when measuring', async () => {
  const fails = {
    'onnx/webgpu': { median: 1 },
    'tfjs/webgl': failure('handler-failed'),
    'onnx/wasm': failure('device-lost'),
  };
  const measuring = choose(fails, { measureBudget: 300 });
  expect((await measuring.chosen).candidate).toEqual(WEBGPU);
  expect(measuring.failed).toEqual(['onnx/wasm']);
  const plain = choose({ 'onnx/webgpu': failure('backend-failed'), 'onnx/wasm': {} });
  await plain.chosen;
  expect(plain.failed).toEqual([]);
});

test('abort ends it with the reason of the signal', async () => {
  const stop = new AbortController();
  const { chosen, clock, tried } = choose(
    { 'onnx/webgpu': failure('worker-lost'), 'onnx/wasm': {} },
    { signal: stop.signal },
  );
  stop.abort(new Error('enough'));
  await expect(chosen).rejects.toMatchObject({ code: 'aborted', message: 'enough' });
  expect(tried).toHaveLength(1);
  await settle();
  expect(clock.pending).toBe(0);
});

test('order: measured ones first, the fastest of them at the front, then unknown ones, then those that failed', () => {
  const cached = new Map<CandidateName, CachedVerdict>([
    ['onnx/webgpu', { median: undefined, reason: 'failed' }],
    ['tfjs/webgpu', { median: 9, reason: 'slower' }],
    ['onnx/wasm', { median: 2, reason: 'slower' }],
  ]);
  const sorted = sortByVerdict(
    (['onnx/webgpu', 'tfjs/webgpu', 'tfjs/webgl', 'onnx/wasm', 'tfjs/wasm'] as const).map(of),
    cached,
  );
  expect(sorted.map(candidateName)).toEqual(['onnx/wasm', 'tfjs/webgpu', 'tfjs/webgl', 'tfjs/wasm', 'onnx/webgpu']);
});

test.describe('after losses', () => {
  const probe: Probe = {
    webgpu: { available: false, reason: 'This browser has no WebGPU.' },
    webgl: { available: true, renderer: 'NVIDIA', software: false, floatRendering: true, maxTextureSize: 16384 },
    webnn: { available: false, reason: 'This browser has no WebNN.' },
    wasm: { available: true, simd: true, jspi: true, threads: true },
    crossOriginIsolated: true,
    cores: 8,
  };
  const choice = {
    probe,
    built: BROWSER_CANDIDATES,
    archive: {
      models: { onnx: 'm.onnx', tfjs: 'm.json' },
      config: {},
      files: {},
      url: '',
      manifest: { model: { modelName: 'm' } },
      golden: [],
      integrity: {},
    },
  };
  const lost = (name: CandidateName) => ({ ...of(name), reason: 'It was lost 2 times in a row.' });
  const backend = (name: CandidateName): Backend => ({
    ...of(name),
    threads: 1,
    proof: 'none',
    skipped: [{ ...of('tfjs/wasm'), reason: 'It is slower.' }],
  });
  const names = (options: object): string =>
    planCandidates({ ...choice, ...options })
      .candidates.map(candidateName)
      .join(' ');

  test('a demoted candidate is skipped, with its reason; if all were demoted, each gets another chance', () => {
    expect(names({})).toBe('tfjs/webgl onnx/wasm tfjs/wasm');
    expect(names({ demoted: [lost('tfjs/webgl')] })).toBe('onnx/wasm tfjs/wasm');
    expect(planCandidates({ ...choice, demoted: [lost('tfjs/webgl')] }).skipped).toContainEqual(lost('tfjs/webgl'));
    const all = (['tfjs/webgl', 'onnx/wasm', 'tfjs/wasm'] as const).map(lost);
    expect(names({ demoted: all })).toBe('tfjs/webgl onnx/wasm tfjs/wasm');
  });

  test('the one to begin with comes first, and its reasons stay; the only one comes alone', () => {
    const plan = planCandidates({ ...choice, first: backend('onnx/wasm') });
    expect(plan.candidates.map(candidateName)).toEqual(['onnx/wasm', 'tfjs/webgl', 'tfjs/wasm']);
    expect(plan.skipped).toContainEqual({ ...of('tfjs/wasm'), reason: 'It is slower.' });
    expect(names({ only: backend('onnx/webgl') })).toBe('onnx/webgl');
    expect(names({ only: backend('onnx/wasm'), named: ['webgl'] })).toBe('onnx/wasm');
  });
});

test('numbers of threads are measured like other candidates; the skipped ones say their median', async () => {
  const closed: string[] = [];
  const skips = new SkipList();
  const medians: Readonly<Record<number, number>> = { 1: 9, 2: 5, 4: 6 };
  const best = await chooseBackend<Runner>({
    modelName: 'digits',
    candidates: [1, 2, 4].map((threads) => ({ ...WASM, threads })),
    skips,
    measureBudget: 300,
    cached: new Map(),
    attempt: async (candidate) => ({
      candidate,
      median: medians[candidate.threads!],
      isCached: false,
    }),
    dismiss: ({ candidate }) => void closed.push(describeCandidate(candidate)),
    onFailure: async () => {},
    log: () => {},
    clock: new FakeClock(),
    signal: undefined,
  });
  expect(best.candidate).toEqual({ ...WASM, threads: 2 });
  expect(closed).toEqual(['onnx/wasm with 1 thread', 'onnx/wasm with 4 threads']);
  expect(skips.without(best.candidate)).toEqual([
    {
      ...WASM,
      threads: 1,
      reason: 'With 1 thread it is slower: 9 ms a run, onnx/wasm with 2 threads takes 5 ms.',
    },
    {
      ...WASM,
      threads: 4,
      reason: 'With 4 threads it is slower: 6 ms a run, onnx/wasm with 2 threads takes 5 ms.',
    },
  ]);
});

test('the reason of a number of threads names the number, once', () => {
  const skips = new SkipList([{ ...WASM, threads: 1, reason: 'With 1 thread it is slower.' }]);
  skips.add({ ...WASM, threads: 4 }, 'onnx/wasm could not be started.');
  skips.add({ ...WASM, threads: 2 }, 'It computes wrongly.', 'q8');
  skips.add(WEBGL, 'It is slower.');
  expect(skips.without(WEBGPU).map(({ reason }) => reason)).toEqual([
    'With 1 thread it is slower.',
    'With 4 threads: onnx/wasm could not be started.',
    // Whether a precision is right does not depend on threads.
    'It computes wrongly.',
    'It is slower.',
  ]);
});

test('a candidate has one reason, the latest', () => {
  const skips = new SkipList([{ ...WEBGPU, reason: 'It is tried last.' }]);
  skips.add(WEBGPU, 'It failed.');
  skips.add(WASM, 'It is slower.');
  expect(skips.entries).toEqual([
    { ...WEBGPU, reason: 'It failed.' },
    { ...WASM, reason: 'It is slower.' },
  ]);
  expect(skips.without(WASM)).toEqual([{ ...WEBGPU, reason: 'It failed.' }]);
});
