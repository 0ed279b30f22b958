// The command of the built package as a process: what it does with its arguments, and when its output or its time ends
// early.
import { spawn, spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const main = path('dist/tools/cli/main.js');
const folder = (): string => mkdtempSync(join(tmpdir(), 'tabserve-'));
const run = (args: readonly string[], cwd = folder()): SpawnSyncReturns<string> =>
  spawnSync(process.execPath, [main, ...args], { encoding: 'utf8', cwd, timeout: 60_000 });

const ARCHIVE = [
  'archive',
  '--model-name',
  'affine',
  '--handler',
  'base_handler',
  '--serialized-file',
  path('test/models/affine.onnx'),
];

test.describe.configure({ mode: 'default' });

test('arguments that a command does not have are refused, and nothing is written @full', () => {
  const there = folder();
  expect(run(ARCHIVE, there).status).toBe(0);
  const cases: [args: readonly string[], words: string][] = [
    [['copy', '--force'], '--force is no flag'],
    [['copy', ''], 'copy takes one folder'],
    [['inspect', '--verbose', 'model.onnx'], '--verbose is no flag'],
    [['inspect', 'http://'], 'http:// is no valid URL'],
    [['optimize', ''], 'optimize takes one archive'],
    [['optimize', path('public/models/digits'), '--output='], '--output: expected a path'],
    [['serve', ''], 'serve takes archives'],
    [['archive', '--check', ''], '--check takes an archive'],
    [['archive', '--update-hashes', ''], '--update-hashes takes the folder'],
    [['archive', '--check', 'affine.mar', '--golden', 'seed:1'], '--golden is a flag of a new archive'],
    [['archive', '--check', '/dev/null'], 'There is no file or folder /dev/null'],
    [[...ARCHIVE, '--force', '--version='], 'version: expected 1 to 255 characters'],
    [[...ARCHIVE, '--force', '--version', 'a/b'], 'version: expected 1 to 255 characters'],
    [[...ARCHIVE, '--force', '-v'], 'argument missing. Try: tabserve --help'],
  ];
  const before = readFileSync(join(there, 'affine.mar'));
  for (const [args, words] of cases) {
    const { status, stdout, stderr } = run(args, there);
    expect([status, stdout, stderr.trimEnd().split('\n').length], `${args.join(' ')}: ${stderr}`).toEqual([1, '', 1]);
    expect(stderr).toContain(words);
  }
  expect(readdirSync(there)).toEqual(['affine.mar']);
  expect(readFileSync(join(there, 'affine.mar'))).toEqual(before);
});

test('after --, a path may begin with a dash', () => {
  const there = folder();
  writeFileSync(join(there, '--x.onnx'), readFileSync(path('test/models/affine.onnx')));
  const { status, stdout } = run(['inspect', '--', '--x.onnx'], there);
  expect([status, stdout.split('\n')[0]]).toEqual([0, '--x.onnx']);
});

test('two device reports are compared; other files, and another number of them, are refused', () => {
  const there = folder();
  const report = {
    format: 'tabserve-device-report',
    formatVersion: 1,
    tabserve: '0.3.0',
    at: '2026-11-29T10:00:00.000Z',
    browser: 'Chrome \u001b[31m',
    device: { cores: 4, webgpu: { available: true, architecture: 'turing' } },
    models: [],
    verdicts: [],
  };
  const other = { ...report, browser: 'Firefox', device: { ...report.device, cores: 8 } };
  writeFileSync(join(there, 'a.json'), JSON.stringify(report));
  writeFileSync(join(there, 'b.json'), JSON.stringify(other));
  const { status, stdout, stderr } = run(['report', 'a.json', 'b.json'], there);
  expect([status, stderr]).toEqual([0, '']);
  // What another person wrote cannot change the terminal.
  expect(stdout).toBe(
    'Reports\n  browser: Chrome \\u{1b}[31m → Firefox\n\nDevice\n  cores: 4 → 8\n\nCached verdicts\n  no difference\n',
  );
  writeFileSync(join(there, 'card.json'), '{}');
  const cases: [args: readonly string[], words: string][] = [
    [['a.json'], 'report takes two files'],
    [['a.json', 'b.json', 'card.json'], 'report takes two files'],
    [['a.json', 'card.json'], 'card.json is no device report: it has no "format": "tabserve-device-report".'],
    [['nothing.json', 'b.json'], 'nothing.json is no device report: it could not be read as JSON: ENOENT'],
  ];
  for (const [args, words] of cases) {
    const refused = run(['report', ...args], there);
    expect([refused.status, refused.stdout], args.join(' ')).toEqual([1, '']);
    expect(refused.stderr).toContain(words);
  }
});

test('an empty address is none: the server would listen on all of them @full', () => {
  const digits = path('public/models/digits');
  const empty = run(['serve', digits, '--port', '0', '--host', '']);
  expect([empty.status, empty.stderr]).toEqual([1, expect.stringContaining('--host: expected an address')]);
  for (const host of ['', 'http://lan', 'lan:8080']) {
    const { status, stderr } = run(['serve', digits, '--port', '0', '--allowed-host', host]);
    expect([status, stderr]).toEqual([1, expect.stringContaining('--allowed-host: expected a host name')]);
  }
});

test('a reader that leaves early: the work goes on @full', async () => {
  const there = folder();
  const args = ['optimize', path('public/models/digits'), '--output', 'small.mar'];
  const child = spawn(process.execPath, [main, ...args], { cwd: there });
  child.stdout.destroy();
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  expect(await once(child, 'close')).toEqual([0, null]);
  expect(errors).toBe('');
  expect(readdirSync(there)).toEqual(['small.mar']);
});

test('output that a full disk has lost is a failure', () => {
  test.skip(!existsSync('/dev/full'), 'needs /dev/full');
  const full = openSync('/dev/full', 'w');
  for (const [args, code] of [
    [['inspect', path('test/models/affine.onnx')], 1],
    [['--version'], 1],
  ] as const) {
    const { status, stderr } = spawnSync(process.execPath, [main, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', full, 'pipe'],
    });
    expect([status, stderr]).toEqual([
      code,
      expect.stringMatching(/^tabserve: The output cannot be written: ENOSPC.*\n$/),
    ]);
  }
  closeSync(full);
});

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  test(`${signal} while an archive is written leaves nothing of it, and the one before it${signal === 'SIGINT' ? '' : ' @full'}`, async () => {
    const there = folder();
    const args = [...ARCHIVE, '--archive-format', 'no-archive', '--check'];
    expect(run(args, there).status).toBe(0);
    const began = new Promise<void>((resolve) => {
      const watcher = watch(there, (_, name) => {
        if (!name?.startsWith('.tabserve-')) return;
        watcher.close();
        resolve();
      });
    });
    const child = spawn(process.execPath, [main, ...args, '--force'], { cwd: there });
    const ended = once(child, 'exit');
    await began;
    child.kill(signal);
    expect(await ended).toEqual([null, signal]);
    expect(readdirSync(there)).toEqual(['affine']);
    expect(run(['archive', '--check', 'affine'], there).status).toBe(0);
  });

test('a copy for which the disk has no room leaves nothing, and what was there as it was', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tabserve-copy-'));
  const copy = (to: string) =>
    // ONNX Runtime's file has 13 MB. `ulimit -f` counts kilobytes.
    spawnSync('bash', ['-c', `ulimit -f 8000; exec "$0" "$@"`, process.execPath, main, 'copy', to], {
      encoding: 'utf8',
    });
  const first = copy(join(folder, 'new/deep'));
  expect(first).toMatchObject({ status: 1, stderr: expect.stringContaining('The files could not be copied: EFBIG') });
  expect(readdirSync(folder)).toEqual([]);
  writeFileSync(join(folder, 'tabserve.js'), 'of an earlier version');
  expect(copy(folder).status).toBe(1);
  expect(readdirSync(folder)).toEqual(['tabserve.js']);
  expect(readFileSync(join(folder, 'tabserve.js'), 'utf8')).toBe('of an earlier version');
  rmSync(folder, { recursive: true });
});

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  test(`${signal} while files are copied leaves nothing of them`, async () => {
    const target = folder();
    // It gets the signal while it copies, however fast it is: after the standalone files, with the engines' files to come.
    const preload = `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';
      const { copyFile } = fs.promises;
      fs.promises.copyFile = (...args) => { process.kill(process.pid, '${signal}'); return copyFile(...args); };
      syncBuiltinESMExports();`;
    const args = ['--import', `data:text/javascript,${encodeURIComponent(preload)}`, main, 'copy', join(target, 'new')];
    const exited = once(spawn(process.execPath, args), 'exit');
    expect((await exited)[1]).toBe(signal);
    expect(readdirSync(target)).toEqual([]);
  });

test('a download that breaks off is named', async () => {
  const server = createServer((_, answer) => {
    answer.writeHead(200, { 'content-length': '1000' });
    answer.write('a', () => answer.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/model.onnx`;
  const child = spawn(process.execPath, [main, 'inspect', url]);
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(errors).toContain(`tabserve: ${url} could not be downloaded: `);
  server.close();
});
