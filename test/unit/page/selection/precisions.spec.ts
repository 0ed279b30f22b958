/**
 * A model in several precisions: which one each backend gets, which files are asked for, and what is downloaded for the
 * next backend.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { chooseCandidates } from '../../../../src/page/selection/candidates.ts';
import { choosePrecisions } from '../../../../src/page/selection/precisions.ts';
import type { ExcludedPrecision } from '../../../../src/page/selection/verdicts.ts';
import { Trial, type TrialOptions } from '../../../../src/page/selection/trial.ts';
import type { Connection } from '../../../../src/page/workers/connection.ts';
import { describeSkipped, SkipList } from '../../../../src/page/selection/choose.ts';
import { TabServeError } from '../../../../src/contract/errors.ts';
import type { Archive } from '../../../../src/contract/archive.ts';
import { precisionOf } from '../../../../src/contract/archive-parts.ts';
import { BROWSER_CANDIDATES, type BackendName, type Candidate, type Probe } from '../../../../src/contract/backends.ts';
import { HUB_PRECISIONS as PRECISIONS, type Precision } from '../../../../src/contract/precisions.ts';
import type { OpenRequest, StartRequest } from '../../../../src/contract/wire.ts';
import { openLocally } from '../../../../src/tools/cli/local-model.ts';
import { fetchArchive } from '../../../../src/worker/models/archive.ts';
import { fetchModel, type ModelOptions } from '../../../../src/worker/models/model-files.ts';
import { toFloats } from '../../../../src/worker/tensors/tensors.ts';

const path = (precision: Precision, folder = 'onnx/'): string =>
  `${folder}model${precision === 'fp32' ? '' : precision === 'q8' ? '_quantized' : `_${precision}`}.onnx`;
const alternatives = (precisions: readonly Precision[]) =>
  precisions.map((precision) => ({ precision, path: path(precision) }));

/** What the browser has. */
const probe = (fp16: boolean): Probe =>
  ({
    webgpu: { available: true, software: false, fp16 },
    webgl: { available: true, software: false },
    webnn: { available: false },
    wasm: { available: true },
  }) as Probe;

interface Row {
  /** @default all of them, which is what is known of a server */
  readonly has?: readonly Precision[];
  readonly dtype?: Precision;
  /** Precisions that were downloaded before. */
  readonly atHand?: readonly Precision[];
  /** What each backend gets: a GPU with half precision, one without, WebGL, WASM. */
  readonly gets: readonly [half: string, gpu: string, webgl: string, wasm: string];
}

const table: Readonly<Record<string, Row>> = {
  'nobody chooses': { gets: ['fp16 fp32', 'fp32', 'fp32', 'q8 fp32 fp16'] },
  'only full precision': { has: ['fp32'], gets: ['fp32', 'fp32', 'fp32', 'fp32'] },
  'only half precision': { has: ['fp16'], gets: ['fp16', '', '', 'fp16'] },
  'only 8 bits': { has: ['q8'], gets: ['', '', '', 'q8'] },
  'only what must be chosen': { has: ['q4', 'int8'], gets: ['', '', '', ''] },
  'full precision is chosen': { dtype: 'fp32', gets: ['fp32', 'fp32', 'fp32', 'fp32'] },
  'half precision is chosen': { dtype: 'fp16', gets: ['fp16', '', '', 'fp16'] },
  'half precision with 4 bits is chosen': { dtype: 'q4f16', gets: ['q4f16', '', '', 'q4f16'] },
  '8 bits are chosen': { dtype: 'q8', gets: ['q8', 'q8', '', 'q8'] },
  '4 bits are chosen': { dtype: 'q4', gets: ['q4', 'q4', '', 'q4'] },
  'half precision is at hand': { atHand: ['fp16'], gets: ['fp16 fp32', 'fp32', 'fp32', 'fp16 q8 fp32'] },
  'full precision is at hand': { atHand: ['fp32'], gets: ['fp32 fp16', 'fp32', 'fp32', 'fp32 q8 fp16'] },
  '8 bits are at hand': { atHand: ['q8'], gets: ['fp16 fp32', 'fp32', 'fp32', 'q8 fp32 fp16'] },
  'two are at hand': { atHand: ['fp16', 'q8'], gets: ['fp16 fp32', 'fp32', 'fp32', 'q8 fp16 fp32'] },
};

