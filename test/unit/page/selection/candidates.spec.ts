import { expect, test } from '@playwright/test';
import { chooseCandidates, type Choice } from '../../../../src/page/selection/candidates.ts';
import { BROWSER_CANDIDATES, type CandidateName, type Probe } from '../../../../src/contract/backends.ts';

const GPU: Extract<Probe['webgpu'], { available: true }> = {
  available: true,
  vendor: 'nvidia',
  architecture: 'hopper',
  description: 'nvidia hopper',
  software: false,
  fp16: true,
  limits: { maxBufferSize: 2 ** 31, maxStorageBufferBindingSize: 2 ** 31, maxComputeWorkgroupStorageSize: 32768 },
};
const probe: Probe = {
  webgpu: GPU,
  webgl: { available: true, renderer: 'NVIDIA', software: false, floatRendering: true, maxTextureSize: 16384 },
  webnn: { available: false, reason: 'This browser has no WebNN.' },
  wasm: { available: true, simd: true, jspi: true, threads: true },
  crossOriginIsolated: true,
  cores: 8,
};
const noGpu: Probe = { ...probe, webgpu: { available: false, reason: 'WebGPU has no adapter here.' } };
const noWebgl: Probe = { ...probe, webgl: { available: false, reason: 'This browser has no WebGL 2 in workers.' } };
const noWasm: Probe = { ...probe, wasm: { available: false, reason: 'WebAssembly is forbidden here.' } };
const software: Probe = {
  ...probe,
  webgpu: { ...GPU, software: true },
  webgl: { available: true, renderer: 'SwiftShader', software: true, floatRendering: true, maxTextureSize: 8192 },
};
const withWebnn: Probe = { ...probe, webnn: { available: true } };
const noGpuSoftwareWebgl: Probe = { ...software, webgpu: noGpu.webgpu };

const ONNX = { onnx: 'm.onnx' };
const TFJS = { tfjs: 'm.json' };
const BOTH = { ...ONNX, ...TFJS };
const of = (models: Choice['archive']['models']): Choice['archive'] => ({
  models,
  config: {},
  files: {},
  url: '',
  manifest: { model: { modelName: 'm' } },
  golden: [],
  integrity: {},
});
const but = (...names: CandidateName[]): CandidateName[] => BROWSER_CANDIDATES.filter((name) => !names.includes(name));

/** The engines of a worker thread. */
const NODE: readonly CandidateName[] = ['onnx/cpu', 'onnx/wasm', 'tfjs/cpu'];

interface Row {
  /** What the browser has. @default everything, of hardware */
  readonly probe?: Probe;
  readonly models: Choice['archive']['models'];
  readonly named?: NonNullable<Choice['named']>;
  /** Whether every candidate is measured. @default false */
  readonly measured?: boolean;
  /** @default every engine */
  readonly built?: readonly CandidateName[];
  /** What is tried, in order. */
  readonly tried: string;
  /** What is not, or not in its turn. */
  readonly skipped: string;
}

