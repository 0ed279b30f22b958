import { expect, test } from '@playwright/test';
import { chooseCandidates } from '../../src/backends/candidates.ts';
import type { BackendName, Probe } from '../../src/contract.ts';

const ALL: readonly BackendName[] = ['webgpu', 'webgl', 'wasm'];
const GPU: Probe['webgpu'] = { available: true, vendor: 'nvidia', architecture: 'hopper', description: 'nvidia hopper', software: false, fp16: true };
const probe: Probe = {
  webgpu: GPU,
  webgl: { available: true, renderer: 'NVIDIA', software: false },
  wasm: { available: true, simd: true, jspi: true },
  crossOriginIsolated: true,
  cores: 8,
};
const noGpu: Probe['webgpu'] = { available: false, reason: 'WebGPU has no adapter here.' };
const noWasm: Probe['wasm'] = { available: false, reason: 'WebAssembly is forbidden here.' };

/** probe, what the worker was built with, what the caller named → what is tried, and what is not. */
const table: readonly [string, Probe, readonly BackendName[], readonly BackendName[] | undefined, readonly BackendName[], readonly BackendName[]][] = [
  ['a GPU', probe, ALL, undefined, ['webgpu', 'wasm'], ['webgl']],
  ['no GPU', { ...probe, webgpu: noGpu }, ALL, undefined, ['wasm'], ['webgpu', 'webgl']],
  ['a GPU made of software ranks below WASM', { ...probe, webgpu: { ...GPU, software: true } }, ALL, undefined, ['wasm', 'webgpu'], ['webgpu', 'webgl']],
  ['a GPU made of software that is named', { ...probe, webgpu: { ...GPU, software: true } }, ALL, ['webgpu'], ['webgpu'], []],
  ['WebGL that is named', probe, ALL, ['webgl', 'wasm'], ['webgl', 'wasm'], []],
  ['WebGL that is named and absent', { ...probe, webgl: { available: false, reason: 'none' } }, ALL, ['webgl'], [], ['webgl']],
  ['no WASM: ONNX Runtime’s WebGPU is WebAssembly too', { ...probe, wasm: noWasm }, ALL, undefined, [], ['webgpu', 'webgl', 'wasm']],
  ['an engine left out', probe, ['wasm'], undefined, ['wasm'], ['webgpu', 'webgl']],
  ['an engine left out and named', probe, ['wasm'], ['webgpu'], [], ['webgpu']],
  ['an order of one’s own', probe, ALL, ['wasm', 'webgpu'], ['wasm', 'webgpu'], []],
];

for (const [what, found, built, named, tried, left] of table) {
  test(what, () => {
    const { candidates, skipped } = chooseCandidates(found, built, named);
    expect(candidates.map(({ name }) => name)).toEqual(tried);
    expect(skipped.map(({ name }) => name)).toEqual(left);
    for (const { reason } of skipped) expect(reason).toMatch(/\w/);
  });
}

test('a name that is no backend', () => {
  expect(() => chooseCandidates(probe, ALL, ['cuda' as 'wasm'])).toThrow(expect.objectContaining({ code: 'model-config' }));
});
