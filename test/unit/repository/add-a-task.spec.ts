/**
 * *Add a task* of CONTRIBUTING.md, step by step in a copy of the repository: three files by hand, what Python makes of
 * one of them, `npm run generate`, and nothing else.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { scriptOf } from '../../../src/tools/vite/worker-scripts.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const TOY = 'test/add-a-task';
const TASKS = 'test/models/tasks';

/** What a contributor writes, by the files of the example. */
const byHand = (folder: string): Readonly<Record<string, string>> => ({
  'age-estimator.ts.txt': `src/worker/tasks/${folder}/age-estimator.ts`,
  'age-estimator.spec.ts.txt': `test/unit/worker/tasks/${folder}/age-estimator.spec.ts`,
  'age_estimator.py': `${TASKS}/make/age_estimator.py`,
});

/** What `make.py age_estimator` writes. */
const BY_PYTHON = [
  'age-tiny/config.json',
  'age-tiny/onnx/model.onnx.gz',
  'age-tiny/preprocessor_config.json',
  'age_estimator.json',
].map((file) => `${TASKS}/${file}`);

/** What `npm run generate` writes; the reports of the API are made of the build. */
const generated = (folder: string, isNew: boolean): readonly string[] => [
  'demo/any/handlers.ts',
  'docs/inputs.md',
  'docs/model-config.schema.json',
  'docs/tasks.md',
  'src/worker/tasks/compared.ts',
  'src/worker/tasks/exports.ts',
  ...(isNew ? ['src/worker/tasks/index.ts'] : []),
  `src/worker/tasks/${folder}/index.ts`,
  `src/worker/tasks/${folder}/schemas.ts`,
];
const REPORTS = ['handlers', 'tabserve', 'tabserve-core', 'tabserve-worker', 'tabserve-worker-core'].map(
  (name) => `api/${name}.txt`,
);

/** A test of what the lists have; the compiler checks it, too. */
const LISTED = `import { expect, test } from '@playwright/test';
import { loadHandler, type HandlerRegistry } from '../../src/worker/handlers/registry.ts';
import { nearestHandler } from '../../src/worker/host/nearest-handler.ts';
import { AgeEstimator, type AgeEstimatorParams } from '../../src/worker.ts';

test('the task is in the registry, in its types, in the exports, and nearest to its model', async () => {
  const Class: new () => HandlerRegistry['age_estimator'] = await loadHandler('age_estimator');
  expect(Class).toBe(AgeEstimator);
  const params: AgeEstimatorParams = { unit: 'months' };
  expect(AgeEstimator.schema).toEqual({ unit: { enum: ['years', params.unit], default: 'years' } });
  const image = { name: 'pixel_values', dtype: 'float32', dims: [null, 3, 8, 8] } as const;
  const { handler } = nearestHandler([image], [{ name: 'predicted_age', dtype: 'float32', dims: [null, 1] }]);
  expect(handler).toBe('age_estimator');
});
`;

let copy: string;

/** Models and media, most of the repository's bytes: only the consistency tests read them. */
const LARGE = /\.(onnx|bin|wasm|webp|jpe?g|png|wav|safetensors|gz|mar)$/;

