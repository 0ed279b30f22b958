import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';

const root = new URL('../../../', import.meta.url);
const source = readdirSync(new URL('src/', root), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => readFileSync(new URL(`src/${path}`, root), 'utf8'))
  .join('\n');

const pages = ['README.md', ...readdirSync(new URL('docs/', root)).map((name) => `docs/${name}`)].filter((path) =>
  path.endsWith('.md'),
);
const text = (page: string): string => readFileSync(new URL(page, root), 'utf8');

/** The messages in the first column of the pages' tables; `…` is what differs. Code and requests are none. */
const quotes = pages.flatMap((page) =>
  Array.from(text(page).matchAll(/^\| `([^`|]* [^`|]*…[^`|]*)` \|/gm), ([, quote]) => quote!).filter(
    (quote) => !/[=/]/.test(quote),
  ),
);

test('the messages that the docs quote are those of the code', () => {
  expect(quotes.length).toBeGreaterThan(3);
  const parts = quotes.flatMap((quote) => quote.split('…'));
  expect(parts.filter((part) => !source.includes(part.replace(/^\]|\[$/g, '')))).toEqual([]);
});
