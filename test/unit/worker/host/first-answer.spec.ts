import { expect, test } from '@playwright/test';
import { firstCandidates, needsGpus } from '../../../../src/page/selection/order.ts';
import type { Archive } from '../../../../src/contract/archive.ts';
import { BROWSER_CANDIDATES, type Backend, type Probe } from '../../../../src/contract/backends.ts';
import type { Envelope, LoadRequest, StartRequest } from '../../../../src/contract/wire.ts';
import type { EngineEnvironment } from '../../../../src/worker/engines/engine.ts';
import { BaseHandler } from '../../../../src/worker/handlers/base-handler.ts';
import { Host } from '../../../../src/worker/host/host.ts';
import type { HandlerClass } from '../../../../src/contract/handler.ts';
import { stubSession } from '../../support/stub-session.ts';

const FOLDER = 'https://example.org/m/';
const ONNX = 'https://example.org/m.onnx?v=2';
const proven: Backend = { engine: 'onnx', name: 'webgpu', threads: 1, proof: 'golden', skipped: [] };

const none = { available: false, reason: 'none' } as const;
const wasmOnly: Probe = {
  webgpu: none,
  webgl: none,
  webnn: none,
  wasm: { available: true, simd: true, jspi: true, threads: false },
  crossOriginIsolated: false,
  cores: 2,
};
const gpu: Probe = {
  ...wasmOnly,
  webgpu: {
    available: true,
    vendor: 'v',
    architecture: 'a',
    description: 'd',
    software: false,
    fp16: true,
    limits: { maxBufferSize: 1, maxStorageBufferBindingSize: 1, maxComputeWorkgroupStorageSize: 1 },
  },
};
const webgl: Probe = {
  ...wasmOnly,
  webgl: { available: true, renderer: 'r', software: false, floatRendering: true, maxTextureSize: 8192 },
};

for (const [what, choice, source, expected] of [
  ['no GPU', { probe: wasmOnly }, FOLDER, { onnx: 'onnx/wasm', tfjs: 'tfjs/wasm', 'onnx tfjs': 'onnx/wasm' }],
  ['a GPU', { probe: gpu }, FOLDER, { onnx: 'onnx/webgpu', tfjs: 'tfjs/webgpu', 'onnx tfjs': 'onnx/webgpu' }],
  // ONNX Runtime's WebGL is tried if the archive has golden examples, which is not known yet.
  ['WebGL', { probe: webgl }, FOLDER, { tfjs: 'tfjs/webgl', 'onnx tfjs': 'tfjs/webgl' }],
  ['a URL with the format', { probe: wasmOnly }, ONNX, { onnx: 'onnx/wasm' }],
  ['the other format', { probe: wasmOnly }, 'https://example.org/model.json', { tfjs: 'tfjs/wasm' }],
  [
    'files of a visitor',
    { probe: wasmOnly, named: ['tfjs/wasm'] },
    { 'm.onnx': new Blob() },
    { tfjs: 'tfjs/wasm', 'onnx tfjs': 'tfjs/wasm' },
  ],
  ['an order of the app’s own', { probe: gpu, named: ['tfjs/wasm', 'webgpu'] }, ONNX, { onnx: 'onnx/webgpu' }],
  [
    'a candidate that was demoted',
    { probe: gpu, demoted: [{ engine: 'onnx', name: 'webgpu', reason: 'lost' }] },
    ONNX,
    { onnx: 'onnx/wasm' },
  ],
  [
    'an engine that is not built in',
    { probe: gpu, built: ['onnx/wasm'] },
    FOLDER,
    { onnx: 'onnx/wasm', 'onnx tfjs': 'onnx/wasm' },
  ],
  ['a server, which has no engine to start', { probe: wasmOnly, named: ['remote'], hasServer: true }, ONNX, {}],
] as const)
  test(`which engine starts before the archive's config is known: ${what}`, () => {
    const built = BROWSER_CANDIDATES;
    expect(firstCandidates({ built, ...(choice as { probe: Probe }) }, source)).toEqual(expected);
  });

test('the browser is asked for GPUs only if one may be chosen', () => {
  for (const named of [undefined, ['webgpu'], ['wasm', 'tfjs/webgl']] as const) expect(needsGpus(named)).toBe(true);
  for (const named of [['wasm'], ['onnx/wasm', 'cpu'], ['remote']] as const) expect(needsGpus(named)).toBe(false);
  expect(needsGpus(['wasm'], proven)).toBe(true);
});

const shape = { name: 'x', dtype: 'float32', dims: [1, 3] } as const;
const archive = {
  url: FOLDER,
  manifest: { model: { modelName: 'm', handler: 'base_handler' } },
  models: { onnx: 'm.onnx' },
  files: { 'm.onnx': new Blob(['m']) },
  config: { engine: { threads: 3 } },
  golden: [],
  integrity: {},
} as unknown as Archive;
const start: StartRequest = { candidate: 'onnx/wasm', assets: undefined, download: {} };

