import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, test, type Browser } from '@playwright/test';
import { writeJUnit, type JUnitCase } from '../../../../src/tools/cli/junit.ts';
import { locate } from '../../../../src/tools/cli/local-archive.ts';
import { describeResult, testArchive } from '../../../../src/tools/cli/test.ts';
import type { Backend, Probe } from '../../../../src/contract/backends.ts';
import { loadHandler } from '../../../../src/worker/handlers/registry.ts';
import { chromiums, hasGpu, withGpu } from '../../../../src/tools/testing/chromium.ts';
import type { Found } from '../../../../src/tools/testing/in-page.ts';
import { takeFiles } from '../../../../src/tools/testing/input-files.ts';
import { chooseBackends, readForTest, runArchive, withoutLog } from '../../../../src/tools/testing/run.ts';
import { serveArchive } from '../../../../src/tools/testing/site.ts';
import { conclude, judge } from '../../../../src/tools/testing/verdict.ts';

const folder = (): string => mkdtempSync(join(tmpdir(), 'tabserve-'));

const hardware: Probe = {
  webgpu: {
    available: true,
    vendor: 'x',
    architecture: '',
    description: 'x',
    software: false,
    fp16: true,
    limits: { maxBufferSize: 1, maxStorageBufferBindingSize: 1, maxComputeWorkgroupStorageSize: 1 },
  },
  webgl: { available: true, renderer: 'SwiftShader', software: true, floatRendering: true, maxTextureSize: 1 },
  webnn: { available: false, reason: 'This browser has no WebNN.' },
  wasm: { available: true, simd: true, jspi: true, threads: true },
  crossOriginIsolated: true,
  cores: 2,
};

const opened = (backend: Pick<Backend, 'name' | 'proof'> & Partial<Backend>): Found => ({
  ok: true,
  probe: hardware,
  answer: 'seven',
  backend: { engine: 'onnx', threads: 1, skipped: [], ...backend },
});

const failed = (code: string, cause: string | undefined, message: string): Found => ({
  ok: false,
  probe: hardware,
  code,
  cause,
  message,
});

test.describe('verdicts', () => {
  test('right: proven by a golden example or by a comparison; WASM alone needs neither', () => {
    expect(judge('onnx/webgpu', opened({ name: 'webgpu', proof: 'golden', largestError: 1e-6, median: 2 }), 3)).toEqual(
      {
        backend: 'onnx/webgpu',
        verdict: 'right',
        largestError: 1e-6,
        median: 2,
        reason: 'golden examples',
        answer: 'seven',
        seconds: 3,
      },
    );
    expect(judge('onnx/webgl', opened({ name: 'webgl', proof: 'reference' }), 1)).toMatchObject({
      verdict: 'right',
      reason: 'compared with WASM, on a GPU in software',
    });
    expect(judge('onnx/wasm', opened({ name: 'wasm', proof: 'none' }), 1).verdict).toBe('right');
    const skipped = [
      { engine: 'onnx', name: 'wasm', precision: 'int8-weights', reason: 'It computes wrongly.' },
    ] as const;
    expect(judge('onnx/wasm', opened({ name: 'wasm', proof: 'golden', precision: 'fp32', skipped }), 1).reason).toBe(
      'golden examples, in fp32; int8-weights: It computes wrongly.',
    );
    expect(judge('onnx/webgpu', opened({ name: 'webgpu', proof: 'none' }), 1)).toMatchObject({
      verdict: 'skipped',
      reason: expect.stringContaining('golden example'),
    });
  });

  test('wrong: the difference is read from the message; a missing output has none', () => {
    const off =
      'It computes wrongly: on golden.safetensors, output "y" is off by 2.02 at 216 (0 for -2.02), allowed is 0.00212.';
    const wrong = judge('onnx/webgl', failed('no-backend', 'backend-wrong', off), 1);
    expect(wrong).toMatchObject({ verdict: 'wrong', largestError: 2.02, reason: off, median: undefined });
    const missing = 'It computes wrongly: on golden.safetensors, output "y" is missing.';
    expect(judge('onnx/webgl', failed('no-backend', 'backend-wrong', missing), 1)).toMatchObject({
      verdict: 'wrong',
      largestError: undefined,
    });
  });

  test('skipped: what the browser or the engine lacks. Anything else has failed', () => {
    const lacking = failed(
      'no-backend',
      undefined,
      'No backend can run digits. onnx/webgpu: WebGPU has no adapter here.',
    );
    expect(judge('onnx/webgpu', lacking, 1)).toMatchObject({
      verdict: 'skipped',
      reason: 'WebGPU has no adapter here.',
    });
    // What the client advises an app that names WebNN alone is no advice for a test of each backend.
    const webnn =
      "No backend can run digits. Few browsers have WebNN: add 'wasm' to backends, which all of them have. onnx/webnn: This browser has no WebNN.";
    expect(judge('onnx/webnn', failed('no-backend', undefined, webnn), 1).reason).toBe('This browser has no WebNN.');
    const refused = failed('no-backend', 'backend-failed', 'int64 is not supported');
    expect(judge('onnx/webgl', refused, 1).verdict).toBe('skipped');
    for (const [code, cause] of [
      ['no-backend', 'worker-lost'],
      ['no-backend', 'device-lost'],
      ['no-backend', 'out-of-memory'],
      ['model-format', undefined],
      ['timeout', undefined],
      ['worker-lost', undefined],
    ] as const)
      expect(judge('onnx/webgl', failed(code, cause, 'It ended.'), 1).verdict, `${code} ${cause}`).toBe('failed');
  });

  test('what was skipped has failed where it was needed', () => {
    const results = [
      judge('onnx/webgpu', failed('no-backend', undefined, 'onnx/webgpu: There is none.'), 1),
      judge('onnx/webgl', failed('no-backend', 'backend-wrong', 'y is missing'), 1),
    ];
    expect(conclude(results, false)).toEqual(results);
    expect(conclude(results, true).map(({ verdict, reason }) => [verdict, reason])).toEqual([
      ['failed', 'There is none.'],
      ['wrong', 'y is missing'],
    ]);
  });
});

