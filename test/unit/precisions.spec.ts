/** A model in several precisions: which one each backend gets, which files are asked for, and what is downloaded for the next backend. */
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { chooseCandidates } from '../../src/client/selection/candidates.ts';
import { choosePrecisions } from '../../src/client/selection/precisions.ts';
import { Trial, type TrialOptions } from '../../src/client/selection/trial.ts';
import type { Connection } from '../../src/client/workers/connection.ts';
import { precisionOf, type Archive } from '../../src/contract/archive.ts';
import { BROWSER_CANDIDATES, type BackendName, type Probe } from '../../src/contract/backends.ts';
import { PRECISIONS, type Precision } from '../../src/contract/precisions.ts';
import type { StartRequest } from '../../src/contract/wire.ts';
import { openLocally } from '../../src/cli/local-model.ts';
import { fetchArchive, fetchModel, type ModelOptions } from '../../src/models/archive.ts';
import { toFloats } from '../../src/tensors/tensors.ts';

const path = (precision: Precision, folder = 'onnx/'): string =>
  `${folder}model${precision === 'fp32' ? '' : precision === 'q8' ? '_quantized' : `_${precision}`}.onnx`;
const alternatives = (precisions: readonly Precision[]) =>
  precisions.map((precision) => ({ precision, path: path(precision) }));

/** What the browser has. */
const probe = (fp16: boolean): Probe =>
  ({
    webgpu: { available: true, software: false, fp16 },
    webgl: { available: true, software: false },
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
  'what is chosen does not exist': { has: ['fp32'], dtype: 'bnb4', gets: ['', '', '', ''] },
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
    const backends: readonly [BackendName, boolean][] = [['webgpu', true], ['webgpu', false], ['webgl', false], ['wasm', false]]; // prettier-ignore
    for (const [index, [name, fp16]] of backends.entries()) {
      const chosen = choosePrecisions({ engine: 'onnx', name }, archive, probe(fp16))!;
      expect(chosen.wanted.join(' '), name).toBe(gets[index]);
      const { candidates, skipped } = chooseCandidates({ probe: probe(fp16), built: BROWSER_CANDIDATES, archive, named: [name] }); // prettier-ignore
      const { reason } = skipped.find((one) => one.engine === 'onnx') ?? {};
      if (gets[index] !== '') expect(candidates).toContainEqual({ engine: 'onnx', name });
      else
        expect(reason).toMatch(dtype === 'bnb4' ? /no precision/ : /no half precision|neither half|if engine\.dtype/);
    }
  });
}

test('the reason why a GPU does not get half precision', () => {
  const archive = { alternatives: alternatives(PRECISIONS), config: {}, files: {} };
  expect(choosePrecisions({ engine: 'onnx', name: 'webgpu' }, archive, probe(false))!.unfit).toEqual([
    { precision: 'fp16', reason: 'this GPU has no half precision (shader-f16)' },
  ]);
  expect(choosePrecisions({ engine: 'onnx', name: 'webgpu' }, archive, probe(true))!.unfit).toEqual([]);
  expect(choosePrecisions({ engine: 'tfjs', name: 'webgpu' }, archive, probe(true))).toBeUndefined();
  expect(choosePrecisions({ engine: 'onnx', name: 'wasm' }, { config: {}, files: {} }, probe(true))).toBeUndefined();
});

const ARCHIVE: Archive = { url: '', manifest: { model: { modelName: 'm' } }, models: { onnx: path('fp32') }, alternatives: alternatives(PRECISIONS), config: {}, files: {}, golden: [], integrity: {} }; // prettier-ignore