/** A worker whose files come when the test lets them. */
function world(handlerClass: (name: string | undefined) => Promise<HandlerClass> = async () => BaseHandler) {
  const begun: string[] = [];
  const answers = new Map<string, (response: Response) => void>();
  const environments: EngineEnvironment[] = [];
  const host = new Host({
    engines: {
      'onnx/wasm': async (environment) => {
        begun.push('engine');
        environments.push(environment);
        const threads = await environment.threads;
        return { version: '1', threads, memory: () => 0, open: async () => stubSession([shape], [shape], () => ({})) };
      },
    },
    handlerClass: (name) => {
      begun.push(`handler ${name}`);
      return handlerClass(name);
    },
    platform: {
      probe: () => Promise.reject(new Error('not asked for')),
      threads: (_, wanted) => wanted ?? 1,
      fetch: (url) => {
        const path = new URL(String(url)).pathname;
        begun.push(path);
        return new Promise((resolve) => answers.set(path, resolve));
      },
    },
    emit: () => {},
    sendChunk: () => {},
  });
  const load = (request: Partial<LoadRequest> = {}): Promise<Envelope<Archive>> =>
    host.load({ source: FOLDER, config: undefined, handler: undefined, download: { cache: 'none' }, ...request });
  /** Waits until the file is asked for, and answers. */
  const answer = async (path: string, body: string | undefined): Promise<void> => {
    while (!answers.has(path)) await new Promise((resolve) => void setTimeout(resolve));
    answers.get(path)!(new Response(body ?? null, { status: body === undefined ? 404 : 200 }));
  };
  return { host, begun, environments, load, answer };
}

const MANIFEST = JSON.stringify({
  model: { modelName: 'm', serializedFile: 'm.onnx', handler: 'base_handler', configFile: 'c.yaml' },
});

test('engine, handler and archive are loaded side by side', async () => {
  const { host, begun, load, answer } = world();
  const loading = load({ handler: 'base_handler' });
  host.prepare({ onnx: start });
  await answer('/m/MAR-INF/MANIFEST.json', MANIFEST);
  expect(begun).toEqual(expect.arrayContaining(['engine', 'handler base_handler']));
  for (const path of ['/m/tabserve.json', '/m/index_to_name.json']) await answer(path, undefined);
  await answer('/m/c.yaml', 'engine: { threads: 2 }');
  const loaded = (await loading) as { readonly value: Archive };
  expect(begun.filter((one) => one === 'engine')).toHaveLength(1);
  await answer('/m/m.onnx', 'm');
  const model = (await host.loadModel(loaded.value, start)) as { readonly value: Archive };
  // The engine that started before the config was there has the config's number of threads, and is the one that is
  // used.
  const opened = await host.open({ ...start, archive: model.value, handler: undefined, isSpared: true });
  expect(opened).toMatchObject({ ok: true, value: { threads: 2 } });
  expect(begun.filter((one) => one === 'engine')).toHaveLength(1);
});

test('the handler that the manifest names is loaded while the config is on its way', async () => {
  const { begun, load, answer } = world();
  const loading = load();
  await answer('/m/tabserve.json', undefined);
  await answer('/m/MAR-INF/MANIFEST.json', MANIFEST);
  await answer('/m/c.yaml', '');
  expect(begun).toContain('handler base_handler');
  await answer('/m/index_to_name.json', undefined);
  await loading;
  expect(begun.filter((one) => one.startsWith('handler'))).toEqual(['handler base_handler']);
});

test('an archive that is not there is what is reported, whatever else fails', async () => {
  const { host, load, answer } = world(() => Promise.reject(new Error('no such handler')));
  const loading = load({ handler: 'base_handlr' });
  host.prepare({ onnx: start });
  for (const path of ['/m/MAR-INF/MANIFEST.json', '/m/tabserve.json', '/m/config.json']) await answer(path, undefined);
  expect(await loading).toMatchObject({ ok: false, error: { code: 'model-not-found' } });
});

test('an engine that depends on the formats starts when the manifest has told them', async () => {
  const { host, begun, load, answer } = world();
  const loading = load();
  host.prepare({ onnx: start, tfjs: { ...start, candidate: 'tfjs/wasm' } });
  await answer('/m/tabserve.json', undefined);
  expect(begun).not.toContain('engine');
  await answer('/m/MAR-INF/MANIFEST.json', MANIFEST);
  await answer('/m/c.yaml', 'engine: { threads: 2 }');
  expect(begun).toContain('engine');
  await answer('/m/index_to_name.json', undefined);
  await loading;
});

test('an engine that was started for another candidate is not used', async () => {
  const { host, environments } = world();
  const other = await host.open({ ...start, candidate: 'onnx/webgpu', archive, handler: undefined, isSpared: true });
  expect(other).toMatchObject({ ok: false, error: { code: 'backend-failed' } });
  const opened = await host.open({ ...start, archive, handler: undefined, isSpared: true });
  expect(opened).toMatchObject({ ok: true, value: { threads: 3 } });
  expect(environments).toHaveLength(1);
});
