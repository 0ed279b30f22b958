/**
 * Runs the tests of what differs from a commit: `npm run test:changed`, or `npm run test:changed -- COMMIT`. Without a
 * commit: from where this branch left `main`; on `main`, from its last commit. `--list` only prints them.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { coverageOf, testsOf } from './map.mjs';

const ORDER = ['unit', 'node', 'wasm', 'webgl', 'webgpu', 'webkit', 'packaging'];
/** Projects that test the build. */
const OF_BUILD = new Set(['node', 'packaging']);
const COVERAGE = 'test/browser/coverage.spec.ts';

const base = process.argv.slice(2).find((one) => !one.startsWith('-')) ?? mergeBase();
const added = new Set([
  ...lines('diff', '--name-only', '--no-renames', '--diff-filter=A', base),
  ...lines('ls-files', '--others', '--exclude-standard'),
]);
const files = [...new Set([...lines('diff', '--name-only', '--no-renames', base), ...added])];
console.log(`${files.length} files differ from ${base}.\n`);

/** Why a spec or folder is run: the files, by its path, by its project. */
const reasons = {};
for (const file of files)
  for (const [project, paths] of Object.entries(testsOfChanged(file)))
    for (const path of paths) ((reasons[project] ??= {})[path] ??= new Set()).add(file);

const projects = ORDER.filter((project) => reasons[project]);
for (const project of projects) {
  // A folder has what is in it.
  for (const path of Object.keys(reasons[project]))
    if (Object.keys(reasons[project]).some((other) => path.startsWith(`${other}/`))) delete reasons[project][path];
  console.log(project);
  const byReason = {};
  for (const [path, why] of Object.entries(reasons[project]))
    (byReason[summary([...why])] ??= []).push(shortened(path));
  for (const [why, names] of Object.entries(byReason)) console.log(`  ${names.join(', ')}\n    because of ${why}`);
}
if (process.argv.includes('--list')) process.exit();

let failed = false;
if (projects.some((project) => OF_BUILD.has(project))) run('npm', 'run', '-s', 'build');
const titles = coverageTitles();
if (titles) delete reasons.wasm[COVERAGE];
for (const project of projects)
  if (Object.keys(reasons[project]).length > 0) test(`--project=${project}`, ...Object.keys(reasons[project]));
if (titles) test('--config=playwright.full.config.ts', '--project=wasm', COVERAGE, `--grep=${titles.join('|')}`);
process.exit(failed ? 1 : 0);

function test(...args) {
  run('npx', 'playwright', 'test', '--pass-with-no-tests', ...args);
}

function testsOfChanged(file) {
  if (isHelper(file)) return specsThatName(file);
  return testsOf(file, existsSync, { isNew: added.has(file), isGenerated: isGenerated(file) });
}

/** Returns whether `npm run generate` makes a source file, which says so in its first comment. */
function isGenerated(file) {
  return file.endsWith('.ts') && existsSync(file) && /^\/\*\*[^/]*`npm run generate`/.test(readFileSync(file, 'utf8'));
}

/** Returns the tests of `coverage.spec.ts` to run, by parts of their titles, if only models of tasks differ. */
function coverageTitles() {
  const found = [...(reasons.wasm?.[COVERAGE] ?? [])].map(coverageOf);
  return found.length > 0 && !found.includes(undefined) ? [...new Set(found)] : undefined;
}

function run(command, ...args) {
  console.log(`\n${[command, ...args].join(' ')}`);
  failed = spawnSync(command, args, { stdio: 'inherit' }).status !== 0 || failed;
}

function mergeBase() {
  try {
    return lines('merge-base', 'HEAD', 'main')[0];
  } catch {
    return 'HEAD';
  }
}

function lines(...args) {
  return execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean);
}

/** Returns whether a file is what specs of a project share: a page, a model, a fixture. */
function isHelper(file) {
  return /^test\/(?!readme\/|unit\/support\/|models\/tasks\/)/.test(file) && !file.endsWith('.spec.ts');
}

/** Returns the specs in the helper's own folder of `test`, or else in all, in whose text its name is. */
function specsThatName(file) {
  const name = basename(file).replace(/(\.d)?\.\w+$/, '');
  const [, folder] = /^test\/(browser|node|packaging|unit)\//.exec(file) ?? [];
  const found = {};
  for (const spec of specsIn(folder ? `test/${folder}/` : 'test/'))
    if (readFileSync(spec, 'utf8').includes(name))
      for (const [project, paths] of Object.entries(testsOf(spec, existsSync))) (found[project] ??= []).push(...paths);
  return found;
}

function specsIn(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => folder + path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.spec.ts'));
}

function shortened(path) {
  return path.replace(/^test\/(browser|node|packaging)\/|\.spec\.ts$/g, '');
}

function summary([first, ...others]) {
  return others.length > 0 ? `${first} and ${others.length} more` : first;
}
