import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { slug } from '../../vite/documents.ts';
import { llmsIndex, llmsText } from '../llms.ts';
import { plainMarkdown, sitePages, writePages } from '../pages.ts';
import { withPolicy } from '../security.ts';
import { PARTS, sidebarOf } from '../sidebar.ts';
import { readableTables } from '../tables.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SOURCE = join(ROOT, '.cache/site');
const { version, description } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
  description: string;
};

const pages = sitePages();
const sidebar = sidebarOf(pages);
writePages(SOURCE);

/** The site: built by `npm run site` from the README and docs/. */
export default defineConfig({
  title: 'TabServe',
  description,
  lang: 'en-US',
  srcDir: SOURCE,
  outDir: join(ROOT, 'dist-site'),
  srcExclude: ['public/**'],
  cacheDir: join(ROOT, '.cache/vitepress'),
  metaChunk: true,
  head: [['link', { rel: 'icon', href: '/favicon.svg', type: 'image/svg+xml' }]],
  // Anchors as GitHub and the gallery have them, so that a link leads to the same place everywhere.
  markdown: {
    anchor: { slugify: slug },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: readableTables,
  },
  themeConfig: {
    logo: '/favicon.svg',
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      ...PARTS.map((text, index) => ({ text, link: firstLink(sidebar[index]!) })),
      { text: 'Gallery', link: '/gallery/', target: '_self' },
      { text: `v${version}`, link: '/changelog' },
    ],
    sidebar,
  },
  transformHtml: withPolicy,
  buildEnd({ outDir }) {
    const textOf = (path: string): string => plainMarkdown(readFileSync(join(SOURCE, `${path}.md`), 'utf8'), path);
    for (const { path } of pages) writeFileSync(join(outDir, `${path}.md`), textOf(path));
    writeFileSync(join(outDir, 'llms.txt'), llmsIndex(pages, textOf));
    writeFileSync(join(outDir, 'llms-full.txt'), llmsText(pages, textOf));
  },
});

function firstLink({ link, items = [] }: (typeof sidebar)[number]): string {
  return link ?? firstLink(items[0]!);
}