const table: Readonly<Record<string, Row>> = {
  'ONNX: WebGPU, then WASM': { models: ONNX, tried: 'onnx/webgpu onnx/wasm', skipped: 'onnx/webgl onnx/webnn' },
  'ONNX without a GPU': {
    probe: noGpu,
    models: ONNX,
    tried: 'onnx/wasm',
    skipped: 'onnx/webgpu onnx/webgl onnx/webnn',
  },
  'ONNX, GPUs in software rank below WASM': {
    probe: software,
    models: ONNX,
    tried: 'onnx/wasm onnx/webgpu',
    skipped: 'onnx/webgpu onnx/webgl onnx/webnn',
  },
  'ONNX without WASM: its WebGPU is WebAssembly too': {
    probe: noWasm,
    models: ONNX,
    tried: '',
    skipped: 'onnx/webgpu onnx/webgl onnx/webnn onnx/wasm',
  },
  'TensorFlow.js: WebGPU, WebGL, WASM': {
    models: TFJS,
    tried: 'tfjs/webgpu tfjs/webgl tfjs/wasm',
    skipped: 'tfjs/cpu',
  },
  'TensorFlow.js without WASM: its WebGPU needs none': {
    probe: noWasm,
    models: TFJS,
    tried: 'tfjs/webgpu tfjs/webgl',
    skipped: 'tfjs/wasm tfjs/cpu',
  },
  'TensorFlow.js, GPUs in software': {
    probe: software,
    models: TFJS,
    tried: 'tfjs/wasm tfjs/webgpu tfjs/webgl',
    skipped: 'tfjs/webgpu tfjs/webgl tfjs/cpu',
  },
  'TensorFlow.js without WebGL': {
    probe: noWebgl,
    models: TFJS,
    tried: 'tfjs/webgpu tfjs/wasm',
    skipped: 'tfjs/webgl tfjs/cpu',
  },
  'both: each backend has a good candidate': {
    models: BOTH,
    tried: 'onnx/webgpu tfjs/webgpu tfjs/webgl onnx/wasm tfjs/wasm',
    skipped: 'onnx/webgl onnx/webnn tfjs/cpu',
  },
  'both, no WebGPU: WebGL before WASM': {
    probe: noGpu,
    models: BOTH,
    tried: 'tfjs/webgl onnx/wasm tfjs/wasm',
    skipped: 'onnx/webgpu tfjs/webgpu onnx/webgl onnx/webnn tfjs/cpu',
  },
  'both, no WebGPU, WebGL in software': {
    probe: noGpuSoftwareWebgl,
    models: BOTH,
    tried: 'onnx/wasm tfjs/wasm tfjs/webgl',
    skipped: 'onnx/webgpu tfjs/webgpu tfjs/webgl onnx/webgl onnx/webnn tfjs/cpu',
  },
  'both, GPUs in software': {
    probe: software,
    models: BOTH,
    tried: 'onnx/wasm tfjs/wasm onnx/webgpu tfjs/webgpu tfjs/webgl',
    skipped: 'onnx/webgpu tfjs/webgpu tfjs/webgl onnx/webgl onnx/webnn tfjs/cpu',
  },
  'a backend is named: every engine that has a model, ONNX first': {
    models: BOTH,
    named: ['wasm', 'webgpu'],
    tried: 'onnx/wasm tfjs/wasm onnx/webgpu tfjs/webgpu',
    skipped: '',
  },
  'webgl is named, both: TensorFlow.js’s is meant': {
    models: BOTH,
    named: ['webgl'],
    tried: 'tfjs/webgl',
    skipped: 'onnx/webgl',
  },
  'webgl is named, ONNX alone: the only one that there is': {
    models: ONNX,
    named: ['webgl', 'wasm'],
    tried: 'onnx/webgl onnx/wasm',
    skipped: '',
  },
  'webgl is named, both, but TensorFlow.js’s is not built in': {
    models: BOTH,
    named: ['webgl'],
    built: but('tfjs/webgl'),
    tried: 'onnx/webgl',
    skipped: 'tfjs/webgl',
  },
  'webgl is named, TensorFlow.js alone': { models: TFJS, named: ['webgl'], tried: 'tfjs/webgl', skipped: '' },
  'webgl is named and absent': { probe: noWebgl, models: ONNX, named: ['webgl'], tried: '', skipped: 'onnx/webgl' },
  'a candidate is named: that one alone': { models: BOTH, named: ['onnx/webgl'], tried: 'onnx/webgl', skipped: '' },
  'candidates and backends mixed; twice is once': {
    models: BOTH,
    named: ['tfjs/wasm', 'wasm', 'onnx/webgl', 'webgl'],
    tried: 'tfjs/wasm onnx/wasm onnx/webgl tfjs/webgl',
    skipped: '',
  },
  'cpu is named': { models: BOTH, named: ['cpu'], tried: 'tfjs/cpu', skipped: '' },
  'cpu is named, ONNX alone': { models: ONNX, named: ['cpu'], tried: '', skipped: 'tfjs/cpu' },
  'a candidate is named whose model the archive lacks': {
    models: ONNX,
    named: ['tfjs/webgl', 'wasm'],
    tried: 'onnx/wasm',
    skipped: 'tfjs/webgl',
  },
  'a GPU in software that is named is tried in its turn': {
    probe: software,
    models: ONNX,
    named: ['webgpu', 'wasm'],
    tried: 'onnx/webgpu onnx/wasm',
    skipped: '',
  },
  'under Node: ONNX Runtime for Node; WASM only if named': {
    models: ONNX,
    built: NODE,
    tried: 'onnx/cpu',
    skipped: 'onnx/webgpu onnx/webgl onnx/webnn onnx/wasm',
  },
  'under Node, TensorFlow.js alone: plain JavaScript is all that there is': {
    models: TFJS,
    built: NODE,
    tried: 'tfjs/cpu',
    skipped: 'tfjs/webgpu tfjs/webgl tfjs/wasm',
  },
  'under Node, both': {
    models: BOTH,
    built: NODE,
    tried: 'onnx/cpu',
    skipped: 'onnx/webgpu tfjs/webgpu tfjs/webgl onnx/webgl onnx/webnn onnx/wasm tfjs/wasm tfjs/cpu',
  },
  'under Node, cpu is named: every engine on it': {
    models: BOTH,
    built: NODE,
    named: ['cpu', 'wasm'],
    tried: 'onnx/cpu tfjs/cpu onnx/wasm',
    skipped: 'tfjs/wasm',
  },
  'ONNX Runtime for Node is named in a browser': { models: ONNX, named: ['onnx/cpu'], tried: '', skipped: 'onnx/cpu' },
  'WebNN is measured where there is some, after the GPUs': {
    probe: withWebnn,
    models: BOTH,
    measured: true,
    tried: 'onnx/webgpu tfjs/webgpu tfjs/webgl onnx/webnn onnx/wasm tfjs/wasm',
    skipped: 'onnx/webgl tfjs/cpu',
  },
  'WebNN, and nothing is measured: only if it is named': {
    probe: withWebnn,
    models: ONNX,
    tried: 'onnx/webgpu onnx/wasm',
    skipped: 'onnx/webgl onnx/webnn',
  },
  'WebNN is named': {
    probe: withWebnn,
    models: BOTH,
    named: ['webnn', 'wasm'],
    tried: 'onnx/webnn onnx/wasm tfjs/wasm',
    skipped: '',
  },
  'WebNN without WebAssembly': {
    probe: { ...withWebnn, wasm: noWasm.wasm },
    models: ONNX,
    named: ['webnn'],
    tried: '',
    skipped: 'onnx/webnn',
  },
  'an engine left out': {
    models: ONNX,
    built: ['onnx/wasm'],
    tried: 'onnx/wasm',
    skipped: 'onnx/webgpu onnx/webgl onnx/webnn',
  },
  'an engine left out and named': {
    models: ONNX,
    named: ['webgpu'],
    built: ['onnx/wasm'],
    tried: '',
    skipped: 'onnx/webgpu',
  },
};