for (const [title, { has = PRECISIONS, dtype, atHand = [], gets }] of Object.entries(table)) {
  test(title, () => {
    const archive = {
      models: { onnx: path(has[0]!) },
      alternatives: alternatives(has),
      config: dtype === undefined ? {} : { engine: { dtype } },
      files: Object.fromEntries(atHand.map((precision) => [path(precision), new Blob()])),
      url: '',
      manifest: { model: { modelName: 'm' } },
      golden: [],
      integrity: {},
    };
    const backends: readonly [BackendName, boolean][] = [
      ['webgpu', true],
      ['webgpu', false],
      ['webgl', false],
      ['wasm', false],
    ];
    for (const [index, [name, fp16]] of backends.entries()) {
      const chosen = choosePrecisions({ engine: 'onnx', name }, archive, probe(fp16))!;
      expect(chosen.wanted.join(' '), name).toBe(gets[index]);
      const { candidates, skipped } = chooseCandidates({
        probe: probe(fp16),
        built: BROWSER_CANDIDATES,
        archive,
        named: [name],
      });
      const { reason } = skipped.find((one) => one.engine === 'onnx') ?? {};
      if (gets[index] !== '') expect(candidates).toContainEqual({ engine: 'onnx', name });
      else expect(reason).toMatch(/no half precision|neither half|if engine\.dtype/);
    }
  });
}

test('a precision that the model is not there in is refused, with the one that was probably meant', () => {
  const archive = { alternatives: alternatives(['fp32', 'float16-weights']), config: {}, files: {} };
  const choose = (dtype: string) =>
    choosePrecisions(
      { engine: 'onnx', name: 'wasm' },
      { ...archive, config: { engine: { dtype: dtype as Precision } } },
      probe(false),
    );
  const message =
    'engine.dtype is "float16", but the model is there in fp32, float16-weights. Did you mean "float16-weights"?';
  expect(() => choose('float16')).toThrow(expect.objectContaining({ code: 'model-config', message }));
  expect(() => choose('q8')).toThrow(/"q8", but the model is there in fp32, float16-weights\.$/);
  expect(choose('fp32')!.wanted).toEqual(['fp32']);
});

test('the reason why a GPU does not get half precision', () => {
  const archive = { alternatives: alternatives(PRECISIONS), config: {}, files: {} };
  expect(choosePrecisions({ engine: 'onnx', name: 'webgpu' }, archive, probe(false))!.excluded).toEqual([
    { precision: 'fp16', reason: 'this GPU has no half precision (shader-f16)' },
  ]);
  expect(choosePrecisions({ engine: 'onnx', name: 'webgpu' }, archive, probe(true))!.excluded).toEqual([]);
  expect(choosePrecisions({ engine: 'tfjs', name: 'webgpu' }, archive, probe(true))).toBeUndefined();
  expect(choosePrecisions({ engine: 'onnx', name: 'wasm' }, { config: {}, files: {} }, probe(true))).toBeUndefined();
});

const ARCHIVE: Archive = {
  url: '',
  manifest: { model: { modelName: 'm' } },
  models: { onnx: path('fp32') },
  alternatives: alternatives(PRECISIONS),
  config: {},
  files: {},
  golden: [],
  integrity: {},
};

const STORED = [
  { precision: 'fp32', path: 'm.onnx' },
  { precision: 'float16-weights', path: 'm-float16.onnx' },
  { precision: 'int8-weights', path: 'm-int8.onnx' },
  { precision: 'fp16', path: 'm-half.onnx' },
  { precision: 'fp32', path: 'model.json' },
  { precision: 'float16-weights', path: 'model-float16.json' },
] as const;

for (const [candidate, fp16, wanted] of [
  [{ engine: 'onnx', name: 'webgpu' }, true, 'int8-weights fp16 float16-weights fp32'],
  [{ engine: 'onnx', name: 'webgpu' }, false, 'int8-weights float16-weights fp32'],
  [{ engine: 'onnx', name: 'wasm' }, false, 'int8-weights float16-weights fp32 fp16'],
  [{ engine: 'onnx', name: 'cpu' }, false, 'int8-weights float16-weights fp32 fp16'],
  [{ engine: 'tfjs', name: 'webgl' }, false, 'float16-weights fp32'],
] as const)
  test(`${candidate.engine}/${candidate.name}, ${fp16 ? 'with' : 'without'} half precision, tries the smallest file of its format first`, () => {
    const archive = { alternatives: STORED, config: {}, files: {} };
    expect(choosePrecisions(candidate, archive, probe(fp16))!.wanted.join(' ')).toBe(wanted);
    const failed = [{ precision: wanted.split(' ')[0] as Precision, reason: 'It computes wrongly.' }];
    const left = choosePrecisions(candidate, archive, probe(fp16), failed)!;
    expect(left.wanted.join(' ')).toBe(wanted.slice(wanted.indexOf(' ') + 1));
    expect(left.excluded).toContainEqual(failed[0]);
  });

