import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test as base, expect } from './fixtures.ts';
import { createArchive } from '../../src/tools/cli/archive.ts';
import { writeSafetensors } from '../../src/tools/cli/write-safetensors.ts';
import { install } from './app.ts';

/** `npx tabserve test` and `tabserve/testing`, in a fresh project of the tarball and Playwright. */
const root = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

const test = base.extend<{ app: string }>({
  app: async ({ tarball }, use) => {
    const app = await install(tarball, 'playwright');
    await use(app);
    rmSync(app, { recursive: true });
  },
});

/** Our own Playwright, as `npm install @playwright/test` would have placed it. */
function addPlaywright(app: string): void {
  mkdirSync(join(app, 'node_modules/@playwright'), { recursive: true });
  symlinkSync(root('node_modules/@playwright/test'), join(app, 'node_modules/@playwright/test'), 'dir');
}

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(app: string, command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  const options = { cwd: app, env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, ...env } };
  return new Promise((resolve) =>
    execFile(command, args, options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    ),
  );
}

/** What `npx tabserve test` runs; npx itself takes longer. */
const tabserve = (app: string, ...args: string[]): Promise<Ran> =>
  run(app, process.execPath, ['node_modules/tabserve/dist/tools/cli/main.js', 'test', ...args]);

/** The rows of the table: backend → verdict, largest error, median and reason. */
function rows({ stdout }: Ran): Record<string, string[]> {
  const lines = stdout.split('\n').filter((line) => /^ {2}(onnx|tfjs)\//.test(line));
  return Object.fromEntries(lines.map((line) => line.trim().split(/ {2,}/)).map(([name, ...cells]) => [name!, cells]));
}

/** What Python's parser reads in a JUnit file. */
function readJUnit(file: string): unknown {
  const script = `
import json, sys, xml.etree.ElementTree as tree
suites = tree.parse(sys.argv[1]).getroot()
print(json.dumps({'totals': suites.attrib, 'cases': [[case.get('name'), [child.tag for child in case]] for case in suites.iter('testcase')]}))`;
  return JSON.parse(execFileSync('python3', ['-c', script, file], { encoding: 'utf8' }));
}

test('without Playwright, and without Chromium, nothing was tested: exit 2, and what to install @full', async ({
  app,
}) => {
  const none = await run(app, 'npx', ['tabserve', 'test', 'public/models/digits']);
  expect(none.code).toBe(2);
  expect(none.stderr).toContain('Playwright is not installed');
  expect(none.stderr).toContain('npm install --save-dev @playwright/test');
  addPlaywright(app);
  const missing = await tabserve(app, 'public/models/digits', '--browser', '/nowhere/chromium');
  expect(missing.code).toBe(2);
  expect(missing.stderr).toContain('npx playwright install chromium');
  expect(missing.stderr).toContain('/nowhere/chromium');
  for (const args of [
    [],
    ['nothing.mar'],
    ['public/models/digits', '--bakend', 'wasm'],
    ['public/models/digits', '--backends', 'webgpo'],
  ])
    expect((await tabserve(app, ...args)).code, args.join(' ')).toBe(2);
});

test('npx tabserve test: a good archive, and one that ONNX Runtime WebGL computes wrongly', async ({ app }) => {
  addPlaywright(app);
  const good = await tabserve(app, 'public/models/digits', '--backends', 'wasm', '--junit', 'good.xml');
  expect(good.code, good.stderr).toBe(0);
  expect(rows(good)).toEqual({
    'onnx/wasm': ['right', expect.stringMatching(/^\d\.\de-\d$/), expect.stringMatching(/ ms$/), 'golden examples'],
    'tfjs/wasm': ['right', expect.stringMatching(/^\d\.\de-\d$/), expect.stringMatching(/ ms$/), 'golden examples'],
  });
  expect(readJUnit(join(app, 'good.xml'))).toMatchObject({
    totals: { tests: '2', failures: '0', errors: '0', skipped: '0' },
    cases: [
      ['onnx/wasm', ['system-out']],
      ['tfjs/wasm', ['system-out']],
    ],
  });

  const wrong = await tabserve(app, root('test/models/proof/conv_relu_conv'), '--junit', 'wrong.xml');
  expect(wrong.code).toBe(1);
  const { 'onnx/webgl': webgl, 'onnx/wasm': wasm, 'onnx/webgpu': webgpu } = rows(wrong);
  // Python's expected output is 2.0197 where WebGL has 0: test/models/README.md.
  expect(webgl).toEqual([
    'wrong',
    '2.02',
    '-',
    expect.stringContaining('on golden.safetensors, output "y" is off by 2.02'),
  ]);
  expect(wasm![0]).toBe('right');
  expect(['right', 'skipped']).toContain(webgpu![0]);
  expect(wrong.stdout).toMatch(/WebGL: .*(SwiftShader.*, in software)?/);
  expect(readJUnit(join(app, 'wrong.xml'))).toMatchObject({
    totals: { tests: '4', failures: '1', errors: '0' },
    cases: expect.arrayContaining([['onnx/webgl', ['failure', 'system-out']]]),
  });
});

/** A model that computes for hours on its golden example. */
async function endless(folder: string): Promise<string> {
  const golden = join(folder, 'golden.safetensors');
  const x = { dtype: 'float32', dims: [1], data: new Float32Array(1) } as const;
  const rounds = { dtype: 'int64', dims: [], data: new BigInt64Array([10n ** 9n]) } as const;
  writeFileSync(golden, writeSafetensors({ 'inputs/x': x, 'inputs/rounds': rounds, 'outputs/y': { ...x, dims: [] } }));
  const { path } = await createArchive({
    'model-name': 'endless',
    'serialized-file': root('test/models/slow.onnx'),
    handler: 'base_handler',
    'export-path': folder,
    golden,
  });
  return path;
}

test('hostile archives: one that hangs, one that is no archive, one with a handler of its own; and Ctrl-C @full', async ({
  app,
}) => {
  addPlaywright(app);
  const archive = await endless(app);
  const hangs = await tabserve(app, archive, '--backends', 'onnx/wasm', '--timeout', '5', '--junit', 'hangs.xml');
  expect(hangs.code).toBe(1);
  expect(rows(hangs)).toEqual({ 'onnx/wasm': ['failed', '-', '-', 'It did not answer within 5 s.'] });
  expect(readJUnit(join(app, 'hangs.xml'))).toMatchObject({ totals: { errors: '1' } });

  writeFileSync(join(app, 'broken.mar'), 'no zip file');
  const broken = await tabserve(app, 'broken.mar', '--junit', 'broken.xml');
  expect(broken.code).toBe(1);
  expect(broken.stdout).toContain('broken.mar is broken: ');
  expect(readJUnit(join(app, 'broken.xml'))).toMatchObject({ cases: [['archive', ['error', 'system-out']]] });

  const manifest = join(app, 'public/models/digits/MAR-INF/MANIFEST.json');
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('image_classifier', 'odd_or_even'));
  const own = await tabserve(app, 'public/models/digits');
  expect(own.code).toBe(1);
  expect(own.stdout).toMatch(/no built-in handler "odd_or_even".*tabserve\/testing/s);

  const running = spawn(process.execPath, ['node_modules/tabserve/dist/tools/cli/main.js', 'test', archive], {
    cwd: app,
  });
  await once(running.stdout, 'data');
  const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(running.pid)], { encoding: 'utf8' });
  const browser = Number(children.trim().split('\n')[0]);
  expect(browser).toBeGreaterThan(0);
  running.kill('SIGINT');
  const [code] = await once(running, 'exit');
  expect(code).toBe(130);
  expect(() => process.kill(browser, 0), 'the browser has ended').toThrow('ESRCH');
});