test('a line of the table', () => {
  const result = {
    backend: 'onnx/wasm',
    verdict: 'right',
    reason: 'golden\nexamples',
    answer: undefined,
    seconds: 1,
  } as const;
  expect(describeResult({ ...result, largestError: 2.38e-6, median: 0.76543 })).toBe(
    '  onnx/wasm    right    2.4e-6         0.765 ms   golden examples',
  );
  expect(describeResult({ ...result, largestError: 0, median: 1234 })).toContain('right    0.00           1234 ms');
  expect(describeResult({ ...result, largestError: undefined, median: undefined })).toContain(
    'right    -              -',
  );
});

test('JUnit: Python reads back every name and reason; what XML cannot hold is replaced', () => {
  const hostile = 'a < b && "c" > \'d\' ]]> \u0000\u001b[31m\n\ttab é 🙂 \ud800';
  const cases: JUnitCase[] = [
    { name: 'onnx/wasm', verdict: 'right', reason: 'golden examples', seconds: 1.5, output: hostile },
    { name: 'onnx/webgl', verdict: 'wrong', reason: hostile, seconds: 0.25, output: '' },
    { name: 'onnx/webgpu', verdict: 'skipped', reason: 'none', seconds: 0, output: '' },
    { name: 'tfjs/wasm', verdict: 'failed', reason: 'hung', seconds: 0, output: '' },
  ];
  const script = `
import json, sys, xml.etree.ElementTree as tree
suite = tree.fromstring(sys.stdin.buffer.read()).find('testsuite')
print(json.dumps([suite.attrib, [[case.attrib, [[child.tag, child.attrib, child.text] for child in case]] for case in suite]]))`;
  const [suite, read] = JSON.parse(
    execFileSync('python3', ['-c', script], { input: writeJUnit(hostile, cases), encoding: 'utf8' }),
  ) as [Record<string, string>, [Record<string, string>, [string, Record<string, string>, string | null][]][]];
  const kept = 'a < b && "c" > \'d\' ]]> \ufffd\ufffd[31m\n\ttab é 🙂 \ufffd';
  expect(suite).toEqual({ name: kept, tests: '4', failures: '1', errors: '1', skipped: '1', time: '1.750' });
  expect(read).toEqual([
    [{ classname: kept, name: 'onnx/wasm', time: '1.500' }, [['system-out', {}, kept]]],
    [
      { classname: kept, name: 'onnx/webgl', time: '0.250' },
      [
        ['failure', { message: kept }, null],
        ['system-out', {}, null],
      ],
    ],
    [
      { classname: kept, name: 'onnx/webgpu', time: '0.000' },
      [
        ['skipped', { message: 'none' }, null],
        ['system-out', {}, null],
      ],
    ],
    [
      { classname: kept, name: 'tfjs/wasm', time: '0.000' },
      [
        ['error', { message: 'hung' }, null],
        ['system-out', {}, null],
      ],
    ],
  ]);
});