for (const [title, { models, named, tried, skipped: left, ...row }] of Object.entries(table)) {
  test(title, () => {
    const { candidates, skipped } = chooseCandidates({
      probe,
      built: BROWSER_CANDIDATES,
      archive: of(models),
      named,
      ...row,
    });
    expect(candidates.map(({ engine, name }) => `${engine}/${name}`).join(' ')).toBe(tried);
    expect(skipped.map(({ engine, name }) => `${engine}/${name}`).join(' ')).toBe(left);
    for (const { reason } of skipped) expect(reason).toMatch(/\w/);
  });
}

test('the reason for skipping a candidate is what it lacks, before what would be wrong with it', () => {
  const reasons = (choice: Partial<Choice>): string[] =>
    chooseCandidates({ probe, built: BROWSER_CANDIDATES, archive: of(BOTH), ...choice }).skipped.map(
      ({ reason }) => reason,
    );
  expect(reasons({ archive: of(ONNX), named: ['tfjs/webgl'] })).toEqual(['The archive has no TensorFlow.js model.']);
  expect(reasons({ archive: of(ONNX), built: ['onnx/webgpu', 'onnx/wasm'] })).toEqual([
    `"onnx/webgl" is not among the worker's engines. To use it, add it in the Vite plugin or expose.`,
    `"onnx/webnn" is not among the worker's engines. To use it, add it in the Vite plugin or expose.`,
  ]);
  expect(reasons({ archive: of(ONNX), probe: noWebgl })).toEqual([
    'This browser has no WebGL 2 in workers.',
    'This browser has no WebNN.',
  ]);
  expect(reasons({ archive: of(ONNX), probe: withWebnn })[1]).toContain("with prefer: 'fastest'");
  expect(reasons({ named: ['webgl'] })[0]).toContain('Name onnx/webgl');
});

test('an unknown backend name', () => {
  for (const name of ['cuda', 'onnx/npu', 'onnx', '']) {
    expect(() =>
      chooseCandidates({ probe, built: BROWSER_CANDIDATES, archive: of(BOTH), named: [name as 'wasm'] }),
    ).toThrow(expect.objectContaining({ code: 'model-config' }));
  }
});

test('a server is asked only where backends names it, and the app its URL', () => {
  const choose = (models: Choice['archive']['models'], choice: Partial<Choice>): string[] => {
    const archive = { ...of(models), ...choice.archive };
    const { candidates, skipped } = chooseCandidates({ probe, built: BROWSER_CANDIDATES, ...choice, archive });
    return [...candidates, ...skipped].map(
      ({ engine, name, ...rest }) => `${engine}/${name}${'reason' in rest ? `: ${String(rest.reason)}` : ''}`,
    );
  };
  expect(choose(BOTH, { hasServer: true }).join()).not.toContain('remote');
  expect(choose(ONNX, { named: ['remote', 'wasm'], hasServer: true })).toEqual(['remote/remote', 'onnx/wasm']);
  expect(choose(ONNX, { named: ['wasm', 'remote/http'], hasServer: true })).toEqual(['onnx/wasm', 'remote/remote']);
  expect(choose({}, { named: ['remote'] })).toEqual([
    'remote/remote: No server is named: set the option remote, such as { url }, and name it in backends.',
  ]);
  expect(choose({}, { named: ['remote'], hasServer: true, built: ['onnx/wasm'] })).toEqual([
    `remote/remote: "remote/http" is not among the worker's engines. To use it, add it in the Vite plugin or expose.`,
  ]);
  const archive = { ...of({}), config: { engine: { remote: {} } } };
  expect(choose({}, { archive, hasServer: true })).toEqual([
    "remote/remote: A server is asked only if it is named: add 'remote' to backends, and set the option remote.",
  ]);
});
