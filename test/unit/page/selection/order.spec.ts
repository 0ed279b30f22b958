import { expect, test } from '@playwright/test';
import { candidateOf, describeCandidate, type Probe } from '../../../../src/contract/backends.ts';
import { planCandidates } from '../../../../src/page/selection/order.ts';
import { threadCounts } from '../../../../src/page/selection/order.ts';
import { defaultThreads } from '../../../../src/shared/threads.ts';
import { threadCount } from '../../../../src/worker/host/platform.ts';

const browser = (cores: number, threads = true): Probe =>
  ({ cores, wasm: { available: true, simd: true, jspi: true, threads } }) as Probe;

test('the default: half of the cores, at most four, and each worker has cores of its own', () => {
  const table = [1, 2, 4, 6, 8, 16].map((cores) => [1, 2, 4].map((workers) => defaultThreads(cores, workers)));
  expect(table).toEqual([
    [1, 1, 1],
    [1, 1, 1],
    [2, 2, 1],
    [3, 3, 1],
    [4, 4, 2],
    [4, 4, 4],
  ]);
});

test('what is measured: the default first, then 1, 2 and 4 as far as every worker has cores', () => {
  const counts = (cores: number, workers = 1) => threadCounts(browser(cores), {}, workers).join(' ');
  expect([1, 2, 4, 6, 8].map((cores) => counts(cores))).toEqual(['1', '1 2', '2 1 4', '3 1 2 4', '4 1 2']);
  expect([2, 4, 8, 16].map((cores) => counts(cores, 4))).toEqual(['1', '1', '2 1', '4 1 2']);
});

test('the explicit setting wins, and where memory cannot be shared there is nothing to choose', () => {
  expect(threadCounts(browser(8), { engine: { threads: 2 } }, 1)).toEqual([]);
  expect(threadCounts(browser(8, false), {}, 1)).toEqual([]);
});

test("each number of threads is a candidate on ONNX Runtime's WASM, and on nothing else", () => {
  const archive = {
    models: { onnx: 'm.onnx', tfjs: 'm.json' },
    config: {},
    files: {},
    url: '',
    manifest: { model: { modelName: 'm' } },
    golden: [],
    integrity: {},
  };
  const none = { available: false, reason: 'none' } as const;
  const choice = {
    probe: { ...browser(4), webgpu: none, webgl: none, webnn: none, crossOriginIsolated: true },
    built: ['onnx/wasm', 'tfjs/wasm'] as const,
    archive,
  };
  const names = (options: object): string[] =>
    planCandidates({ ...choice, ...options }).candidates.map(describeCandidate);
  expect(names({ threads: [2, 1] })).toEqual(['onnx/wasm with 2 threads', 'onnx/wasm with 1 thread', 'tfjs/wasm']);
  expect(names({})).toEqual(['onnx/wasm', 'tfjs/wasm']);
  // Another worker of a client, and one that replaces a lost one, computes with the number that was measured.
  const backend = { ...candidateOf('onnx/wasm'), threads: 4, proof: 'none', skipped: [] };
  expect(names({ only: backend })).toEqual(['onnx/wasm with 4 threads']);
  expect(names({ first: { ...backend, ...candidateOf('tfjs/wasm'), threads: 1 } })).toEqual(['tfjs/wasm', 'onnx/wasm']);
});

test('a number that was asked for is asked of the engine, which knows whether it can have it; the default is one thread where memory cannot be shared', () => {
  expect([threadCount(2, 1), threadCount(undefined, 1)]).toEqual([2, 1]);
});
