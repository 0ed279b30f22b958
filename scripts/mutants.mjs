/**
 * `npm run mutants`: plants one fault after the other in a copy of the sources, and runs the unit tests that have its
 * file's name, and then those of its folder. A mutant that they do not notice lives. `-- NAME` plants those alone whose
 * file or text has the name in it. Prints those that live, and fails if there are more than two.
 */
import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MUTANTS } from './mutants/list.mjs';

/** How many may live. */
const MAX_ALIVE = 2;
/** A mutant may make a test wait for ever: tests may take this long, or some times as long as without a mutant. */
const LIMIT_MS = 120_000;
const TIMES = 4;
const COPIES = 2;
/** The unit tests alone, without the server of the others, which two copies cannot have at one port. */
const CONFIG = "export default { testDir: 'test/unit', timeout: 90_000, workers: 1 };\n";

const root = fileURLToPath(new URL('..', import.meta.url));
const wanted = process.argv[2] ?? '';
const waiting = MUTANTS.filter((mutant) => mutant.join('\n').includes(wanted));
const alive = [];
/** What became of the tests without a mutant, by their folder. */
const sound = {};
console.log(`${waiting.length} mutants`);
await Promise.all(Array.from({ length: COPIES }, work));
console.log(`\n${alive.length} live${alive.length > 0 ? `:\n${alive.join('\n')}` : '.'}`);
process.exitCode = alive.length > MAX_ALIVE ? 1 : 0;

/** Plants mutants in a copy of its own until none is left. */
async function work() {
  const copy = mkdtempSync(join(tmpdir(), 'tabserve-mutants-'));
  try {
    for (const name of ['src', 'test', 'scripts', 'docs', 'demo', 'public', 'package.json', 'tsconfig.json'])
      cpSync(join(root, name), join(copy, name), { recursive: true });
    writeFileSync(join(copy, 'playwright.config.mjs'), CONFIG);
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'dir');
    for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
      const [file, part, replacement] = mutant;
      const path = join(copy, 'src', file);
      const source = readFileSync(path, 'utf8');
      const text = `src/${file}: ${part} → ${replacement || '(nothing)'}`;
      if (source.split(part).length !== 2) throw new Error(`${text}: its text is not there once.`);
      let killer;
      for (const tests of testsOf(file)) {
        const { code: whole, took } = await (sound[tests] ??= run(copy, tests, 10 * LIMIT_MS));
        if (whole !== 0) throw new Error(`${tests} fails without a mutant.`);
        writeFileSync(
          path,
          source.replace(part, () => replacement),
        );
        const { code, failed, output } = await run(copy, tests, Math.max(LIMIT_MS, TIMES * took));
        writeFileSync(path, source);
        if (code === 0) continue;
        if (code !== null && failed === undefined)
          throw new Error(`${text}: the tests could not be run:\n${output.slice(-2000)}`);
        killer = failed ?? 'hangs';
        break;
      }
      if (killer === undefined) alive.push(text);
      console.log(killer === undefined ? `LIVES   ${text}` : `killed  ${text}\n        ${killer}`);
    }
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/**
 * Returns the unit tests of a file: those whose name begins with the file's, if there are any, and the folder that
 * mirrors its own, or the nearest one that there is.
 */
function testsOf(file) {
  let folder = dirname(file);
  while (!existsSync(join(root, 'test/unit', folder))) folder = dirname(folder);
  const tests = join('test/unit', folder);
  const name = basename(file, '.ts');
  const hasOwn = readdirSync(join(root, tests)).some((one) => one.startsWith(name) && one.endsWith('.spec.ts'));
  return hasOwn ? [join(tests, name), tests] : [tests];
}

/** Runs tests. Returns their exit code, null if they took too long, the first test that failed, and the time. */
async function run(folder, tests, limit) {
  const began = performance.now();
  const args = ['playwright', 'test', '--max-failures=1', '--reporter=line', tests];
  const child = spawn('npx', args, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), limit);
  const code = await new Promise((resolve) => child.on('close', resolve));
  clearTimeout(timer);
  const [, failed] = /^ *1\) (.*?) *─*$/m.exec(output) ?? [];
  return { code, failed, output, took: performance.now() - began };
}