/** Opens a candidate with workers that load the first precision that is wanted; what each of them was asked for. */
async function loads(name: BackendName, options: Partial<TrialOptions>): Promise<readonly string[]> {
  const seen: string[] = [];
  const api = {
    loadModel(from: Archive, { candidate, precisions }: StartRequest): Archive {
      seen.push(`${candidate} ${precisions!['']!.join(' ')}`);
      return { ...from, models: { onnx: path(precisions!['']![0]!) } };
    },
    open: () => ({ threads: 1, version: '0', golden: 0, error: 0, suspicion: undefined }),
    hash: () => 'hash',
    sample: () => [{ feeds: {}, outputs: {} }],
    compare: () => ({ inputs: 1, error: 0 }),
  };
  const worker = {
    call: (ask: (methods: typeof api) => unknown) => Promise.resolve(ask(api)),
    ended: new AbortController().signal,
    close: () => {},
  } as unknown as Connection;
  const trial = new Trial({
    archive: ARCHIVE, probe: probe(true), handler: undefined, assets: undefined, download: {}, verify: 'golden', trusted: undefined, log: () => {},
    verdicts: { find: () => Promise.resolve({}), save: () => Promise.resolve() }, compiled: { find: () => undefined }, onArchive: () => {}, start: () => Promise.resolve(worker), ...options,
  }); // prettier-ignore
  const { precision } = await trial.run({ engine: 'onnx', name }, worker, undefined);
  return [...seen, `runs ${precision}`];
}

test('WASM checks another backend on the same file; the next worker of a proven backend takes the proven file', async () => {
  expect(await loads('webgpu', { verify: 'reference' })).toEqual(['onnx/webgpu fp16 fp32', 'onnx/wasm fp16', 'runs fp16']); // prettier-ignore
  const proven = { engine: 'onnx', name: 'wasm', threads: 1, proof: 'none', skipped: [] } as const;
  expect(await loads('wasm', { trusted: { ...proven, precision: 'fp16' } })).toEqual(['onnx/wasm fp16', 'runs fp16']);
  expect(await loads('wasm', {})).toEqual(['onnx/wasm q8 fp32 fp16', 'runs q8']);
  // After a loss of the GPU.
  const archive = { ...ARCHIVE, files: { [path('fp16')]: new Blob() } };
  expect(await loads('wasm', { archive })).toEqual(['onnx/wasm fp16 q8 fp32', 'runs fp16']);
});

const CONFIG = JSON.stringify({ architectures: ['ViTForImageClassification'], model_type: 'vit' });
const PROCESSOR = JSON.stringify({ do_resize: true, size: 8 });

/** A folder on a server with these model files; `asked` are the model files that were asked for. */
async function folder(files: readonly string[], options: Partial<ModelOptions> = {}, dtype?: Precision) {
  const asked: string[] = [];
  const fetch = ((url: URL) => {
    const path = url.pathname.replace('/m/', '');
    if (path.includes('.onnx')) asked.push(path);
    const body = path === 'config.json' ? CONFIG : path === 'preprocessor_config.json' ? PROCESSOR : files.includes(path) ? path : undefined; // prettier-ignore
    return Promise.resolve(body === undefined ? new Response('', { status: 404 }) : new Response(body));
  }) as typeof globalThis.fetch;
  const all = { fetch, ...options };
  const archive = await fetchArchive('https://example.org/m/', { ...all, ...(dtype && { config: { engine: { dtype } } }) }); // prettier-ignore
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
  expect(precisionOf(gpu)).toBe('fp16');
  const wasm = await load(gpu, 'q8', 'fp32', 'fp16');
  expect(wasm.models.onnx).toBe(path('q8'));
  expect(Object.keys(wasm.files)).toEqual([path('fp16'), path('q8')]);
  expect(asked).toEqual([path('fp16'), path('q8')]);
});

test('two backends on the same file: it is downloaded once', async () => {
  const { archive, load, asked } = await folder([path('fp32')]);
  const gpu = await load(archive, 'fp32');
  const wasm = await load(gpu, 'q8', 'fp32', 'fp16');
  const again = await load(wasm, 'q8', 'fp32', 'fp16');
  expect(precisionOf(wasm)).toBe('fp32');
  // The last worker knows that there is no 8-bit file.
  expect(again.files).toEqual(wasm.files);
  expect(asked).toEqual([path('fp32'), path('q8')]);
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
  await expect(load(archive, 'fp32')).rejects.toMatchObject({ code: 'backend-failed', message: /onnx\/model\.onnx, model\.onnx/ }); // prettier-ignore
  expect((await load(archive, 'q8', 'fp32', 'fp16')).models.onnx).toBe(path('q8'));
  const none = await folder([path('q4')]);
  await expect(none.load(none.archive, 'q8', 'fp32', 'fp16')).rejects.toMatchObject({
    code: 'model-not-found',
    message: /onnx\/model_quantized\.onnx.*Optimum.*engine\.dtype/,
  });
  const chosen = await folder(ALL, {}, 'q4');
  await expect(chosen.load(chosen.archive, 'q4')).rejects.toMatchObject({ code: 'model-not-found', message: /onnx\/model_q4\.onnx, model_q4\.onnx/ }); // prettier-ignore
  expect(chosen.asked).toEqual([path('q4'), path('q4', '')]);
});

