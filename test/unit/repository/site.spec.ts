import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from '@playwright/test';
import { llmsIndex, llmsText } from '../../../scripts/site/llms.ts';
import { plainMarkdown, sitePages, writePages } from '../../../scripts/site/pages.ts';
import { PARTS, sidebarOf } from '../../../scripts/site/sidebar.ts';
import { slug } from '../../../scripts/vite/documents.ts';

const pages = sitePages();
let folder: string;

test.beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tabserve-site-'));
  writePages(folder);
});

test.afterAll(() => rmSync(folder, { recursive: true }));

const textOf = (path: string): string => readFileSync(join(folder, `${path}.md`), 'utf8');

test('every page of docs is in one of the parts, and a task in Tasks', () => {
  const parts: readonly string[] = PARTS;
  for (const { file, group } of pages)
    if (file.startsWith('docs/'))
      expect(parts, `${file} is named by the README's index`).toContain(group.split(' · ')[0]);
  for (const { file, group } of pages) if (file.startsWith('docs/tasks/')) expect(group).toMatch(/^Tasks · /);
  const links = JSON.stringify(sidebarOf(pages)).match(/"link":"[^"]+"/g)!;
  expect(new Set(links).size).toBe(links.length);
  expect(links.length).toBe(pages.filter(({ group }) => parts.includes(group.split(' · ')[0]!)).length);
});

test('the headings of a page leave out no level, for those who hear it', () => {
  for (const { path } of pages) {
    const levels = textOf(path)
      .replace(/^ *```[^]*?^ *```$/gm, '')
      .split('\n')
      .flatMap((line) => /^(#+) /.exec(line)?.[1]!.length ?? []);
    expect(levels[0], path).toBe(1);
    for (const [at, level] of levels.entries()) expect(level - (levels[at - 1] ?? 0), path).toBeLessThanOrEqual(1);
  }
});

test('every link of a page leads to a page and its heading, or to a file', () => {
  let followed = 0;
  for (const { path } of pages)
    for (const [, link] of textOf(path)
      .replace(/^ *```[^]*?^ *```$/gm, '')
      .matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      const [to = '', anchor] = link!.split('#');
      const file = to === '' ? join(folder, `${path}.md`) : join(folder, dirname(path), to);
      const isThere = existsSync(file) || existsSync(file.replace(folder, join(folder, 'public')));
      expect(isThere, `${path} links ${link}`).toBe(true);
      if (anchor && file.endsWith('.md'))
        expect(headings(readFileSync(file, 'utf8')), `${path} links ${link}`).toContain(anchor);
      followed += 1;
    }
  expect(followed).toBeGreaterThan(400);
});

test('llms.txt names each page with a sentence, and llms-full.txt has their texts, with links instead of demos', () => {
  const plain = (path: string): string => plainMarkdown(textOf(path), path);
  const index = llmsIndex(pages, plain);
  expect(index).toContain(
    '- [Healing](healing.md): GPU drivers restart, tabs sleep, kernels hang, and memory runs out.\n',
  );
  expect(index).toContain('(skill/SKILL.md)');
  expect(index.match(/^- /gm)!.length).toBe(index.match(/^- \[.+\]\(.+\): .{10,}$/gm)!.length);
  const all = llmsText(pages, plain);
  expect(all).toContain('# Classify photos\n');
  expect(all).toContain('[Try it in the gallery](../gallery/#/digits)');
  expect(all).not.toContain('<Demo');
});

function headings(text: string): readonly string[] {
  return Array.from(text.matchAll(/^#+ (.+)$/gm), ([, heading]) => slug(heading!));
}