test('which backends: those that the archive has a model for, or the named ones', () => {
  const both = ['onnx', 'tfjs'] as const;
  expect(chooseBackends(both, undefined)).toEqual([
    'onnx/webgpu',
    'tfjs/webgpu',
    'tfjs/webgl',
    'onnx/webgl',
    'onnx/webnn',
    'onnx/wasm',
    'tfjs/wasm',
  ]);
  expect(chooseBackends(['onnx'], ['wasm', 'onnx/webgpu', 'wasm'])).toEqual(['onnx/webgpu', 'onnx/wasm']);
  expect(chooseBackends(both, ['cpu'])).toEqual(['tfjs/cpu']);
  expect(() => chooseBackends(both, ['webgpo'])).toThrow(
    /"webgpo" is neither a backend nor a candidate; probably webgpu/,
  );
  expect(() => chooseBackends(['onnx'], ['tfjs/wasm'])).toThrow(/no model for tfjs\/wasm; it runs on onnx/);
});

test('which Chromium: the named one and no other, then the installed ones; the flags of the caller come last', () => {
  const chromium = { executablePath: () => '/nowhere/chrome' };
  const before = process.env['CHROMIUM_PATH'];
  try {
    process.env['CHROMIUM_PATH'] = '/opt/own';
    expect(chromiums(chromium, '/a/b')).toEqual([{ executablePath: '/a/b' }]);
    expect(chromiums(chromium)).toEqual([{ executablePath: '/opt/own' }]);
    delete process.env['CHROMIUM_PATH'];
    expect(chromiums({ executablePath: () => process.execPath })[0]).toEqual({ channel: 'chromium' });
    expect(chromiums(chromium).slice(-3)).toEqual([{}, { channel: 'chrome' }, { channel: 'msedge' }]);
  } finally {
    if (before === undefined) delete process.env['CHROMIUM_PATH'];
    else process.env['CHROMIUM_PATH'] = before;
  }
  const { args } = withGpu({ args: ['--use-angle=gl'] });
  expect(args).toContain('--enable-unsafe-webgpu');
  expect(args!.at(-1)).toBe('--use-angle=gl');
});

test('whether Linux has a GPU: a device that renders, whose driver is not that of a virtual screen', () => {
  const machine = (...drivers: readonly string[]): string => {
    const root = folder();
    drivers.forEach((driver, index) => {
      const device = join(root, `sys/class/drm/renderD${128 + index}/device`);
      mkdirSync(device, { recursive: true });
      symlinkSync(`../../../bus/drivers/${driver}`, join(device, 'driver'));
      mkdirSync(join(root, `sys/class/drm/card${index}`));
    });
    return root;
  };
  expect(hasGpu(machine()), 'none').toBe(false);
  for (const driver of ['virtio_gpu', 'virtio-pci', 'vgem', 'vkms', 'vmwgfx'])
    expect(hasGpu(machine(driver)), driver).toBe(false);
  for (const driver of ['i915', 'xe', 'amdgpu', 'nouveau', 'v3d', 'panfrost'])
    expect(hasGpu(machine('vgem', driver)), driver).toBe(true);
  // A container has NVIDIA's devices without the kernel's list.
  const nvidia = folder();
  mkdirSync(join(nvidia, 'dev/nvidiactl'), { recursive: true });
  expect(hasGpu(nvidia)).toBe(true);
});

test('the bytes of files are taken out of an input, wherever they are; what would be lost is refused', () => {
  const bytes = Uint8Array.of(1, 2);
  expect(takeFiles(bytes)).toEqual({ value: null, files: [{ path: [], bytes }] });
  expect(takeFiles('a cat')).toEqual({ value: 'a cat', files: [] });
  expect(takeFiles({ image: bytes, text: 'a cat', more: [1, bytes, null] })).toEqual({
    value: { image: null, text: 'a cat', more: [1, null, null] },
    files: [
      { path: ['image'], bytes },
      { path: ['more', '1'], bytes },
    ],
  });
  const refused = (message: string) => expect.objectContaining({ code: 'invalid-input', message });
  expect(() => takeFiles({ image: new Blob([bytes]) })).toThrow(
    refused('input.image is a Blob: pass a file as its bytes, a Uint8Array, as readFile returns.'),
  );
  expect(() => takeFiles([bytes.buffer])).toThrow(/^input\.0 is an ArrayBuffer/);
});