test('files at hand: their list decides, and a precision that must be chosen is named', async () => {
  const picked = async (files: readonly string[], dtype?: Precision) => {
    const local = Object.fromEntries(files.map((path) => [`m/${path}`, new File([path], path)]));
    const all = { ...local, 'm/config.json': new File([CONFIG], ''), 'm/preprocessor_config.json': new File([PROCESSOR], '') }; // prettier-ignore
    return await fetchArchive(all, { fetch, ...(dtype && { config: { engine: { dtype } } }) });
  };
  const archive = await picked([path('q8'), path('q4')]);
  expect(archive.alternatives).toEqual(alternatives(['q8', 'q4']));
  const loaded = await fetchModel(archive, 'onnx', { fetch, precisions: ['q8', 'fp32', 'fp16'] });
  expect(await loaded.files[path('q8')]!.text()).toBe(path('q8'));
  expect((await picked([path('q4')], 'q4')).models.onnx).toBe(path('q4'));
  for (const dtype of [undefined, 'fp16'] as const)
    await expect(picked([path('q4')], dtype)).rejects.toMatchObject({ code: 'model-not-found', message: /It has onnx\/model_q4\.onnx\..*engine\.dtype/ }); // prettier-ignore
});

test('integrity may name the files of every precision, and no file that is none', async () => {
  const bytes = (path: string) => [path, { bytes: path.length }] as const;
  const entries = [...ALL, 'onnx/model_fp16.onnx_data'].map(bytes);
  const { archive, load } = await folder(ALL, { integrity: Object.fromEntries(entries) });
  expect((await load(archive, 'q8')).unmatched).toEqual([path('fp32'), path('fp16'), 'onnx/model_fp16.onnx_data']);
  for (const wrong of ['onnx/model_fp61.onnx', 'onnx/Model_fp16.onnx', 'model_fp16.onnx']) {
    const other = await folder(ALL, { integrity: Object.fromEntries([bytes(wrong)]) });
    await expect(other.load(other.archive, 'q8'), wrong).rejects.toMatchObject({ code: 'model-format', message: new RegExp(wrong) }); // prettier-ignore
  }
  const other = await folder(ALL, { integrity: { [path('q8')]: { bytes: 1 } } });
  await expect(other.load(other.archive, 'q8')).rejects.toMatchObject({ code: 'model-format' });
  expect(precisionOf(await other.load(other.archive, 'fp32'))).toBe('fp32');
});

const MODELS = new URL('../models/hugging-face/', import.meta.url);
const { color, scores: expected } = JSON.parse(readFileSync(new URL('precisions/expected.json', MODELS), 'utf8')) as {
  color: number[];
  scores: Readonly<Record<'fp32' | 'fp16' | 'q8' | 'half', Readonly<Record<string, number>>>>;
};

/** The scores of the photo, by the whole archive under Node with one precision. */
async function answer(name: string, dtype: Precision): Promise<readonly number[]> {
  const names = ['config.json', 'preprocessor_config.json', path(dtype), ...(name === 'precisions' ? ['onnx/model_fp16.onnx_data'] : [])]; // prettier-ignore
  const files = Object.fromEntries(names.map((file) => [`m/${file}`, new File([readFileSync(new URL(`${name}/${file}`, MODELS))], '')])); // prettier-ignore
  const archive = await fetchArchive(files, { fetch, config: { engine: { dtype } } });
  await using model = await openLocally(await fetchModel(archive, 'onnx', { fetch }), 'onnx');
  const data = new Float32Array(3 * 64).map((_, index) => (color[Math.floor(index / 64)]! / 255 - 0.5) / 0.5);
  const { outputs } = await model.record({ data, dims: [3, 8, 8] });
  const logits = outputs['logits']!;
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