test('under Node, 8 bits whose answers depend on the CPU come last', () => {
  const archive = { alternatives: alternatives(['q8', 'fp16', 'fp32']), config: {}, files: {} };
  expect(choosePrecisions({ engine: 'onnx', name: 'cpu' }, archive, probe(false))!.wanted).toEqual([
    'fp32',
    'fp16',
    'q8',
  ]);
});

test("ONNX Runtime's WebGL gets float32 weights alone", () => {
  const choose = (alternatives: NonNullable<Archive['alternatives']>) =>
    choosePrecisions({ engine: 'onnx', name: 'webgl' }, { alternatives, config: {}, files: {} }, probe(false));
  expect(choose(STORED)!.wanted).toEqual(['fp32']);
  const smaller = STORED.filter(({ precision, path }) => precision.endsWith('-weights') && path.endsWith('.onnx'));
  expect(choose(smaller)).toEqual({
    wanted: [],
    excluded: smaller.map(({ precision }) => ({
      precision,
      reason: "ONNX Runtime's WebGL has neither half precision nor quantized weights",
    })),
  });
});

/** Opens a candidate with workers that load the first precision that is wanted; what each of them was asked for. */
async function loads(name: BackendName, options: Partial<TrialOptions>): Promise<readonly string[]> {
  const seen: string[] = [];
  const { trial, worker } = trialOf(
    (candidate, precisions) => seen.push(`${candidate} ${precisions.join(' ')}`),
    options,
  );
  const { precision } = await trial.run({ engine: 'onnx', name }, worker, undefined, false);
  return [...seen, `runs ${precision}`];
}

/** A trial whose workers load the first precision that is wanted. @param opened called when one has loaded it */
function trialOf(
  opened: (candidate: string, precisions: readonly Precision[], isSpared: boolean) => void,
  options: Partial<TrialOptions> = {},
): { trial: Trial; worker: Connection } {
  const wanted: StartRequest[] = [];
  const api = {
    loadModel(from: Archive, { candidate, precisions }: StartRequest): Archive {
      wanted.push({ candidate, precisions } as StartRequest);
      const inFile = (one: Archive, node: string): Archive => ({
        ...one,
        models: { onnx: path(precisions![node]![0]!) },
      });
      if (!from.nodes) return inFile(from, '');
      const node = inFile(from.nodes['a']!, 'a');
      return { ...from, nodes: Object.fromEntries(Object.keys(from.nodes).map((name) => [name, node])) };
    },
    open({ isSpared }: OpenRequest) {
      const { candidate, precisions } = wanted.at(-1)!;
      opened(candidate, Object.values(precisions!)[0]!, isSpared);
      return { threads: 1, version: '0', golden: 0, error: 0, suspicion: undefined };
    },
    hash: () => 'hash',
    sample: () => [{ feeds: {}, outputs: {} }],
    compare: () => ({ inputs: 1, error: 0 }),
    watchSizes: () => undefined,
    measure: () => ({ median: 5 }),
  };
  const worker = {
    call: (ask: (methods: typeof api) => unknown) => new Promise((resolve) => resolve(ask(api))),
    ended: new AbortController().signal,
    close: () => {},
  } as unknown as Connection;
  const trial = new Trial({
    archive: ARCHIVE,
    probe: probe(true),
    handler: undefined,
    assets: undefined,
    download: {},
    verify: 'golden',
    trusted: undefined,
    log: () => {},
    warn: () => {},
    verdicts: {
      find: () => Promise.resolve({}),
      save: () => Promise.resolve(),
      findExcluded: () => Promise.resolve([]),
      hasLarger: async () => false,
      saveExcluded: () => Promise.resolve(),
    },
    onExclude: () => {},
    compiled: { find: () => undefined },
    onArchive: () => {},
    start: () => Promise.resolve(worker),
    ...options,
  });
  return { trial, worker };
}