test("a browser's log is cut to its first line and its first error", () => {
  expect(withoutLog('page.goto: Page crashed')).toBe('page.goto: Page crashed');
  const log = `browserContext.newPage: Target page, context or browser has been closed
Browser logs:

<launching> /usr/bin/chromium --headless ${'--flag '.repeat(500)}
[pid=1][err] [1:1:1126/215208.310512:WARNING:sandbox.cc(42)] no sandbox
[pid=1][err] [1:1:1126/215208.310512:ERROR:gpu_init.cc(7)] GrContext creation failed
${'[pid=1][err] [1:1:1126/215208.310512:ERROR:gpu_init.cc(7)] GrContext creation failed\n'.repeat(300)}`;
  expect(withoutLog(log)).toBe(
    'browserContext.newPage: Target page, context or browser has been closed – ERROR:gpu_init.cc(7)] GrContext creation failed',
  );
});

test('a handler that is not built in: the error names the fixture; a worker of the app needs none', async () => {
  const archive = join(folder(), 'own');
  mkdirSync(join(archive, 'MAR-INF'), { recursive: true });
  const model = { modelName: 'own', serializedFile: 'own.onnx', handler: 'odd_or_even' };
  writeFileSync(join(archive, 'MAR-INF/MANIFEST.json'), JSON.stringify({ model }));
  await expect(readForTest(archive, true)).rejects.toMatchObject({
    code: 'unknown-handler',
    message: expect.stringMatching(/"odd_or_even".*tabserve\/testing/),
  });
  expect((await readForTest(archive, false)).manifest.model.handler).toBe('odd_or_even');
});

test('the name of a handler that is not built in is shortened', async () => {
  const messageFor = async (name: string): Promise<string> => {
    const error = await loadHandler(name).catch((one: Error) => one);
    expect(error).toMatchObject({ code: 'unknown-handler' });
    return (error as Error).message;
  };
  // The rest names the handlers that there are.
  const { length } = await messageFor('x');
  expect((await messageFor('x'.repeat(3_000_000))).length).toBeLessThan(length + 100);
});

test('a timeout is a number of seconds', async () => {
  for (const timeout of ['0', '-1', 'soon', '1e9', ''])
    await expect(testArchive('.', { timeout }, () => {})).rejects.toMatchObject({ code: 'model-config' });
});

test('the server gives the archive and nothing else, to those who know its path', async () => {
  const base = folder();
  mkdirSync(join(base, 'my model/MAR-INF'), { recursive: true });
  writeFileSync(join(base, 'my model/a.bin'), 'model');
  writeFileSync(join(base, 'secret.txt'), 'secret');
  await using site = await serveArchive(join(base, 'my model'), [
    new TextEncoder().encode('input'),
    new TextEncoder().encode('another'),
  ]);
  const get = async (url: string): Promise<[number, string]> => {
    const response = await fetch(url);
    return [response.status, await response.text()];
  };
  const at = (relative: string): string => `${site.url}${relative}`;
  expect(await get(at(`${site.archive}a.bin`))).toEqual([200, 'model']);
  expect(await Promise.all(site.inputs.map((input) => get(at(input))))).toEqual([
    [200, 'input'],
    [200, 'another'],
  ]);
  for (const none of ['input', 'input/', 'input/2', 'input/-1', 'input/length'])
    expect((await get(at(none)))[0], none).toBe(404);
  expect((await fetch(site.url)).headers.get('Cross-Origin-Embedder-Policy')).toBe('require-corp');
  for (const escaping of [
    'archive/my%20model/..%2fsecret.txt',
    'archive/..%2fsecret.txt',
    'archive/secret.txt',
    'tabserve/..%2f..%2fpackage.json',
    'archive/%E0%A4%A',
    'archive/my%20model/',
    'nothing',
  ])
    expect((await get(at(escaping)))[0], escaping).toBe(404);
  const { origin } = new URL(site.url);
  expect((await get(`${origin}/${site.archive}a.bin`))[0]).toBe(404);
  await using packed = await serveArchive(join(base, 'my model/a.bin'));
  expect(await get(`${packed.url}${packed.archive}`)).toEqual([200, 'model']);
  expect((await get(`${packed.url}input`))[0]).toBe(404);
  // A folder that holds only the archive's folder stands for it.
  const outer = folder();
  mkdirSync(join(outer, 'inner'));
  writeFileSync(join(outer, 'inner/a.bin'), 'inner');
  await using nested = await serveArchive(outer);
  expect(nested.archive).toBe('archive/inner/');
  expect(await get(`${nested.url}archive/inner/a.bin`)).toEqual([200, 'inner']);
});

