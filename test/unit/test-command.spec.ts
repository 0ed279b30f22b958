import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, test, type Browser } from '@playwright/test';
import { writeJUnit, type JUnitCase } from '../../src/cli/junit.ts';
import { locate } from '../../src/cli/local-archive.ts';
import { describeResult, testArchive } from '../../src/cli/test.ts';
import type { Backend, Probe } from '../../src/contract/backends.ts';
import { loadHandler } from '../../src/handlers/registry.ts';
import { chromiums, withGpu } from '../../src/testing/browser.ts';
import type { Found } from '../../src/testing/in-page.ts';
import { chooseBackends, readForTest, runArchive } from '../../src/testing/run.ts';
import { serveArchive } from '../../src/testing/site.ts';
import { conclude, judge } from '../../src/testing/verdict.ts';

const folder = (): string => mkdtempSync(join(tmpdir(), 'tabserve-'));

const hardware: Probe = {
  webgpu: { available: true, vendor: 'x', architecture: '', description: 'x', software: false, fp16: true, limits: { maxBufferSize: 1, maxStorageBufferBindingSize: 1, maxComputeWorkgroupStorageSize: 1 } },
  webgl: { available: true, renderer: 'SwiftShader', software: true, floatRendering: true, maxTextureSize: 1 },
  webnn: { available: false, reason: 'This browser has no WebNN.' },
  wasm: { available: true, simd: true, jspi: true, threads: true },
  crossOriginIsolated: true,
  cores: 2,
}; // prettier-ignore

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
      // prettier-ignore
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
    [{ classname: kept, name: 'onnx/webgl', time: '0.250' }, [['failure', { message: kept }, null], ['system-out', {}, null]]],
    [{ classname: kept, name: 'onnx/webgpu', time: '0.000' }, [['skipped', { message: 'none' }, null], ['system-out', {}, null]]],
    [{ classname: kept, name: 'tfjs/wasm', time: '0.000' }, [['error', { message: 'hung' }, null], ['system-out', {}, null]]],
  ]); // prettier-ignore
});

test('which backends: those that the archive has a model for, or the named ones', () => {
  const both = ['onnx', 'tfjs'] as const;
  expect(chooseBackends(both, undefined)).toEqual(['onnx/webgpu', 'tfjs/webgpu', 'tfjs/webgl', 'onnx/webgl', 'onnx/webnn', 'onnx/wasm', 'tfjs/wasm']); // prettier-ignore
  expect(chooseBackends(['onnx'], ['wasm', 'onnx/webgpu', 'wasm'])).toEqual(['onnx/webgpu', 'onnx/wasm']); // prettier-ignore
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
  const error = await loadHandler('x'.repeat(3_000_000)).catch((one: Error) => one);
  expect(error).toMatchObject({ code: 'unknown-handler' });
  expect((error as Error).message.length).toBeLessThan(1000);
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
  await using site = await serveArchive(join(base, 'my model'), new TextEncoder().encode('input'));
  const get = async (url: string): Promise<[number, string]> => {
    const response = await fetch(url);
    return [response.status, await response.text()];
  };
  const at = (relative: string): string => `${site.url}${relative}`;
  expect(await get(at(`${site.archive}a.bin`))).toEqual([200, 'model']);
  expect(await get(at(site.input))).toEqual([200, 'input']);
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
    // prettier-ignore
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

test('a page or a browser that crashes is one result, and the next backend has a page of its own', async () => {
  const archive = join(folder(), 'a.onnx');
  writeFileSync(archive, 'model');
  const closed: string[] = [];
  let pages = 0;
  const newPage = async (): Promise<object> => {
    const number = ++pages;
    if (number === 3) throw new Error('browserContext.newPage: The browser has been closed');
    return {
      goto: async () => null,
      evaluate: async () => {
        if (number === 1) throw new Error('page.evaluate: Target crashed');
        return opened({ name: 'wasm', proof: 'none' });
      },
      close: async () => closed.push(`page ${number}`),
    };
  };
  const newContext = async (): Promise<object> => ({ newPage, close: async () => closed.push('context') });
  const seen: string[] = [];
  const results = await runArchive({
    browser: { newContext } as unknown as Browser,
    archive,
    backends: ['onnx/webgl', 'onnx/wasm', 'onnx/webgpu'],
    isNamed: false,
    timeout: 1,
    onResult: ({ backend, verdict }) => void seen.push(`${backend} ${verdict}`),
  });
  expect(results).toMatchObject([
    { backend: 'onnx/webgl', verdict: 'failed', reason: 'The page failed: page.evaluate: Target crashed' },
    { backend: 'onnx/wasm', verdict: 'right' },
    { backend: 'onnx/webgpu', verdict: 'failed', reason: expect.stringContaining('The browser has been closed') },
  ]);
  expect(seen).toEqual(['onnx/webgl failed', 'onnx/wasm right', 'onnx/webgpu failed']);
  expect(closed).toEqual(['page 1', 'page 2', 'context']);
});