test('a large example is spared on WASM alone, where no other backend is left, and no other precision', async () => {
  const spared = async (isLast: boolean, options: Partial<TrialOptions> = {}, name: 'wasm' | 'webgpu' = 'wasm') => {
    const found: boolean[] = [];
    const { trial, worker } = trialOf((_, __, isSpared) => void found.push(isSpared), options);
    await trial.run({ engine: 'onnx', name }, worker, undefined, isLast);
    return found;
  };
  const trusted = { engine: 'onnx', name: 'wasm', threads: 1, proof: 'none', precision: 'q8', skipped: [] } as const;
  expect(await spared(true)).toEqual([false]);
  expect(await spared(true, { trusted })).toEqual([true]);
  expect(await spared(false, { trusted })).toEqual([false]);
  expect(await spared(true, { trusted: { ...trusted, name: 'webgpu' } }, 'webgpu')).toEqual([false]);
});

test('WASM checks another backend on the same file; the next worker of a proven backend takes the proven file', async () => {
  expect(await loads('webgpu', { verify: 'reference' })).toEqual([
    'onnx/webgpu fp16 fp32',
    'onnx/wasm fp16',
    'runs fp16',
  ]);
  const proven = { engine: 'onnx', name: 'wasm', threads: 1, proof: 'none', skipped: [] } as const;
  expect(await loads('wasm', { trusted: { ...proven, precision: 'fp16' } })).toEqual(['onnx/wasm fp16', 'runs fp16']);
  expect(await loads('wasm', {})).toEqual(['onnx/wasm q8 fp32 fp16', 'runs q8']);
  // After a loss of the GPU.
  const archive = { ...ARCHIVE, files: { [path('fp16')]: new Blob() } };
  expect(await loads('wasm', { archive })).toEqual(['onnx/wasm fp16 q8 fp32', 'runs fp16']);
});

test('a repository without golden examples is compared with WASM on a GPU, unless a second copy may not fit', async () => {
  const archive = { ...ARCHIVE, isRepository: true } as const;
  const compared = ['onnx/webgpu fp16 fp32', 'onnx/wasm fp16', 'runs fp16'];
  expect(await loads('webgpu', { archive })).toEqual(compared);
  expect(await loads('webgpu', {})).toEqual(['onnx/webgpu fp16 fp32', 'runs fp16']);
  const warnings: string[] = [];
  const warn = (message: string): void => void warnings.push(message);
  // 2.6 x 500 MB are more than a quarter of 4 GB, and less than one of 8 GB.
  const large = { ...archive, files: { [path('fp16')]: { size: 500e6 } as Blob } };
  expect(await loads('webgpu', { archive: large, warn })).toEqual(['onnx/webgpu fp16 fp32', 'runs fp16']);
  expect(warnings).toEqual([
    "onnx/webgpu was not compared with WASM, so nothing proves its answers: a second copy of its 500 MB might not fit in memory. To compare anyway, set verify: 'reference'.",
  ]);
  expect(await loads('webgpu', { archive: large, probe: { ...probe(true), memory: 8 } })).toEqual(compared);
  const proven = { engine: 'onnx', name: 'webgpu', threads: 1, proof: 'none', skipped: [] } as const;
  expect(await loads('webgpu', { archive, trusted: proven })).toHaveLength(2);
});

test('what is measured is recorded for the number of threads that the engine could start', async () => {
  const saved: Candidate[] = [];
  const verdicts = {
    find: () => Promise.resolve({}),
    save: async (one: Candidate) => void saved.push(one),
    findExcluded: () => Promise.resolve([]),
    hasLarger: async () => false,
    saveExcluded: () => Promise.resolve(),
  };
  const { trial, worker } = trialOf(() => {}, { verdicts });
  const { candidate } = await trial.run({ engine: 'onnx', name: 'wasm', threads: 2 }, worker, 100, false);
  expect(candidate).toEqual({ engine: 'onnx', name: 'wasm', threads: 1 });
  expect(saved).toEqual([candidate]);
  expect((await trial.run({ engine: 'onnx', name: 'wasm' }, worker, 100, false)).candidate).toEqual({
    engine: 'onnx',
    name: 'wasm',
  });
});