test('the files of a folder are read when they are asked for, and not before', async () => {
  const archive = folder();
  const path = join(archive, 'a.onnx');
  writeFileSync(path, 'model');
  writeFileSync(join(archive, 'empty.txt'), '');
  const files = (await locate(archive)) as Readonly<Record<string, Blob>>;
  const name = basename(archive);
  expect(Object.keys(files).sort()).toEqual([`${name}/a.onnx`, `${name}/empty.txt`]);
  expect(await files[`${name}/a.onnx`]!.text()).toBe('model');
  expect(await files[`${name}/empty.txt`]!.text()).toBe('');
  // A Blob of a file that has changed cannot be read.
  writeFileSync(path, 'another model');
  await expect(files[`${name}/a.onnx`]!.text()).rejects.toMatchObject({ name: 'NotReadableError' });
});

test("a folder that holds only the archive's folder stands for it, whatever macOS and Python left beside it", async () => {
  const outer = folder();
  for (const name of ['digits', '__MACOSX', '__pycache__', '.git']) mkdirSync(join(outer, name));
  writeFileSync(join(outer, 'digits/a.bin'), 'model');
  await using site = await serveArchive(outer);
  expect(site.archive).toBe('archive/digits/');
});

for (const [name, served] of [
  ['a\\b', 'archive'],
  ['a\nb', 'archive'],
  ['..name', '..name'],
] as const)
  test(`a folder named ${JSON.stringify(name)} is an archive as any other`, async () => {
    const archive = join(folder(), name);
    mkdirSync(archive);
    writeFileSync(join(archive, 'a.onnx'), 'model');
    expect(Object.keys(await locate(archive))).toEqual([`${served}/a.onnx`]);
    await using site = await serveArchive(archive);
    expect(site.archive).toBe(`archive/${served}/`);
    const response = await fetch(`${site.url}${site.archive}a.onnx`);
    expect([response.status, await response.text()]).toEqual([200, 'model']);
  });

test('a page or a browser that fails is one result, and the next backend has a new browser', async () => {
  const archive = join(folder(), 'a.onnx');
  writeFileSync(archive, 'model');
  const events: string[] = [];
  /** A browser that does something else with each page. */
  const browser = (name: string, ...pages: readonly (() => unknown)[]): Browser => {
    let at = 0;
    const newPage = async (): Promise<object> => ({
      goto: async () => null,
      evaluate: async () => pages[at++]!(),
      close: async () => events.push(`${name}: page closed`),
    });
    const newContext = async (): Promise<object> => ({ newPage, close: async () => events.push(`${name}: context`) });
    return { newContext, close: async () => events.push(`${name}: closed`) } as unknown as Browser;
  };
  const right = (): Found => opened({ name: 'wasm', proof: 'none' });
  const fail = (message: string) => (): never => {
    throw new Error(message);
  };
  const first = browser('first', right, fail('page.evaluate: Target crashed'));
  const launched = [browser('second', fail('page.evaluate: closed')), browser('third', right)];
  const settings = {
    browser: first,
    launch: async () => {
      const next = launched.shift();
      if (!next) throw new Error('browserType.launch: No room\nBrowser logs:\n\n[pid=1] starting');
      return next;
    },
    archive,
    backends: ['onnx/wasm', 'onnx/webgl', 'onnx/webgpu', 'tfjs/wasm'],
    isNamed: false,
    timeout: 1,
    onResult: ({ backend, verdict }: { backend: string; verdict: string }) => void events.push(`${backend} ${verdict}`),
  } as const;
  expect(await runArchive(settings)).toMatchObject([
    { verdict: 'right' },
    { verdict: 'failed', reason: 'The page failed: page.evaluate: Target crashed' },
    { verdict: 'failed', reason: 'The page failed: page.evaluate: closed' },
    { verdict: 'right' },
  ]);
  expect(events).toEqual([
    'first: page closed',
    'onnx/wasm right',
    'first: page closed',
    'onnx/webgl failed',
    // The first browser is the caller's.
    'first: context',
    'second: page closed',
    'onnx/webgpu failed',
    'second: closed',
    'third: page closed',
    'tfjs/wasm right',
    'third: closed',
  ]);
  // The fixture has one browser for many tests: a broken one is not taken again.
  expect(await runArchive({ ...settings, backends: ['onnx/wasm'] })).toMatchObject([
    { verdict: 'failed', reason: 'The page failed: browserType.launch: No room' },
  ]);
});
