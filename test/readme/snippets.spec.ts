import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { withSnippets } from '../../scripts/config-docs.mjs';

const root = new URL('../../', import.meta.url);
const text = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const docs = readdirSync(new URL('docs', root), { recursive: true, encoding: 'utf8' })
  .filter((name) => /^(?!decisions).*\.md$/.test(name))
  .map((name) => `docs/${name}`);
const written = ['README.md', 'CONTRIBUTING.md', ...docs];
const decisions = readdirSync(new URL('docs/decisions', root)).map((name) => `docs/decisions/${name}`);
const pages = [
  ...written,
  ...decisions,
  ...['ARCHITECTURE.md', 'CHANGELOG.md', 'bench/README.md'].filter((page) => existsSync(new URL(page, root))),
];

/**
 * What is no program: commands, a tree of files, headers. What has a test of its own: the archives of
 * docs/model-config.md, and how each is asked; the signatures of docs/methods, which are those of the sources.
 */
const isProgram = ({ page, language, file }: Block): boolean =>
  page !== 'docs/model-config.md' &&
  !(page.startsWith('docs/methods/') && file === undefined) &&
  !['sh', 'text', 'mermaid', 'http'].includes(language);

interface Block {
  readonly page: string;
  readonly file: string | undefined;
  readonly language: string;
  readonly code: string;
}

function blocksOf(page: string): Block[] {
  return [...text(page).matchAll(/(?:<!-- (\S+) -->\n)?```(\w+)\n([^]*?)```/g)].map(([, file, language, code]) => ({
    page,
    file,
    language: language!,
    code: code!,
  }));
}

for (const page of written) {
  test(`${page}: every block of code is a file of the repository`, () => {
    for (const block of blocksOf(page)) {
      if (!isProgram(block)) continue;
      expect(block.file, `this block names its file:\n${block.code}`).toBeDefined();
    }
    expect(text(page), 'npm run generate copies the files into the pages').toBe(withSnippets(text(page), text));
  });
}

/** Samples of other libraries, which are beside ours on the pages for those who come from them. */
const OF_OTHERS = /^test\/readme\/from\/.*\.before\.js$/;

test('every file of a snippet is shown on a page, and runs in a test', () => {
  const shown = new Set(written.flatMap(blocksOf).map(({ file }) => file));
  const scripts = filesIn('test').filter((path) => /\.(tsx?|mjs|svelte|vue)$/.test(path));
  for (const path of scripts)
    if (path.startsWith('test/readme/') && path !== 'test/readme/snippets.spec.ts')
      expect([...shown], 'the files of all blocks').toContain(path);
  const runners = scripts.filter((path) => path !== 'test/readme/snippets.spec.ts' && !path.startsWith('test/types/'));
  for (const path of shown) {
    if (path === undefined || !/\.(ts|tsx|js|mjs|vue|svelte|html)$/.test(path) || OF_OTHERS.test(path)) continue;
    // A test runs as itself, and so does an app with its config.
    if (path.endsWith('.spec.ts') || path.startsWith('test/packaging/apps/')) continue;
    // Another file names it: a test, or what a test opens. The tests of a folder of samples list them without their ending.
    const [, name, ending] = /([^/]+?)(\.\w+)$/.exec(path)!;
    const isListed = /^test\/readme\/\w+\//.test(path);
    const literal = (part: string): string => part.replaceAll('.', '\\.');
    const imported = literal(ending!).replace('ts', '[jt]s');
    const naming = new RegExp(`['"\`/]${literal(name!)}(${imported})${isListed ? '?' : ''}['"\`:? ]`);
    const by = runners.filter((one) => one !== path && naming.test(text(one)));
    expect(by, `what runs ${path}`).not.toEqual([]);
  }
});

function filesIn(folder: string): readonly string[] {
  return readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.includes('node_modules'))
    .map((name) => `${folder}/${name}`);
}

test('every command is a script of package.json', () => {
  const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> };
  const lines = [
    ...pages
      .flatMap(blocksOf)
      .filter(({ language }) => language === 'sh')
      .flatMap(({ code }) => code.split('\n')),
    ...pages.flatMap((page) => [...text(page).matchAll(/`(npm [^`]+)`/g)].map(([, command]) => command!)),
  ];
  const named = lines.flatMap((line) =>
    [...line.matchAll(/\bnpm (?:run (?:-s )?([\w:]+)|(start|test)\b)/g)].map(([, run, short]) => run ?? short!),
  );
  expect(named.length).toBeGreaterThan(4);
  for (const name of named) expect(Object.keys(scripts)).toContain(name);
});

for (const page of pages) {
  test(`${page}: every link within the repository leads somewhere`, () => {
    for (const [, target] of text(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      const [path, anchor] = target!.split('#') as [string, string?];
      const file = path ? new URL(path, new URL(page, root)) : new URL(page, root);
      expect(existsSync(file), `${page} links ${target}`).toBe(true);
      if (anchor && file.pathname.endsWith('.md'))
        expect(anchorsOf(readFileSync(file, 'utf8')), `${page} links ${target}`).toContain(anchor);
    }
  });
}

test('every decision is in the list of decisions, and in the same form', () => {
  const records = decisions.filter((page) => !page.endsWith('README.md'));
  expect(records.length).toBeGreaterThan(10);
  for (const page of records) {
    const [, title] = /^# (.+)\n/.exec(text(page))!;
    expect(text('docs/decisions/README.md')).toContain(`- [${title}](${page.slice('docs/decisions/'.length)})`);
    expect([...text(page).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)).toEqual([
      'Context',
      'Decision',
      'Consequences',
    ]);
  }
});

/** As GitHub makes them of headings. */
function anchorsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  );
}

test('the README is a first page', () => {
  expect(text('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(150);
});
