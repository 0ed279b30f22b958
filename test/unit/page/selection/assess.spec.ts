import { expect, test } from '@playwright/test';
import type { Archive } from '../../../../src/contract/archive.ts';
import type { Assessed, Assessment } from '../../../../src/contract/assessment.ts';
import type { Probe } from '../../../../src/contract/backends.ts';
import { assess, type Here } from '../../../../src/page/selection/assess.ts';

const none = { available: false, reason: 'this test has none' } as const;
const PROBE: Probe = {
  webgpu: {
    available: true,
    vendor: 'v',
    architecture: 'a',
    description: 'a GPU',
    software: false,
    fp16: false,
    limits: { maxBufferSize: 1, maxStorageBufferBindingSize: 1, maxComputeWorkgroupStorageSize: 1 },
  },
  webgl: none,
  webnn: none,
  wasm: { available: true, simd: true, jspi: true, threads: true },
  crossOriginIsolated: true,
  cores: 8,
  memory: 8,
};
const HERE: Here = {
  probe: PROBE,
  built: ['onnx/webgpu', 'onnx/webnn', 'onnx/wasm'],
  freeStorage: 1e9,
  choice: { backends: undefined, prefer: 'first', verify: 'golden' },
  hasServer: false,
};
const MB = 1e6;

/** A repository with these files: in `onnx/` and at the top, as exporters write them. */
function repository(sizes: Readonly<Record<string, number | undefined>>): Assessed {
  const archive: Archive = {
    url: 'https://example.org/m/',
    manifest: { model: { modelName: 'm', handler: 'text_generator' } },
    config: {},
    models: { onnx: 'onnx/model.onnx' },
    alternatives: [
      { path: 'onnx/model.onnx', precision: 'fp32' },
      { path: 'onnx/model_fp16.onnx', precision: 'fp16' },
      { path: 'onnx/model_quantized.onnx', precision: 'q8' },
      { path: 'model_quantized.onnx', precision: 'q8' },
    ],
    files: {},
    isRepository: true,
    golden: [],
    integrity: {},
  };
  const files = archive.alternatives!.filter(({ path }) => path in sizes);
  return {
    archive,
    handler: { name: 'text_generator', reason: 'A test.' },
    files: files.map(({ path, precision }) => ({ node: '', path, precision, bytes: sizes[path] })),
  };
}

const summary = ({ backends }: Assessment): unknown =>
  backends.map(({ engine, name, files, bytes }) => [
    `${engine}/${name}`,
    files.map(({ path }) => path).join(' '),
    bytes,
  ]);

test('each backend has the file that load would give it; what it does not get has a reason', () => {
  const found = repository({
    'onnx/model.onnx': 100 * MB,
    'onnx/model_fp16.onnx': 50 * MB,
    'onnx/model_quantized.onnx': 25 * MB,
  });
  const assessed = assess(found, HERE);
  expect(summary(assessed)).toEqual([
    ['onnx/webgpu', 'onnx/model.onnx', 100 * MB],
    ['onnx/wasm', 'onnx/model_quantized.onnx', 25 * MB],
  ]);
  expect(assessed.backends[0]!.excluded).toEqual([
    { node: '', precision: 'fp16', reason: expect.stringContaining('shader-f16') },
  ]);
  expect(assessed.skipped.map(({ name }) => name)).toEqual(['webgl', 'webnn']);
  expect(assessed.device).toMatchObject({ threads: 4, freeStorage: 1e9, memory: 8 });
  // The chosen backends alone, in their order.
  const named = assess(found, { ...HERE, choice: { ...HERE.choice, backends: ['wasm'] } });
  expect(summary(named)).toEqual([['onnx/wasm', 'onnx/model_quantized.onnx', 25 * MB]]);
});

test('a file that is not there is not chosen, and a backend that gets none is left out', () => {
  const assessed = assess(repository({ 'model_quantized.onnx': 25 * MB }), HERE);
  expect(summary(assessed)).toEqual([['onnx/wasm', 'model_quantized.onnx', 25 * MB]]);
  expect(assessed.skipped).toContainEqual({
    engine: 'onnx',
    name: 'webgpu',
    reason: 'None of the files that it could get is there: onnx/model.onnx.',
  });
});

test('what speaks against a backend: memory, storage, one thread', () => {
  const concerns = (bytes: number | undefined, here: Partial<Here> = {}): readonly string[] =>
    assess(repository({ 'onnx/model.onnx': bytes }), { ...HERE, ...here }).backends.find(({ name }) => name === 'wasm')!
      .concerns;
  expect(concerns(100 * MB)).toEqual([]);
  expect(concerns(undefined)).toEqual([]);
  expect(concerns(2300 * MB, { freeStorage: 500 * MB })).toEqual([
    'It needs about 4,450 MB, and WebAssembly has at most 4,295 MB.',
    "It needs about 4,450 MB, more than half of this device's 8 GB of memory.",
    expect.stringContaining('stores at most 500 MB more'),
  ]);
  const alone = { ...PROBE, wasm: { available: true, simd: true, jspi: true, threads: false } } as const;
  expect(concerns(1, { probe: alone })).toEqual([expect.stringContaining('1 thread')]);
});