test.beforeEach(({}, { tags }) => {
  copy = mkdtempSync(join(tmpdir(), 'tabserve-task-'));
  for (const file of git(ROOT, 'ls-files', '--cached', '--others', '--exclude-standard')) {
    if (!existsSync(ROOT + file) || (!tags.includes('@full') && LARGE.test(file))) continue;
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    copyFileSync(ROOT + file, join(copy, file));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  git(copy, 'init', '--quiet', '--initial-branch=main');
  git(copy, '-c', 'core.compression=0', '-c', 'core.fsync=none', 'add', '--all');
  git(copy, '-c', 'user.name=A', '-c', 'user.email=a@localhost', 'commit', '--quiet', '--message=Before');
});

test.afterEach(() => rmSync(copy, { recursive: true, force: true }));

test('a task in a new folder is three files; without `npm run generate`, its test fails @full', () => {
  test.setTimeout(300_000);
  write('guesses');
  const own = 'test/unit/worker/tasks/guesses';
  expect(playwright(own)).toMatchObject({ status: 1, output: expect.stringContaining('schemas') });
  // The first part of `npm run generate`; the other one builds the package.
  succeeds('node', 'scripts/config-docs.mjs');
  expect(differing()).toEqual(expectedFiles('guesses', true));
  expectListed('guesses');
  expect(playwright(own, 'unit/listed')).toEqual(PASSED);
});

for (const [folder, isNew] of [
  ['guesses', true],
  ['pictures', false],
] as const)
  test(`all checks pass with a task in the folder ${folder} @full`, () => {
    test.setTimeout(1_800_000);
    write(folder);
    expect(playwright('repository/config-docs').status, 'before anything is generated').toBe(1);
    succeeds('npm', 'run', 'generate');
    expect(differing()).toEqual([...expectedFiles(folder, isNew), ...REPORTS].toSorted());
    for (const report of REPORTS) expect(text(report)).toMatch(/age_?estimator/i);
    const { output } = succeeds('npm', 'run', 'test:changed', '--', '--list');
    for (const chosen of [`test/unit/worker/tasks/${folder}`, 'test/unit/repository', 'coverage'])
      expect(output).toContain(chosen);
    expect(output).not.toMatch(/^(node|webgpu|packaging)$/m);
    expectListed(folder);
    succeeds('npm', 'run', 'check');
    expect(playwright(`test/unit/worker/tasks/${folder}`, 'unit/listed', 'test/readme', 'nearest-handler')).toEqual(
      PASSED,
    );
    expect(playwright('--grep-invert=add-a-task', 'test/unit/repository')).toEqual(PASSED);
  });

const PASSED = { status: 0, output: expect.any(String) };

/** Writes the files by hand, and those that Python makes. */
function write(folder: string): void {
  for (const [file, path] of Object.entries(byHand(folder))) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    const source = readFileSync(join(ROOT, TOY, file), 'utf8');
    writeFileSync(join(copy, path), source.replaceAll('/pictures/', `/${folder}/`));
  }
  cpSync(join(ROOT, TOY, 'made'), join(copy, TASKS), { recursive: true });
}

function expectedFiles(folder: string, isNew: boolean): readonly string[] {
  return [...Object.values(byHand(folder)), ...BY_PYTHON, ...generated(folder, isNew)].toSorted();
}

/** Checks what the lists and pages say of the task; what only code can tell is in a test that runs in the copy. */
function expectListed(folder: string): void {
  expect(text('docs/inputs.md')).toContain('| `age_estimator` | an image | the age, a number | `…ForAgeEstimation` |');
  expect(text('docs/tasks.md')).toContain('## age_estimator\n\nEstimates the age of the person in each image.');
  expect(text('docs/tasks.md')).toContain('Compared with Python: `TinyForAgeEstimation`.');
  expect(JSON.parse(text('docs/model-config.schema.json'))).toHaveProperty(
    'definitions.age_estimator.properties.unit.description',
    'What the age is counted in.',
  );
  expect(text('demo/any/handlers.ts')).toContain("age_estimator: { takes: 'image', params: { unit: 'months' } }");
  expect(scriptOf(`worker/tasks/${folder}/age-estimator.ts`)).toBe(folder);
  writeFileSync(join(copy, 'test/unit/listed.spec.ts'), LISTED);
}

function text(path: string): string {
  return readFileSync(join(copy, path), 'utf8');
}

/** Returns the files that differ from the copy's only commit. */
function differing(): readonly string[] {
  return [
    ...git(copy, 'diff', '--name-only', 'HEAD'),
    ...git(copy, 'ls-files', '--others', '--exclude-standard'),
  ].toSorted();
}

function git(folder: string, ...args: readonly string[]): readonly string[] {
  const output = execFileSync('git', ['-c', 'core.quotePath=off', ...args], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 2 ** 25,
  });
  return output.split('\n').filter(Boolean);
}

function playwright(...args: readonly string[]): { readonly status: number | null; readonly output: string } {
  return run('npx', 'playwright', 'test', '--project=unit', '--reporter=line', ...args);
}

function succeeds(command: string, ...args: readonly string[]): { readonly output: string } {
  const { status, output } = run(command, ...args);
  expect(status, output.slice(-3000)).toBe(0);
  return { output };
}

function run(command: string, ...args: readonly string[]): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: copy,
    encoding: 'utf8',
    maxBuffer: 2 ** 25,
    shell: process.platform === 'win32',
  });
  return { status, output: stdout + stderr };
}
