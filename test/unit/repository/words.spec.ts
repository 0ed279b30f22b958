// What CONTRIBUTING.md says of names and comments, as far as a program can tell it.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const FOLDERS = ['src', 'demo', 'scripts'];
const read = (file: string): string => readFileSync(ROOT + file, 'utf8');

function filesOf(...folders: readonly string[]): readonly string[] {
  const listed = execFileSync('git', ['ls-files', ...folders], { cwd: ROOT, encoding: 'utf8' });
  return listed.split('\n').filter((file) => /\.(ts|mjs)$/.test(file) && existsSync(ROOT + file));
}

/** Returns the docblocks before some code, each as one line. */
function docblocksBefore(
  code: string,
  files: readonly string[],
): readonly { file: string; doc: string; name: string }[] {
  const search = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\n *(?:export |async |default )*${code}`, 'g');
  return files.flatMap((file) =>
    [...read(file).matchAll(search)].map(([, text, name]) => ({
      file,
      doc: text!.replaceAll(/\n? *\* ?/g, ' ').trim(),
      name: name!,
    })),
  );
}

test('the docblock of a function begins with a verb in the third person, or with a tag', () => {
  const found = docblocksBefore('function\\*? (\\w+)', filesOf(...FOLDERS));
  expect(found.length).toBeGreaterThan(2000);
  const wrong = found.filter(({ doc }) => !/^(?:[A-Z][a-z-]+s\b(?!['’])|@)/.test(doc));
  expect(wrong.map(({ file, name, doc }) => `${file}: ${name}: ${doc}`)).toEqual([]);
});

test('a number that its docblock calls a maximum or a minimum is named MAX_… or MIN_…', () => {
  const found = docblocksBefore('const ([A-Z][A-Z\\d_]*) = [\\d_.]+', filesOf(...FOLDERS));
  expect(found.length).toBeGreaterThan(200);
  const wrong = found.filter(
    ({ doc, name }) =>
      /^(?:The )?(?:maximum|minimum|most|fewest|largest|limit)\b/i.test(doc) &&
      !/(?:^|_)(?:MAX|MIN)_|TOLERANCE|ERROR/.test(name),
  );
  expect(wrong.map(({ file, name, doc }) => `${file}: ${name}: ${doc}`)).toEqual([]);
});

test('the paths in CONTRIBUTING.md, ARCHITECTURE.md and the decisions are there', () => {
  const decisions = execFileSync('git', ['ls-files', 'docs/decisions'], { cwd: ROOT, encoding: 'utf8' });
  for (const page of ['CONTRIBUTING.md', 'ARCHITECTURE.md', ...decisions.split('\n').filter(Boolean)]) {
    const paths = read(page).match(/(?<=`)(?:src|scripts|test|demo|docs|examples)\/[\w./-]+(?=[`*])/g) ?? [];
    // `age-estimator.ts` is the toy of *Add a task*; names in capitals stand for others.
    const named = paths.filter((path) => !/[A-Z]{3}/.test(path));
    expect(
      named.filter((path) => !existsSync(ROOT + path) && !existsSync(ROOT + path.replace(/[\w-]*$/, ''))),
      page,
    ).toEqual([]);
  }
});