test('a precision that is wrong is excluded on its candidate, as long as there is another one', async () => {
  const wrong = new TabServeError('backend-wrong', 'It computes wrongly.');
  const candidate = { engine: 'onnx', name: 'wasm' } as const;
  const asked: string[] = [];
  let fails = true;
  const { trial, worker } = trialOf((name, precisions) => {
    asked.push(`${name} ${precisions.join(' ')}`);
    if (fails) throw wrong;
  });
  expect(await trial.exclude(candidate, wrong)).toBe(false);
  for (let left = 2; left > 0; left--) {
    await expect(trial.run(candidate, worker, undefined, false)).rejects.toBe(wrong);
    expect(await trial.exclude(candidate, new TabServeError('model-config', 'The app is at fault.'))).toBe(false);
    expect(await trial.exclude(candidate, wrong)).toBe(true);
  }
  await expect(trial.run(candidate, worker, undefined, false)).rejects.toBe(wrong);
  // It was the last one: the candidate fails.
  expect(await trial.exclude(candidate, wrong)).toBe(false);
  fails = false;
  expect((await trial.run({ engine: 'onnx', name: 'webgpu' }, worker, undefined, false)).precision).toBe('fp16');
  expect(asked).toEqual(['onnx/wasm q8 fp32 fp16', 'onnx/wasm fp32 fp16', 'onnx/wasm fp16', 'onnx/webgpu fp16 fp32']);
});

test('an engine that cannot be loaded excludes no precision', async () => {
  const missing = new TabServeError('backend-failed', 'It could not be started.', { stage: 'load' });
  const candidate = { engine: 'onnx', name: 'wasm' } as const;
  const { trial, worker } = trialOf(() => raise(missing));
  await expect(trial.run(candidate, worker, undefined, false)).rejects.toBe(missing);
  expect(await trial.exclude(candidate, missing)).toBe(false);
});

test("the next worker of a proven backend finds out again which precision of a workflow's node is wrong", async () => {
  // The node b has the archive of a, and is opened first.
  const wrong = new TabServeError('backend-wrong', 'It computes wrongly.', { node: 'b' });
  const candidate = { engine: 'onnx', name: 'wasm' } as const;
  const archive: Archive = { ...ARCHIVE, models: {}, nodes: { a: ARCHIVE, b: ARCHIVE } };
  const trusted = { ...candidate, threads: 1, proof: 'golden', skipped: [] } as const;
  const { trial, worker } = trialOf((_, [precision]) => raise(precision === 'q8' ? wrong : undefined), {
    archive: { ...archive, alternatives: undefined as never },
    trusted,
  });
  await expect(trial.run(candidate, worker, undefined, false)).rejects.toBe(wrong);
  expect(await trial.exclude(candidate, wrong)).toBe(true);
  await trial.run(candidate, worker, undefined, false);
});

test('what computed wrongly is known at the next visit, until the archive says something else of the file', async () => {
  const candidate = { engine: 'onnx', name: 'wasm' } as const;
  const excluded: ExcludedPrecision[] = [];
  const verdicts = {
    find: () => Promise.resolve({}),
    save: () => Promise.resolve(),
    findExcluded: () => Promise.resolve(excluded),
    hasLarger: async () => false,
    saveExcluded: async (_: Candidate, one: ExcludedPrecision) => void excluded.push(one),
  };
  /** One visit, at which 8 bits are wrong; the precisions that were tried, and what was told. */
  const visit = async (archive: Archive, code: 'backend-wrong' | 'model-format' = 'backend-wrong') => {
    const [tried, told]: [(Precision | undefined)[], string[]] = [[], []];
    const onExclude: TrialOptions['onExclude'] = (_, { precision, reason }) => told.push(`${precision}: ${reason}`);
    // The worker says which file it could not read.
    const error = new TabServeError(code, 'Off by 1.', code === 'model-format' ? { precision: 'q8' } : {});
    const opened = (_: string, [precision]: readonly Precision[]): void => {
      tried.push(precision);
      raise(precision === 'q8' ? error : undefined);
    };
    const { trial, worker } = trialOf(opened, { archive, verdicts, onExclude });
    await trial.run({ ...candidate, threads: 2 }, worker, undefined, false).catch(async (thrown: TabServeError) => {
      expect(await trial.exclude({ ...candidate, threads: 2 }, thrown)).toBe(true);
      await trial.run(candidate, worker, undefined, false);
    });
    return { tried, told };
  };
  const first = { tried: ['q8', 'fp32'], told: ['q8: Off by 1.'] };
  // A file that is damaged may be mended.
  expect(await visit(ARCHIVE, 'model-format')).toEqual(first);
  expect(await visit(ARCHIVE)).toEqual(first);
  expect(await visit(ARCHIVE)).toEqual({ tried: ['fp32'], told: ['q8: At an earlier visit: Off by 1.'] });
  expect(await visit({ ...ARCHIVE, integrity: { [path('q8')]: { sha256: 'new' } } })).toEqual(first);
  const agreeing = ARCHIVE.alternatives!.map((one) => ({ ...one, agreement: 'labels' as const }));
  expect(await visit({ ...ARCHIVE, alternatives: agreeing })).toEqual(first);
  expect(await visit({ ...ARCHIVE, golden: ['golden.safetensors'] })).toEqual(first);
});

