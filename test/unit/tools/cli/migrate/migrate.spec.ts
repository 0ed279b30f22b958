import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from '@playwright/test';
import { migrate } from '../../../../../src/tools/cli/migrate/migrate.ts';

const IMPORT = `import { pipeline } from '@huggingface/transformers';\n`;
const FILES = {
  'src/a.ts': `${IMPORT}await pipeline('fill-mask', 'a/b', { device: 'cpu' });\n`,
  'src/broken.js': `${IMPORT}let = ;\n`,
  'src/App.vue': `<script setup>\n${IMPORT}</script>\n`,
  'src/Page.svelte': `<script>\n\n${IMPORT}</script>\n`,
  'src/other.js': `import { pipeline } from 'node:stream';\n`,
  'src/notes.md': IMPORT,
  'node_modules/b/index.js': IMPORT,
};

/** Runs the command over a new folder with these files. Returns what it prints, and reads a file. */
async function run(flags: { 'dry-run'?: boolean }): Promise<[printed: string[], read: (name: string) => string]> {
  const folder = mkdtempSync(join(tmpdir(), 'tabserve-'));
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const printed: string[] = [];
  await migrate([folder], flags, (line) => printed.push(line.replace(`${folder}/`, '')));
  return [printed, (name) => readFileSync(join(folder, name), 'utf8')];
}

test('changes the scripts of a folder, and tells by file and line what it does not', async () => {
  const [printed, read] = await run({});
  expect(printed).toEqual([
    expect.stringMatching(/^src\/App\.vue:2 {2}not changed, because it is no script/),
    expect.stringMatching(/^src\/Page\.svelte:3 {2}not changed, because it is no script/),
    expect.stringMatching(/^src\/a\.ts:2 {2}device: /),
    'src/a.ts  changed',
    expect.stringMatching(/^src\/broken\.js:1 {2}not changed: .*broken\.js:2 cannot be parsed/),
    '1 file changed, 4 notes',
  ]);
  expect(read('src/a.ts')).toMatch(/^import \{ pipeline \} from 'tabserve\/pipeline';\n/);
  for (const [name, text] of Object.entries(FILES)) if (name !== 'src/a.ts') expect(read(name)).toBe(text);
});

test('--dry-run prints the same and writes nothing; a path that is not there is an error', async () => {
  const [printed, read] = await run({ 'dry-run': true });
  expect(printed).toContain('src/a.ts  would change');
  expect(read('src/a.ts')).toBe(FILES['src/a.ts']);
  await expect(migrate(['nothing.js'], {}, () => {})).rejects.toMatchObject({ code: 'model-not-found' });
});

test('links in a folder are left out, and a file that is not UTF-8 keeps its bytes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tabserve-'));
  const file = (name: string): string => join(folder, name);
  writeFileSync(file('a.js'), IMPORT);
  const latin = Buffer.from(`${IMPORT}// café`, 'latin1');
  writeFileSync(file('latin.js'), latin);
  symlinkSync('nowhere', file('broken.js'));
  symlinkSync('a.js', file('again.js'));
  symlinkSync('.', file('loop'));
  const printed: string[] = [];
  await migrate([folder], {}, (line) => printed.push(line.replace(`${folder}/`, '')));
  expect(printed).toEqual([
    'a.js  changed',
    'latin.js:1  not changed: it is not encoded in UTF-8',
    '1 file changed, 1 note',
  ]);
  expect(readFileSync(file('latin.js'))).toEqual(latin);
  // A second run finds nothing more to change.
  await migrate([folder], {}, (line) => printed.push(line.replace(`${folder}/`, '')));
  expect(printed.at(-1)).toBe('0 files changed, 1 note');
});