test('the fixture: an archive on every backend, and a handler of the app under its dev server @full', async ({
  app,
}) => {
  addPlaywright(app);
  // Three backends instead of six.
  const extras = join(app, 'public/models/digits/tabserve.json');
  const { golden, models } = JSON.parse(readFileSync(extras, 'utf8')) as { golden: unknown; models: { onnx: string } };
  writeFileSync(extras, JSON.stringify({ golden, models: { onnx: models.onnx } }));
  // The README's handler.
  mkdirSync(join(app, 'src'));
  copyFileSync(root('test/readme/even.worker.ts'), join(app, 'src/even.worker.ts'));
  cpSync(root('public/models/face'), join(app, 'public/models/face'), { recursive: true });
  copyFileSync(root('public/models/selfie/samples/astronaut.jpg'), join(app, 'public/astronaut.jpg'));
  symlinkSync('../vite/bin/vite.js', join(app, 'node_modules/.bin/vite'));
  const port = await new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
  const args = [root('node_modules/@playwright/test/cli.js'), 'test', '--workers=1', '--reporter=line'];
  const ran = await run(app, process.execPath, args, { PORT: String(port) });
  expect(ran.code, ran.stdout + ran.stderr).toBe(0);
  expect(ran.stdout).toContain('4 passed');
  rmSync(join(app, 'node_modules/@types'), { recursive: true, force: true });
  symlinkSync(root('node_modules/@types'), join(app, 'node_modules/@types'), 'dir');
  const compiler = [
    root('node_modules/typescript/bin/tsc'),
    '--noEmit',
    '--strict',
    '--target',
    'es2022',
    '--module',
    'nodenext',
    '--types',
    'node',
    '--skipLibCheck',
    'tests/digits.spec.ts',
    'tests/even.spec.ts',
    'tests/faces.spec.ts',
    'tests/fields.spec.ts',
  ];
  const typed = await run(app, process.execPath, compiler);
  expect(typed.stdout).toBe('');
});