function raise(error: Error | undefined): void {
  if (error) throw error;
}

test('a list of what is skipped has a candidate and each of its precisions', () => {
  const skips = new SkipList();
  const [wasm, webgpu] = [
    { engine: 'onnx', name: 'wasm' },
    { engine: 'onnx', name: 'webgpu' },
  ] as const;
  skips.add(wasm, 'a', 'int8-weights');
  skips.add(webgpu, 'b');
  skips.add(wasm, 'c', 'int8-weights');
  skips.add(wasm, 'd');
  expect(describeSkipped(skips.entries)).toBe('onnx/webgpu: b onnx/wasm (int8-weights): c onnx/wasm: d');
  expect(skips.without(wasm)).toEqual([
    { ...webgpu, reason: 'b' },
    { ...wasm, precision: 'int8-weights', reason: 'c' },
  ]);
});

const CONFIG = JSON.stringify({ architectures: ['ViTForImageClassification'], model_type: 'vit' });
const PROCESSOR = JSON.stringify({ do_resize: true, size: 8 });

/** A folder on a server with these model files; `asked` are the model files that were asked for. */
async function folder(files: readonly string[], options: Partial<ModelOptions> = {}, dtype?: Precision) {
  const asked: string[] = [];
  const fetch = ((url: URL) => {
    const path = url.pathname.replace('/m/', '');
    if (path.includes('.onnx')) asked.push(path);
    const body =
      path === 'config.json'
        ? CONFIG
        : path === 'preprocessor_config.json'
          ? PROCESSOR
          : files.includes(path)
            ? path
            : undefined;
    return Promise.resolve(body === undefined ? new Response('', { status: 404 }) : new Response(body));
  }) as typeof globalThis.fetch;
  const all = { fetch, ...options };
  const archive = await fetchArchive('https://example.org/m/', {
    ...all,
    ...(dtype && { config: { engine: { dtype } } }),
  });
  expect(asked).toEqual([]);
  /** As a new worker does it. */
  const load = async (from: Archive, ...precisions: Precision[]): Promise<Archive> =>
    await fetchModel(from, 'onnx', { ...all, downloads: new Map(), ...(precisions.length > 0 && { precisions }) });
  return { archive, load, asked };
}

const ALL = [path('fp32'), path('fp16'), path('q8')];

test('one request where the first choice exists; another backend asks for its own file only', async () => {
  const { archive, load, asked } = await folder(ALL);
  const gpu = await load(archive, 'fp16', 'fp32');
  expect(gpu).toMatchObject({ models: { onnx: path('fp16') }, manifest: { model: { serializedFile: path('fp16') } } });
  expect(precisionOf(gpu, 'onnx')).toBe('fp16');
  const wasm = await load(gpu, 'q8', 'fp32', 'fp16');
  expect(wasm.models.onnx).toBe(path('q8'));
  expect(Object.keys(wasm.files)).toEqual(['index_to_name.json', path('fp16'), path('q8')]);
  expect(asked).toEqual([path('fp16'), path('q8')]);
});

test('two backends on the same file: it is downloaded once', async () => {
  const { archive, load, asked } = await folder([path('fp32')]);
  const gpu = await load(archive, 'fp32');
  const wasm = await load(gpu, 'q8', 'fp32', 'fp16');
  const again = await load(wasm, 'q8', 'fp32', 'fp16');
  expect(precisionOf(wasm, 'onnx')).toBe('fp32');
  // The last worker knows that there is no 8-bit file.
  expect(again.files).toEqual(wasm.files);
  expect(asked).toEqual([path('fp32'), path('q8')]);
});

