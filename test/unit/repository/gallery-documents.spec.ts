import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { asHtml, documentFiles } from '../../../scripts/vite/documents.ts';

const root = new URL('../../../', import.meta.url);
const files = documentFiles();

test('the README, the docs and the model cards are pages of the gallery, with titles', () => {
  const ids = files.map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining(['docs', 'docs/healing', 'docs/architecture', 'models/selfie']));
  expect(new Set(ids).size).toBe(ids.length);
  expect(files.find(({ id }) => id === 'docs/healing')).toMatchObject({ title: 'Healing', group: 'Operate' });
  // The README's index has all of them: what it lacks would be listed with the repository's own pages.
  const own = files.filter(({ group }) => group === 'In the repository').map(({ id }) => id);
  expect(own).toEqual(
    ['architecture', 'benchmark', 'changelog', 'examples', 'templates'].map((name) => `docs/${name}`),
  );
});

test('every link to a page or a heading leads there', () => {
  const html = new Map(files.map(({ id, file }) => [id, asHtml(readFileSync(new URL(file, root), 'utf8'), file)]));
  let followed = 0;
  for (const [id, text] of html) {
    for (const [, href] of text.matchAll(/<a href="([^"]*)"/g)) {
      if (/^https?:/.test(href!)) continue;
      const [page, query = ''] = href!.replace('#/', '').split('?');
      expect([...html.keys()], `${id} links ${href}`).toContain(page);
      const at = new URLSearchParams(query).get('at');
      if (at !== null) expect(html.get(page!), `${id} links ${href}`).toContain(`id="${at}"`);
      followed += 1;
    }
  }
  expect(followed).toBeGreaterThan(50);
});

test('Markdown becomes HTML: code is text, comments go, tables have headers, files that the gallery lacks are not linked', () => {
  const html = asHtml(
    '# Title\n\n<!-- a comment -->\n\n```ts\nif (a < b && "c") {}\n```\n\n| | |\n|---|---|\n| Input | `x` |\n\n| A | B |\n|---|---|\n| 1 | 2 |\n\n[script](../scripts/size.mjs), [healing](healing.md#limits), [site](https://example.org/?a=1&b=2)',
    'docs/options.md',
  );
  expect(html).not.toContain('Title');
  expect(html).not.toContain('comment');
  expect(html).toContain('if (a &lt; b &amp;&amp; &quot;c&quot;) {}');
  expect(html).toContain('<table><tbody><tr><th scope="row">Input</th><td><code>x</code></td></tr></tbody></table>');
  expect(html).toContain('<thead><tr><th scope="col">A</th><th scope="col">B</th></tr></thead>');
  expect(html).toContain('<p>script, <a href="#/docs/healing?at=limits">healing</a>');
  expect(html).toContain('<a href="https://example.org/?a=1&amp;b=2">site</a>');
});