test('the files of a tabserve.json may lie in several folders: the smallest precision still comes first', async () => {
  const files = {
    'MAR-INF/MANIFEST.json': JSON.stringify({ model: { modelName: 'm', serializedFile: 'model.onnx' } }),
    'tabserve.json': JSON.stringify({
      models: { onnx: { file: 'model.onnx', precisions: { 'float16-weights': 'small/model.onnx' } } },
    }),
    'model.onnx': 'full',
    'small/model.onnx': 'half',
  };
  const blobs = Object.fromEntries(Object.entries(files).map(([name, text]) => [name, new Blob([text])]));
  const archive = await fetchArchive(blobs, { fetch: globalThis.fetch });
  const loaded = await fetchModel(archive, 'onnx', {
    fetch: globalThis.fetch,
    precisions: ['float16-weights', 'fp32'],
  });
  expect(loaded.models.onnx).toBe('small/model.onnx');
  expect(loaded.alternatives).toHaveLength(2);
});

test('a damaged file of one precision is told apart from files that all of them need', async () => {
  const files = {
    'MAR-INF/MANIFEST.json': JSON.stringify({ model: { modelName: 'm', serializedFile: 'model.onnx' } }),
    'model.onnx': 'full',
    'small.onnx': 'half',
    'golden.safetensors': 'golden',
  };
  const load = async (damaged: string): Promise<unknown> => {
    const models = { onnx: { file: 'model.onnx', precisions: { 'float16-weights': 'small.onnx' } } };
    const extras = { models, golden: ['golden.safetensors'], files: { [damaged]: { bytes: 9 } } };
    const all = { ...files, 'tabserve.json': JSON.stringify(extras) };
    const blobs = Object.fromEntries(Object.entries(all).map(([name, text]) => [name, new Blob([text])]));
    const archive = await fetchArchive(blobs, { fetch: globalThis.fetch });
    return await fetchModel(archive, 'onnx', { fetch: globalThis.fetch, precisions: ['float16-weights', 'fp32'] });
  };
  await expect(load('small.onnx')).rejects.toMatchObject({ code: 'model-format', precision: 'float16-weights' });
  await expect(load('golden.safetensors')).rejects.toMatchObject({ code: 'model-format', precision: undefined });
  expect(await load('model.onnx')).toMatchObject({ models: { onnx: 'small.onnx' } });
});

test('a precision whose file cannot be downloaded whole is excluded too', async () => {
  const candidate = { engine: 'onnx', name: 'wasm' } as const;
  const told: string[] = [];
  const { trial } = trialOf(() => {}, {
    onExclude: (_, { precision, reason }) => told.push(`${precision}: ${reason}`),
  });
  const damaged = { stage: 'load', precision: 'q8' } as const;
  expect(await trial.exclude(candidate, new TabServeError('model-format', 'The labels are damaged.'))).toBe(false);
  expect(await trial.exclude(candidate, new TabServeError('model-format', 'It is damaged.', damaged))).toBe(true);
  expect(told).toEqual(['q8: It is damaged.']);
});

test('the folder onnx/ is searched before the folder itself', async () => {
  const root = await folder(['model.onnx']);
  const loaded = await root.load(root.archive, 'q8', 'fp32', 'fp16');
  expect(root.asked).toEqual([path('q8'), path('fp32'), path('fp16'), path('q8', ''), path('fp32', '')]);
  expect(loaded.models.onnx).toBe('model.onnx');
  const gpu = await root.load(loaded, 'fp16', 'fp32');
  expect(root.asked.slice(5)).toEqual([path('fp16', '')]);
  expect(gpu.models.onnx).toBe('model.onnx');
});

test('what is missing: only for this backend, for all of them, or the chosen one', async () => {
  const { archive, load } = await folder([path('q8')]);
  await expect(load(archive, 'fp32')).rejects.toMatchObject({
    code: 'backend-failed',
    message: expect.stringMatching(/onnx\/model\.onnx, model\.onnx/),
  });
  expect((await load(archive, 'q8', 'fp32', 'fp16')).models.onnx).toBe(path('q8'));
  const none = await folder([path('q4')]);
  await expect(none.load(none.archive, 'q8', 'fp32', 'fp16')).rejects.toMatchObject({
    code: 'model-not-found',
    message: expect.stringMatching(/onnx\/model_quantized\.onnx.*Optimum.*engine\.dtype/),
  });
  const chosen = await folder(ALL, {}, 'q4');
  await expect(chosen.load(chosen.archive, 'q4')).rejects.toMatchObject({
    code: 'model-not-found',
    message: expect.stringMatching(/onnx\/model_q4\.onnx, model_q4\.onnx/),
  });
  expect(chosen.asked).toEqual([path('q4'), path('q4', '')]);
});

test('files at hand: their list decides, and a precision that must be chosen is named', async () => {
  const picked = async (files: readonly string[], dtype?: Precision) => {
    const local = Object.fromEntries(files.map((path) => [`m/${path}`, new File([path], path)]));
    const all = {
      ...local,
      'm/config.json': new File([CONFIG], ''),
      'm/preprocessor_config.json': new File([PROCESSOR], ''),
    };
    return await fetchArchive(all, { fetch, ...(dtype && { config: { engine: { dtype } } }) });
  };
  const archive = await picked([path('q8'), path('q4')]);
  expect(archive.alternatives).toEqual(alternatives(['q8', 'q4']));
  const loaded = await fetchModel(archive, 'onnx', { fetch, precisions: ['q8', 'fp32', 'fp16'] });
  expect(await loaded.files[path('q8')]!.text()).toBe(path('q8'));
  expect((await picked([path('q4')], 'q4')).models.onnx).toBe(path('q4'));
  for (const dtype of [undefined, 'fp16'] as const)
    await expect(picked([path('q4')], dtype)).rejects.toMatchObject({
      code: 'model-not-found',
      message: expect.stringMatching(/It has onnx\/model_q4\.onnx\..*engine\.dtype/),
    });
});

test('integrity may name the files of every precision, and no file that is none', async () => {
  const bytes = (path: string) => [path, { bytes: path.length }] as const;
  const entries = [...ALL, 'onnx/model_fp16.onnx_data'].map(bytes);
  const { archive, load } = await folder(ALL, { integrity: Object.fromEntries(entries) });
  expect((await load(archive, 'q8')).unmatched).toEqual([path('fp32'), path('fp16'), 'onnx/model_fp16.onnx_data']);
  for (const wrong of ['onnx/model_fp61.onnx', 'onnx/Model_fp16.onnx', 'model_fp16.onnx']) {
    const other = await folder(ALL, { integrity: Object.fromEntries([bytes(wrong)]) });
    await expect(other.load(other.archive, 'q8'), wrong).rejects.toMatchObject({
      code: 'model-format',
      message: new RegExp(wrong),
    });
  }
  const other = await folder(ALL, { integrity: { [path('q8')]: { bytes: 1 } } });
  await expect(other.load(other.archive, 'q8')).rejects.toMatchObject({ code: 'model-format', precision: 'q8' });
  expect(precisionOf(await other.load(other.archive, 'fp32'), 'onnx')).toBe('fp32');
});

const MODELS = new URL('../../../models/hugging-face/', import.meta.url);
const { color, scores: expected } = JSON.parse(readFileSync(new URL('precisions/expected.json', MODELS), 'utf8')) as {
  color: number[];
  scores: Readonly<Record<'fp32' | 'fp16' | 'q8' | 'half', Readonly<Record<string, number>>>>;
};

/** The scores of the photo, by the whole archive under Node with one precision. */
async function answer(name: string, dtype: Precision): Promise<readonly number[]> {
  const names = [
    'config.json',
    'preprocessor_config.json',
    path(dtype),
    ...(name === 'precisions' ? ['onnx/model_fp16.onnx_data'] : []),
  ];
  const files = Object.fromEntries(
    names.map((file) => [`m/${file}`, new File([readFileSync(new URL(`${name}/${file}`, MODELS))], '')]),
  );
  const archive = await fetchArchive(files, { fetch, config: { engine: { dtype } } });
  await using model = await openLocally(await fetchModel(archive, 'onnx', { fetch }), 'onnx');
  const data = new Float32Array(3 * 64).map((_, index) => (color[Math.floor(index / 64)]! / 255 - 0.5) / 0.5);
  const [sample] = await model.record({ data, dims: [3, 8, 8] });
  const logits = sample!.outputs['logits']!;
  expect(logits.dtype).toBe(name === 'half' ? 'float16' : 'float32');
  const exponentials = [...toFloats(logits)].map(Math.exp);
  return exponentials.map((one) => one / exponentials.reduce((sum, other) => sum + other));
}

for (const [name, dtype, scores] of [
  ['precisions', 'fp32', expected.fp32],
  ['precisions', 'fp16', expected.fp16],
  ['precisions', 'q8', expected.q8],
  ['half', 'fp16', expected.half],
] as const) {
  test(`${name} in ${dtype} answers as ONNX Runtime in Python does`, async () => {
    // Float16 outputs have 11 bits.
    const digits = name === 'half' ? 3 : 5;
    for (const [index, score] of (await answer(name, dtype)).entries())
      expect(score).toBeCloseTo(Object.values(scores)[index]!, digits);
  });
}
